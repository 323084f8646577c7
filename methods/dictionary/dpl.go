package dictionary

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// DPL is projective dictionary pair learning (Gu, Zhang, Zuo, Feng, NIPS 2014):
//
//	min sum_c ||X_c - D_c A_c||^2 + tau ||P_c X_c - A_c||^2 + lambda ||P_c Xbar_c||^2,  ||d|| <= 1,
//
// where Xbar_c are the samples of the other classes. An iteration solves for P (with gamma ||P_c||^2
// added), D and A, in the order of the authors' code. Their splitting for D ends before it has
// converged and may leave norms a little above 1. A sample gets the class of the smallest
// ||x - D_c P_c x||.
//
// FitTargets hardens F as LCKSVD does. The start is the same for all classes (see pairStart); the
// authors draw one for each class.
type DPL struct {
	Atoms      int     `param:"atoms" default:"0" min:"0" doc:"atoms of a class; 0 means that size says it"`
	Size       float64 `param:"size" default:"0.5" min:"1e-6" max:"4" doc:"atoms of a class as a share of what size_of counts"`
	SizeOf     string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the samples of the class, its labelled ones, or an equal part of the features"`
	Tau        float64 `param:"tau" default:"0.05" min:"1e-9" doc:"weight of the codes' distance from the projections"`
	Lambda     float64 `param:"lambda" default:"0.003" min:"1e-9" doc:"weight of the projections of the other classes' samples"`
	Gamma      float64 `param:"gamma" default:"1e-4" min:"1e-12" doc:"weight of the squared norm of P"`
	Iterations int     `param:"iterations" default:"20" min:"1" doc:"iterations"`
}

// The authors' splitting for D.
const (
	dplPenalty, dplGrowth = 1, 1.2
	dplChange, dplPasses  = 1e-8, 99
)

func (m DPL) size() size { return size{"dpl", "atoms", m.Atoms, m.Size, m.SizeOf} }

// FitTargets learns one pair for each class to which columns of F (C x N) harden. It traces
// "objective", without the gamma term, at the start (0) and after each iteration.
func (m DPL) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	q, start, err := hardenedPairs(m, p, F, m.size())
	if err != nil {
		return nil, err
	}
	pairs, _, err := m.Train(ctx, q, start)
	if err != nil {
		return nil, fmt.Errorf("dpl: %w", err)
	}
	return NewPairModel("dpl", pairs, nil), nil
}

// Train learns from p, which has no unlabelled columns, and also returns the codes A_c of each class.
func (m DPL) Train(ctx context.Context, p methods.Problem, start Pairs) (Pairs, []*mat.Dense, error) {
	members := byClass(p.Labels, p.Classes)
	a := newAnalysis(p, members, start)
	if err := a.own(ctx, p, members, m.Tau, m.Lambda, m.Gamma); err != nil {
		return Pairs{}, nil, err
	}
	if err := a.each(ctx, func(c int) error { return a.codes(c, m.Tau, nil) }); err != nil {
		return Pairs{}, nil, err
	}
	if err := m.record(ctx, a, p.Trace, 0); err != nil {
		return Pairs{}, nil, err
	}
	for it := 1; it <= m.Iterations; it++ {
		err := a.each(ctx, func(c int) error {
			a.project(c)
			if err := dplAtoms(a.d[c], a.x[c], a.s[c]); err != nil {
				return err
			}
			return a.codes(c, m.Tau, nil)
		})
		if err == nil {
			err = m.record(ctx, a, p.Trace, it)
		}
		if err != nil {
			return Pairs{}, nil, fmt.Errorf("iteration %d: %w", it, err)
		}
	}
	return a.pairs(), a.s, nil
}

// record traces the objective. Without a trace it computes nothing.
func (m DPL) record(ctx context.Context, a *analysis, trace methods.Trace, it int) error {
	if trace == nil {
		return nil
	}
	f, leaks := make([]float64, len(a.x)), a.leaks()
	err := a.each(ctx, func(c int) error {
		reconstructed, projected := a.fit(c)
		f[c] = reconstructed + float64(m.Tau*projected) + float64(m.Lambda*leaks[c])
		return nil
	})
	sum := 0.0
	for _, v := range f {
		sum += v
	}
	trace.Add("objective", it, sum)
	return err
}

// dplAtoms updates D (rows are atoms) by the authors' splitting D = S, ||s|| <= 1:
//
//	D = (X A^T + rho (S - T)) (A A^T + rho I)^-1,  S = proj(D + T),  T = T + D - S,  rho = 1.2 rho.
func dplAtoms(d, X, A *mat.Dense) error {
	k, dim := d.Dims()
	G, V := linalg.Outer(A), mat.NewDense(k, dim, nil)
	gemm(blas.Trans, 1, A, X, 0, V)
	S, T, B, last := mat.DenseCopyOf(d), mat.NewDense(k, dim, nil), mat.NewDense(k, dim, nil), mat.DenseCopyOf(d)
	rho := float64(dplPenalty)
	for range dplPasses {
		v, s, t, b := V.RawMatrix().Data, S.RawMatrix().Data, T.RawMatrix().Data, B.RawMatrix().Data
		for i := range b {
			b[i] = math.FMA(rho, s[i]-t[i], v[i])
		}
		var chol mat.Cholesky
		if !chol.Factorize(plusDiagonal(G, rho)) {
			return fmt.Errorf("the codes' second moments cannot be factorised") // cannot happen: they are finite
		}
		if err := chol.SolveTo(d, B); err != nil {
			return err
		}
		change := 0.0
		for i := range k {
			row, s, t, old := d.RawRowView(i), S.RawRowView(i), T.RawRowView(i), last.RawRowView(i)
			for j, w := range row {
				s[j] = w + t[j]
				change = math.FMA(old[j]-w, old[j]-w, change)
			}
			if norm := math.Sqrt(dot(s, s)); norm > 1 {
				scale(1/norm, s)
			}
			for j, w := range row {
				t[j] += w - s[j]
			}
			copy(old, row)
		}
		rho *= dplGrowth
		if change/float64(k*dim) <= dplChange {
			break
		}
	}
	return nil
}

// Bytes counts the pairs.
func (m DPL) Bytes(dim, n, _, classes int) int64 {
	return pairBytes(dim, n, m.size().atMost(dim, n, classes), classes)
}
