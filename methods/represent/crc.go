package represent

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

var _ methods.Method = CRC{}

// CRC is collaborative representation based classification with regularised least
// squares: Zhang, Yang, Feng, "Sparse Representation or Collaborative Representation:
// Which Helps Face Recognition?", ICCV 2011,
//
//	s = argmin ||y - X s||^2 + lambda ||s||^2,   class = argmin_k ||y - X_k s_k|| / ||s_k||.
type CRC struct {
	// Lambda is the ridge weight; for unit columns useful values lie in 2^-12..2^2.
	Lambda float64 `param:"lambda" default:"2^-4" min:"2^-30" doc:"weight of the squared norm of a code"`
	// Rule is "ratio" for the paper's rule, or "plain" for argmin_k ||y - X_k s_k||, the rule of
	// the public code of the SSDL authors.
	Rule string `param:"rule" default:"ratio" choices:"ratio,plain" doc:"class residual divided by the norm of the class's code, or not divided"`
}

// Fit factorises once for all test samples: X^T X + lambda I (N x N), or X X^T + lambda I
// (dim x dim) where there are more labelled columns than features.
func (c CRC) Fit(ctx context.Context, p methods.Problem) (methods.Model, error) {
	if err := p.Check("crc", c); err != nil {
		return nil, err
	}
	p = p.Labelled()
	m := &CRCModel{setting: c}
	m.model = model{gallery: newGallery(p), trace: p.Trace, code: m.solve}
	if c.Rule == "ratio" {
		m.score = m.ratio
	}
	dim, n := p.X.Dims()
	m.primal = n > dim
	var A *mat.Dense
	var err error
	if m.primal {
		A, err = m.gallery.outer(ctx, p)
	} else {
		A, err = m.gallery.gram(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("crc: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("crc: %w", err)
	}
	if !m.ridge.Factorize(shifted(A, c.Lambda)) {
		return nil, fmt.Errorf("crc: lambda = %g is lost in the rounding of the Gram matrix; raise it", c.Lambda)
	}
	return m, nil
}

// shifted returns A + lambda I as a symmetric matrix of its own.
func shifted(A *mat.Dense, lambda float64) *mat.SymDense {
	n, _ := A.Dims()
	B := mat.NewSymDense(n, nil)
	for i := range n {
		copy(B.RawSymmetric().Data[i*n+i:(i+1)*n], A.RawRowView(i)[i:])
		B.SetSym(i, i, B.At(i, i)+lambda)
	}
	return B
}

// CRCModel classifies by the codes of CRC.
type CRCModel struct {
	model
	setting CRC
	primal  bool
	ridge   mat.Cholesky // of X X^T + lambda I if primal, else of X^T X + lambda I
}

// ratio returns the squared residuals divided by ||s_k||^2, +Inf where s_k = 0.
func (m *CRCModel) ratio(c coded) *mat.Dense {
	return m.gallery.perNorm(m.gallery.residuals(c.S, c.R, c.yy), c.S)
}

// solve codes all columns of Y (dim x M) at once: (X^T X + lambda I) S = X^T Y, or, by the
// push-through identity, S = X^T W with (X X^T + lambda I) W = Y.
func (m *CRCModel) solve(ctx context.Context, Y *mat.Dense) (coded, error) {
	dim, _ := m.gallery.X.Dims()
	if err := methods.CheckTest("crc", Y, dim); err != nil {
		return coded{}, err
	}
	c := coded{S: new(mat.Dense)}
	c.R, c.yy = m.gallery.correlations(Y)
	if err := ctx.Err(); err != nil {
		return coded{}, fmt.Errorf("crc: %w", err)
	}
	B := c.R
	if m.primal {
		B = Y
	}
	var W mat.Dense
	if err := m.ridge.SolveTo(&W, B); err != nil {
		return coded{}, fmt.Errorf("crc: the ridge system at lambda = %g is too badly conditioned; raise lambda: %w", m.setting.Lambda, err)
	}
	if m.primal {
		c.S.Mul(m.gallery.X.T(), &W)
	} else {
		c.S = &W
	}
	return c, nil
}
