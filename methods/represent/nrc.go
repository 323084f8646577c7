package represent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/sparse"
)

var _ methods.Method = NRC{}

// NRC is non-negative representation based classification: Xu, An, Zhang, Zhang, "Sparse,
// Collaborative, or Nonnegative Representation: Which Helps Pattern Classification?",
// Pattern Recognition 88, 2019,
//
//	s = argmin ||y - X s||^2 subject to s >= 0,   class = argmin_k ||y - X_k s_k||.
//
// The authors solve it by the alternating direction method of multipliers (ADMM) with a fixed
// number of passes, which they tune. The passes end before the minimum, which regularises.
type NRC struct {
	// Solver is "exact" for the minimum, or "admm" for the authors' passes.
	Solver string `param:"solver" default:"exact" choices:"exact,admm" doc:"the minimum, or the authors' fixed number of ADMM passes"`
	// Rho and Passes are used by "admm" only.
	Rho    float64 `param:"rho" default:"1" min:"1e-6" doc:"penalty of the ADMM passes"`
	Passes int     `param:"passes" default:"40" min:"1" doc:"number of ADMM passes"`
	// Rule is "plain", or "reconstruction" for the rule of the authors' code,
	// argmin_k ||X s - X_k s_k||.
	Rule string `param:"rule" default:"plain" choices:"plain,reconstruction" doc:"a class's distance to the sample, or to its reconstruction by all classes"`
}

// Fit keeps the labelled columns and their Gram matrix.
func (s NRC) Fit(ctx context.Context, p methods.Problem) (methods.Model, error) {
	if err := p.Check("nrc", s); err != nil {
		return nil, err
	}
	p = p.Labelled()
	m := &NRCModel{setting: s}
	m.model = model{gallery: newGallery(p), trace: p.Trace, code: m.solve}
	if s.Rule == "reconstruction" {
		m.score = m.reconstruction
	}
	var err error
	if m.G, err = m.gallery.gram(ctx, p); err != nil {
		return nil, fmt.Errorf("nrc: %w", err)
	}
	if s.Solver == "admm" && !m.ridge.Factorize(shifted(m.G, s.Rho/2)) {
		return nil, fmt.Errorf("nrc: rho = %g is lost in the rounding of the Gram matrix; raise it", s.Rho)
	}
	return m, nil
}

// NRCModel classifies by the codes of NRC.
type NRCModel struct {
	model
	setting NRC
	G       *mat.Dense   // N x N, X^T X
	ridge   mat.Cholesky // of G + rho/2 I, for the passes
}

// reconstruction returns ||X s - X_k s_k||^2 (C x M), the class residuals of the sample X s: its
// correlations are G s, its squared norm is s^T G s.
func (m *NRCModel) reconstruction(c coded) *mat.Dense {
	var GS mat.Dense
	GS.Mul(m.G, c.S)
	norms := make([]float64, len(c.yy))
	for i := range m.gallery.labels {
		gs := GS.RawRowView(i)
		for j, v := range c.S.RawRowView(i) {
			norms[j] = math.FMA(v, gs[j], norms[j])
		}
	}
	return m.gallery.residuals(c.S, &GS, norms)
}

// solve codes the columns of Y. With the exact solver it traces the worst violation of the
// optimality conditions ("test_kkt") and the number of codes that ran out of steps
// ("test_unconverged").
func (m *NRCModel) solve(ctx context.Context, Y *mat.Dense) (coded, error) {
	dim, _ := m.gallery.X.Dims()
	if err := methods.CheckTest("nrc", Y, dim); err != nil {
		return coded{}, err
	}
	c := coded{}
	c.R, c.yy = m.gallery.correlations(Y)
	if m.setting.Solver == "admm" {
		var err error
		c.S, err = m.passes(ctx, c.R)
		return c, err
	}
	S, report, err := sparse.NNLS(ctx, m.G, c.R)
	if err != nil {
		return coded{}, fmt.Errorf("nrc: %w", err)
	}
	m.trace.Add("test_kkt", 0, report.WorstResidual)
	m.trace.Add("test_unconverged", 0, float64(report.Unconverged))
	c.S = S
	return c, nil
}

// passes makes the authors' passes (NRC.m of csjunxu/NSCR) for all samples at once, from
// a = z = delta = 0, with c = X^T y:
//
//	a = (X^T X + rho/2 I)^-1 (c + rho/2 z + delta/2)
//	z = max(0, a - delta/rho)
//	delta = delta + rho (z - a)
//
// and returns z.
func (m *NRCModel) passes(ctx context.Context, R *mat.Dense) (*mat.Dense, error) {
	n, cols := R.Dims()
	rho := m.setting.Rho
	Z, delta, A, B := mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil)
	z, d, a, b := Z.RawMatrix().Data, delta.RawMatrix().Data, A.RawMatrix().Data, B.RawMatrix().Data
	for range m.setting.Passes {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("nrc: %w", err)
		}
		for i := range n {
			for j, r := range R.RawRowView(i) {
				at := i*cols + j
				b[at] = r + 0.5*math.FMA(rho, z[at], d[at])
			}
		}
		if err := m.ridge.SolveTo(A, B); err != nil {
			return nil, fmt.Errorf("nrc: the system at rho = %g is too badly conditioned; raise rho: %w", rho, err)
		}
		for at, v := range a {
			z[at] = max(0, v-d[at]/rho)
			d[at] = math.FMA(rho, z[at]-v, d[at])
		}
	}
	return Z, nil
}
