// Package represent holds the methods without a dictionary, the "traditional" rows of the paper's
// Table 1. They code a test sample over the labelled training samples, and choose the class that
// reconstructs it best. They do not use unlabelled columns.
package represent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
	"ssdl/methods/sparse"
)

var _ methods.Method = SRC{}

// SRC is sparse representation based classification: Wright, Yang, Ganesh, Sastry, Ma,
// "Robust Face Recognition via Sparse Representation", TPAMI 2009, in the Lagrangian form
//
//	s = argmin 0.5||y - X s||^2 + lambda ||s||_1,   class = argmin_k ||y - X_k s_k||.
//
// The equality form X s = y of that paper has no feasible point with fewer samples than
// features.
type SRC struct {
	// Lambda weighs the l1 norm; with unit columns a value above the largest cosine
	// between y and a training sample makes the code zero.
	Lambda float64 `param:"lambda" default:"2^-7" min:"2^-30" doc:"weight of the l1 norm of a code"`
	// Mode is "paper" for the minimum, or "reference" for the public code of the SSDL authors:
	// coordinate descent over all test samples at once that stops early. There a code depends on
	// the other samples of the batch.
	Mode string `param:"mode" default:"paper" choices:"paper,reference" doc:"exact codes, or coordinate descent stopped as in the authors' code"`
}

// The authors' code stops after referenceSweeps passes, or after a pass that lowers the objective of
// the batch by a fraction of at most referenceDecrease.
const (
	referenceSweeps   = 300
	referenceDecrease = 1e-6
)

// srcGap is the relative duality gap to which codes are solved in mode "paper".
const srcGap = 1e-9

// Fit keeps the labelled columns and their Gram matrix.
func (s SRC) Fit(ctx context.Context, p methods.Problem) (methods.Model, error) {
	if err := p.Check("src", s); err != nil {
		return nil, err
	}
	p = p.Labelled()
	g := newGallery(p)
	G, err := g.gram(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("src: %w", err)
	}
	m := &SRCModel{setting: s, G: G}
	m.model = model{gallery: g, trace: p.Trace, code: m.solve}
	return m, nil
}

// SRCModel classifies by the codes of SRC.
type SRCModel struct {
	model
	setting SRC
	G       *mat.Dense // N x N, X^T X
}

// solve codes the columns of Y. In mode "paper" it traces the worst relative duality gap ("test_gap")
// and the number of codes above srcGap ("test_unconverged"), in mode "reference" the number of passes
// ("sweeps").
func (m *SRCModel) solve(ctx context.Context, Y *mat.Dense) (coded, error) {
	dim, _ := m.gallery.X.Dims()
	if err := methods.CheckTest("src", Y, dim); err != nil {
		return coded{}, err
	}
	c := coded{}
	c.R, c.yy = m.gallery.correlations(Y)
	if m.setting.Mode == "reference" {
		var err error
		if c.S, err = referenceCodes(ctx, m.G, c.R, c.yy, m.setting.Lambda, m.trace); err != nil {
			return coded{}, fmt.Errorf("src: %w", err)
		}
		return c, nil
	}
	S, report, err := sparse.Lasso{Lambda: m.setting.Lambda, Gap: srcGap}.Solve(ctx, m.G, c.R, c.yy)
	if err != nil {
		return coded{}, fmt.Errorf("src: %w", err)
	}
	m.trace.Add("test_gap", 0, report.WorstGap)
	m.trace.Add("test_unconverged", 0, float64(report.Unconverged))
	c.S = S
	return c, nil
}

// referenceCodes is KSRC_BCD of the authors' code: it sweeps over the rows of S (N x M) for all samples
// at once, from S = 0, until the sum of ||y - X s||^2 + 2 lambda ||s||_1 over the samples hardly
// falls any more. It takes G (N x N), R (N x M) and the squared norms of the samples, and traces the
// number of passes ("sweeps").
func referenceCodes(ctx context.Context, G, R *mat.Dense, yy []float64, lambda float64, trace methods.Trace) (*mat.Dense, error) {
	n, cols := R.Dims()
	S := mat.NewDense(n, cols, nil)
	GS := mat.NewDense(n, cols, nil)
	last := 999999.0 // the authors' stand-in for infinity
	for sweep := 1; ; sweep++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		linalg.Sweep(S, G, R, lambda)
		GS.Mul(G, S)
		f := referenceObjective(S, GS, R, yy, lambda)
		if sweep == referenceSweeps || last-f <= referenceDecrease*last {
			trace.Add("sweeps", 0, float64(sweep))
			return S, nil
		}
		last = f
	}
}

// referenceObjective returns the sum of ||y - X s||^2 + 2 lambda ||s||_1 over the samples, from
// GS = G S.
func referenceObjective(S, GS, R *mat.Dense, yy []float64, lambda float64) float64 {
	f := 0.0
	for _, v := range yy {
		f += v
	}
	rows, _ := S.Dims()
	for i := range rows {
		gs, r := GS.RawRowView(i), R.RawRowView(i)
		for c, v := range S.RawRowView(i) {
			f = math.FMA(v, gs[c]-2*r[c], f)
			f = math.FMA(2*lambda, math.Abs(v), f)
		}
	}
	return f
}
