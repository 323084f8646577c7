package represent

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

// coded holds the codes S (N x M), the correlations R = X^T Y (N x M) and the squared norms yy of a
// batch Y of M samples.
type coded struct {
	S, R *mat.Dense
	yy   []float64
}

// model is the part that the fitted models of this package share: it codes each sample, and assigns
// the class that reconstructs the sample best from its part of the code.
type model struct {
	gallery *gallery
	trace   methods.Trace
	// code computes the codes of the columns of Y (dim x M).
	code func(ctx context.Context, Y *mat.Dense) (coded, error)
	// score returns the C x M values that Predict minimises over the classes; nil means the squared
	// residuals.
	score func(c coded) *mat.Dense
}

// Codes returns the code (N x M) of each column of Y (dim x M) over the labelled columns,
// in their order in the problem.
func (m *model) Codes(ctx context.Context, Y *mat.Dense) (*mat.Dense, error) {
	c, err := m.code(ctx, Y)
	return c.S, err
}

// Residuals returns ||y - X_k s_k||^2 (C x M) for each column y of Y (dim x M), for every rule of
// the method; the row of a class without labelled samples is +Inf.
func (m *model) Residuals(ctx context.Context, Y *mat.Dense) (*mat.Dense, error) {
	c, err := m.code(ctx, Y)
	if err != nil {
		return nil, err
	}
	return m.gallery.residuals(c.S, c.R, c.yy), nil
}

// Scores returns the values that Predict minimises over the classes (C x M).
func (m *model) Scores(ctx context.Context, Y *mat.Dense) (*mat.Dense, error) {
	c, err := m.code(ctx, Y)
	if err != nil {
		return nil, err
	}
	return m.scores(c), nil
}

func (m *model) scores(c coded) *mat.Dense {
	if m.score != nil {
		return m.score(c)
	}
	return m.gallery.residuals(c.S, c.R, c.yy)
}

// Predict returns the class with the smallest score. A zero code does not tell the classes apart: its
// sample gets the class of the nearest labelled column, and the trace counts it ("zero codes").
func (m *model) Predict(ctx context.Context, Y *mat.Dense) ([]int, error) {
	c, err := m.code(ctx, Y)
	if err != nil {
		return nil, err
	}
	classes, zero := m.gallery.assign(m.scores(c), c.S, c.R)
	m.trace.Add("zero codes", 0, float64(zero))
	return classes, nil
}
