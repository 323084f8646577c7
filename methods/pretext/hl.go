package pretext

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// HL is hypergraph learning (Zhou, Huang, Schoelkopf 2007): F = O (I + Delta_l/lambda)^-1
// with the normalised Laplacian of a hypergraph of nearest neighbours (Eq. 4).
//
// With Shift it is a control for pAHL. Let u = sqrt(d)/|sqrt(d)| be the null vector of Delta_l:
// shift u u^T damps only the constant that the fill of the unlabelled columns of O adds to F.
type HL struct {
	K         int     `param:"k" default:"10" min:"1" doc:"neighbours of the centre in a hyperedge, and of an unseen sample in its score"`
	Bandwidth string  `param:"bandwidth" default:"unit" choices:"unit,mean,knn" doc:"scale sigma^2 of exp(-d^2/sigma^2): 1, the squared mean distance of all pairs, or the mean d^2 to the k neighbours"`
	Lambda    float64 `param:"lambda" default:"0.1" min:"1e-6" doc:"weight of staying close to the initial labels"`
	Fill      float64 `param:"fill" default:"0.5" min:"0" max:"1" doc:"initial label value of unlabelled samples"`
	Shift     float64 `param:"shift" default:"0" min:"0" doc:"control: adds shift u u^T to the Laplacian, u its unit null vector"`
}

// PseudoLabels implements methods.Pretext. F >= 0 for Shift = 0, but it can exceed 1. The
// row of a class without labelled samples is 0.
func (m HL) PseudoLabels(ctx context.Context, p methods.Problem) (methods.Pseudo, error) {
	if err := p.Check("hl", m); err != nil {
		return methods.Pseudo{}, err
	}
	h, err := sharedHypergraph(ctx, p, m.K, m.Bandwidth)
	if err != nil {
		return methods.Pseudo{}, err
	}
	s, err := m.Laplacian(h).Solve(ctx, "hl", initialLabels(p, m.Fill), m.Lambda)
	if err != nil {
		return methods.Pseudo{}, err
	}
	traceSolution(p, s)
	return methods.Pseudo{F: s.F, Score: outOfSample("hl", p.X, s.F, m.K, h.Sigma2)}, nil
}

// Laplacian returns Delta_l + Shift u u^T of h.
func (m HL) Laplacian(h *Hypergraph) Laplacian {
	n := len(h.Dv)
	u := mat.NewDense(n, 1, nil)
	total := 0.0
	for _, d := range h.Dv {
		total += d
	}
	for i, d := range h.Dv {
		u.Set(i, 0, math.Sqrt(d/total))
	}
	return Laplacian{N: n, Top: max(1, m.Shift), Apply: func(dst, Y *mat.Dense) {
		applyLaplacian(h, dst, Y, nil)
		if m.Shift == 0 {
			return
		}
		var along mat.Dense // u^T Y
		along.Mul(u.T(), Y)
		d, c := dst.RawMatrix(), along.RawRowView(0)
		linalg.Parallel(n, rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				axpy(d.Data[i*d.Stride:i*d.Stride+d.Cols], m.Shift*u.At(i, 0), c)
			}
		})
	}}
}

// applyLaplacian sets dst = Y - B E B^T Y (N x m). attend replaces z by E z (both N x m); nil means
// E = I.
func applyLaplacian(h *Hypergraph, dst, Y *mat.Dense, attend func(z *mat.Dense)) {
	_, m := Y.Dims()
	z := mat.NewDense(h.BT.Rows, m, nil)
	h.BT.mul(z, Y)
	if attend != nil {
		attend(z)
	}
	h.B.mul(dst, z)
	subtractFrom(Y, dst)
}
