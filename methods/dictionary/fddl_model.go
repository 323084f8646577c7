package dictionary

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// FDDLModel classifies by the codes of FDDL.
type FDDLModel struct {
	D       *mat.Dense // dim x K
	Means   *mat.Dense // K x C, the mean training code of each class
	setting FDDL
	from    []int
	known   []bool
	trace   methods.Trace
}

// Errors returns the values (C x M) that Predict minimises over the classes for the columns of X
// (dim x M); +Inf for a class without atoms.
func (m *FDDLModel) Errors(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	dim, k := m.D.Dims()
	if err := methods.CheckTest("fddl", X, dim); err != nil {
		return nil, err
	}
	_, n := X.Dims()
	squares := linalg.ColumnSquares(X)
	var R mat.Dense
	R.Mul(m.D.T(), X)
	G := linalg.Gram(m.D)
	var S *mat.Dense
	switch {
	case m.setting.Rule != "gc":
	case m.setting.Mode == "reference":
		var err error
		if S, err = fista(ctx, G, &R, mat.NewDense(k, n, nil), m.setting.TestLambda, 0, largestEigenvalue(G), []int{0, n}); err != nil {
			return nil, fmt.Errorf("fddl: test codes: %w", err)
		}
	default:
		var err error
		if S, err = m.code(ctx, G, &R, squares, m.setting.TestLambda); err != nil {
			return nil, err
		}
	}
	out := mat.NewDense(len(m.known), n, nil)
	for c := range m.known {
		e, lo, hi := out.RawRowView(c), m.from[c], m.from[c+1]
		if lo == hi {
			for j := range e {
				e[j] = math.Inf(1)
			}
			continue
		}
		Gc, Rc := mat.DenseCopyOf(G.Slice(lo, hi, lo, hi)), mat.DenseCopyOf(R.Slice(lo, hi, 0, n))
		Sc := S
		if S != nil {
			Sc = mat.DenseCopyOf(S.Slice(lo, hi, 0, n))
		} else {
			var err error
			if Sc, err = m.code(ctx, Gc, Rc, squares, m.setting.Lambda1); err != nil {
				return nil, err
			}
		}
		copy(e, squares)
		var GS mat.Dense
		GS.Mul(Gc, Sc)
		for i := range hi - lo {
			s, gs, r := Sc.RawRowView(i), GS.RawRowView(i), Rc.RawRowView(i)
			for j := range e {
				e[j] = math.FMA(s[j], gs[j]-2*r[j], e[j])
			}
		}
		for j := range e {
			e[j] = max(e[j], 0)
		}
		if S == nil {
			for j := range e {
				e[j] *= 0.5
			}
			for i := range hi - lo {
				for j, v := range Sc.RawRowView(i) {
					e[j] += float64(m.setting.Lambda1 * math.Abs(v))
				}
			}
			continue
		}
		for i := range k {
			mean := m.Means.At(i, c)
			for j, v := range S.RawRowView(i) {
				e[j] += float64(m.setting.Weight * (v - mean) * (v - mean))
			}
		}
	}
	return out, nil
}

// code solves the Lasso and traces the facts of exactCodes.
func (m *FDDLModel) code(ctx context.Context, G, R *mat.Dense, squares []float64, lambda float64) (*mat.Dense, error) {
	dim, _ := m.D.Dims()
	S, err := exactCodes(ctx, G, R, squares, lambda, dim, m.trace)
	if err != nil {
		return nil, fmt.Errorf("fddl: test codes: %w", err)
	}
	return S, nil
}

// Predict returns the class with the smallest error, the first one on ties.
func (m *FDDLModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	E, err := m.Errors(ctx, X)
	if err != nil {
		return nil, err
	}
	E.Scale(-1, E)
	return largest(E, m.known), nil
}
