package dictionary

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// ADDL is analysis discriminative dictionary learning (Zhang et al., TNNLS 2018). Neither its code
// nor its formulas are public. This is our interpretation of what its abstract names: class-wise
// reconstruction, codes with zero rows, projections that give the codes and vanish on the other
// classes, a linear classifier on the projected codes.
//
//	J = sum_c ||X_c - D_c S_c||^2 + tau ||P_c X_c - S_c||^2 + lambda ||P_c Xbar_c||^2 + gamma ||P_c||^2
//	        + alpha sum_rows ||s_c^i||,                               ||d|| <= 1
//	W = argmin ||H - W P X||^2 + mu ||W||^2
//
// An iteration solves for the codes with the last codes' row norms as weights (which never
// raises J), makes one pass over the atoms in the unit ball, and solves for P and then for W.
// The class is the largest entry of W P x: a linear regression of low rank on the features. With
// Rule "residual" it is the class of the smallest ||x - D_c P_c x||, as in DPL.
//
// FitTargets hardens F as LCKSVD does.
type ADDL struct {
	Atoms      int     `param:"atoms" default:"0" min:"0" doc:"atoms of a class; 0 means that size says it"`
	Size       float64 `param:"size" default:"0.5" min:"1e-6" max:"4" doc:"atoms of a class as a share of what size_of counts"`
	SizeOf     string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the samples of the class, its labelled ones, or an equal part of the features"`
	Tau        float64 `param:"tau" default:"0.05" min:"1e-9" doc:"weight of the codes' distance from the projections"`
	Lambda     float64 `param:"lambda" default:"0.003" min:"1e-9" doc:"weight of the projections of the other classes' samples"`
	Alpha      float64 `param:"alpha" default:"1e-3" min:"0" doc:"weight of the norms of the rows of the codes"`
	Gamma      float64 `param:"gamma" default:"1e-4" min:"1e-12" doc:"weight of the squared norm of P"`
	Mu         float64 `param:"mu" default:"1e-2" min:"1e-12" doc:"weight of the squared norm of the classifier"`
	Iterations int     `param:"iterations" default:"20" min:"1" doc:"iterations"`
	Rule       string  `param:"rule" default:"linear" choices:"linear,residual" doc:"class by W P x, or by the distance of x from D_c P_c x"`
}

// smallNorm keeps the weight of a vanishing row or residual finite.
const smallNorm = 1e-8

func (m ADDL) size() size { return size{"addl", "atoms", m.Atoms, m.Size, m.SizeOf} }

// FitTargets learns one pair for each class to which columns of F (C x N) harden. It traces
// J as "objective" and the objective of W as "classifier", at the start (0) and after each iteration.
func (m ADDL) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	q, start, err := hardenedPairs(m, p, F, m.size())
	if err != nil {
		return nil, err
	}
	model, _, err := m.Train(ctx, q, start)
	if err != nil {
		return nil, fmt.Errorf("addl: %w", err)
	}
	if m.Rule == "residual" {
		model.W = nil
	}
	return model, nil
}

// Train learns from p, which has no unlabelled columns, and also returns the codes of each class.
func (m ADDL) Train(ctx context.Context, p methods.Problem, start Pairs) (*PairModel, []*mat.Dense, error) {
	members := byClass(p.Labels, p.Classes)
	a := newAnalysis(p, members, start)
	if err := a.own(ctx, p, members, m.Tau, m.Lambda, m.Gamma); err != nil {
		return nil, nil, err
	}
	a.firstCodes()
	W, err := m.classifier(a, p, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := m.record(ctx, a, p.Trace, 0); err != nil {
		return nil, nil, err
	}
	for it := 1; it <= m.Iterations; it++ {
		err := a.each(ctx, func(c int) error {
			k, _ := a.s[c].Dims()
			weights := mat.NewDense(k, k, nil)
			for i := range k {
				row := a.s[c].RawRowView(i)
				weights.Set(i, i, m.Alpha/(2*math.Sqrt(dot(row, row))+smallNorm))
			}
			if err := a.codes(c, m.Tau, weights); err != nil {
				return err
			}
			a.atoms(c)
			a.project(c)
			return nil
		})
		if err == nil {
			W, err = m.classifier(a, p, it)
		}
		if err == nil {
			err = m.record(ctx, a, p.Trace, it)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("iteration %d: %w", it, err)
		}
	}
	return NewPairModel("addl", a.pairs(), W), a.s, nil
}

// firstCodes sets S_c = P_c X_c.
func (a *analysis) firstCodes() {
	for c, X := range a.x {
		if X != nil {
			a.s[c] = new(mat.Dense)
			a.s[c].Mul(a.p[c], X)
		}
	}
}

// classifier returns W = H Z^T (Z Z^T + mu I)^-1 on Z = P X and traces its objective.
func (m ADDL) classifier(a *analysis, p methods.Problem, it int) (*mat.Dense, error) {
	P, _ := stackedPairs(a.p)
	var Z mat.Dense
	Z.Mul(P, p.X)
	H := methods.OneHot(p.Labels, p.Classes, 0)
	W, err := weightedRidge(&Z, H, nil, m.Mu)
	if err == nil && p.Trace != nil {
		var E mat.Dense
		E.Mul(W, &Z)
		E.Sub(H, &E)
		p.Trace.Add("classifier", it, squareSum(&E)+float64(m.Mu*squareSum(W)))
	}
	return W, err
}

// weightedRidge returns H diag(v) Z^T (Z diag(v) Z^T + mu I)^-1; v may be nil for ones.
func weightedRidge(Z, H *mat.Dense, v []float64, mu float64) (*mat.Dense, error) {
	V := Z
	if v != nil {
		V = mat.DenseCopyOf(Z)
		k, _ := V.Dims()
		for i := range k {
			row := V.RawRowView(i)
			for j, w := range v {
				row[j] *= w
			}
		}
	}
	var G, right, Wt mat.Dense
	if v == nil {
		G.CloneFrom(linalg.Outer(Z))
	} else {
		G.Mul(V, Z.T())
	}
	right.Mul(V, H.T())
	var chol mat.Cholesky
	if !chol.Factorize(plusDiagonal(&G, mu)) {
		return nil, fmt.Errorf("%w: mu = %g is lost in the rounding of the codes' Gram matrix; raise it", methods.ErrInput, mu)
	}
	if err := chol.SolveTo(&Wt, &right); err != nil {
		return nil, fmt.Errorf("%w: the system of the classifier is too badly conditioned (%w); raise mu = %g", methods.ErrInput, err, mu)
	}
	return mat.DenseCopyOf(Wt.T()), nil
}

// record traces J. Without a trace it computes nothing.
func (m ADDL) record(ctx context.Context, a *analysis, trace methods.Trace, it int) error {
	if trace == nil {
		return nil
	}
	f, leaks := make([]float64, len(a.x)), a.leaks()
	err := a.each(ctx, func(c int) error {
		reconstructed, projected := a.fit(c)
		f[c] = reconstructed + float64(m.Tau*projected) + float64(m.Lambda*leaks[c]) + float64(m.Gamma*squareSum(a.p[c]))
		k, _ := a.s[c].Dims()
		for i := range k {
			row := a.s[c].RawRowView(i)
			f[c] += float64(m.Alpha * math.Sqrt(dot(row, row)))
		}
		return nil
	})
	sum := 0.0
	for _, v := range f {
		sum += v
	}
	trace.Add("objective", it, sum)
	return err
}

// Bytes counts the pairs and, in addition, the matrices of the classifier.
func (m ADDL) Bytes(dim, n, _, classes int) int64 {
	k := m.size().atMost(dim, n, classes)
	return pairBytes(dim, n, k, classes) + int64(8*5*k*k/2)
}
