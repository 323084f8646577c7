// Package represent holds the methods that code a test sample over the labelled training
// samples themselves and ask which class reconstructs it best: the "traditional" rows of
// the paper's Table 1. They learn no dictionary and use the labelled columns only.
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
	// Mode is "paper" for the minimum itself, or "lab" for what the public code of the SSDL
	// authors computes: coordinate descent over all test samples at once, stopped
	// early, so that a code depends on what it is coded with.
	Mode string `param:"mode" default:"paper" choices:"paper,lab" doc:"exact codes, or coordinate descent stopped as in the authors' code"`
}

// The stop of the authors' code: at most labSweeps passes, until the objective of the
// batch falls by a fraction of at most labDecrease.
const (
	labSweeps   = 300
	labDecrease = 1e-6
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

// solve codes the columns of Y. The trace gets the worst relative duality gap and the number of
// codes that miss the one asked for ("test_gap", "test_unconverged"), in mode "lab" the number of
// passes ("sweeps").
func (m *SRCModel) solve(ctx context.Context, Y *mat.Dense) (coded, error) {
	dim, _ := m.gallery.X.Dims()
	if err := methods.CheckTest("src", Y, dim); err != nil {
		return coded{}, err
	}
	c := coded{}
	c.R, c.yy = m.gallery.correlations(Y)
	if m.setting.Mode == "lab" {
		var err error
		if c.S, err = labCodes(ctx, m.G, c.R, c.yy, m.setting.Lambda, m.trace); err != nil {
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

// labCodes sweeps over the rows of S (N x M) for all samples at once, as KSRC_BCD of the
// authors' code does, given G (N x N), R (N x M) and the squared norms of the samples: from
// S = 0 until sum over the samples of ||y - X s||^2 + 2 lambda ||s||_1 has all but stopped
// falling. The trace gets the number of passes ("sweeps").
func labCodes(ctx context.Context, G, R *mat.Dense, yy []float64, lambda float64, trace methods.Trace) (*mat.Dense, error) {
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
		f := labObjective(S, GS, R, yy, lambda)
		if sweep == labSweeps || last-f <= labDecrease*last {
			trace.Add("sweeps", 0, float64(sweep))
			return S, nil
		}
		last = f
	}
}

// labObjective is sum over the samples of ||y - X s||^2 + 2 lambda ||s||_1, from GS = G S.
func labObjective(S, GS, R *mat.Dense, yy []float64, lambda float64) float64 {
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
