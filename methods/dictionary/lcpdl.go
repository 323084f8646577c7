package dictionary

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// LCPDL is locality constrained projective dictionary learning (Zhang et al., IJCAI 2019). Neither
// its code nor its formulas are public. This is our interpretation of what its abstract names:
// block diagonal codes without an l0 or l1 norm, no matrix of the other classes' samples, a
// locality constraint on the atoms through a graph, and a robust classifier on the projected codes.
//
//	J = sum_c ||X_c - D_c S_c||^2 + alpha tr(S_c^T L_c S_c) + tau ||P X - blkdiag(S_c)||^2 + gamma ||P||^2,  ||d|| <= 1
//	W = argmin sum_n ||h_n - W P x_n|| + mu ||W||^2
//
// L_c is the Laplacian of the graph of the Neighbours nearest atoms of D_c with the weights
// exp(-||d_i - d_j||/Delta). Each iteration rebuilds it, which may raise J, solves for the codes,
// makes one pass over the atoms in the unit ball, solves for P and makes one step of iterated
// reweighting for W. The class is the largest entry of W P x, or by Rule "residual": see ADDL.
//
// FitTargets hardens F as LCKSVD does.
type LCPDL struct {
	Atoms      int     `param:"atoms" default:"0" min:"0" doc:"atoms of a class; 0 means that size says it"`
	Size       float64 `param:"size" default:"0.5" min:"1e-6" max:"4" doc:"atoms of a class as a share of what size_of counts"`
	SizeOf     string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the samples of the class, its labelled ones, or an equal part of the features"`
	Tau        float64 `param:"tau" default:"0.5" min:"1e-9" doc:"weight of the codes' distance from the projections"`
	Alpha      float64 `param:"alpha" default:"1e-2" min:"0" doc:"weight of the locality of the atoms"`
	Gamma      float64 `param:"gamma" default:"1e-3" min:"1e-12" doc:"weight of the squared norm of P"`
	Mu         float64 `param:"mu" default:"1e-2" min:"1e-12" doc:"weight of the squared norm of the classifier"`
	Neighbours int     `param:"neighbours" default:"3" min:"1" doc:"nearest atoms in the graph of a class"`
	Delta      float64 `param:"delta" default:"4" min:"1e-6" doc:"width of the weights of that graph"`
	Iterations int     `param:"iterations" default:"20" min:"1" doc:"iterations"`
	Rule       string  `param:"rule" default:"linear" choices:"linear,residual" doc:"class by W P x, or by the distance of x from D_c P_c x"`
}

func (m LCPDL) size() size { return size{"lcpdl", "atoms", m.Atoms, m.Size, m.SizeOf} }

// FitTargets learns one pair for each class to which columns of F (C x N) harden. It traces J with
// the current graphs as "objective" and the objective of W as "classifier", at the start (0) and
// after each iteration.
func (m LCPDL) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	q, start, err := hardenedPairs(m, p, F, m.size())
	if err != nil {
		return nil, err
	}
	t, err := m.Train(ctx, q, start)
	if err != nil {
		return nil, fmt.Errorf("lcpdl: %w", err)
	}
	if m.Rule == "residual" {
		t.Model.W = nil
	}
	return t.Model, nil
}

// LCPDLResult is what Train returns: the classifier, and for each class the codes and the last
// Laplacian.
type LCPDLResult struct {
	Model *PairModel
	S, L  []*mat.Dense
}

// Train learns from p, which has no unlabelled columns.
func (m LCPDL) Train(ctx context.Context, p methods.Problem, start Pairs) (*LCPDLResult, error) {
	members := byClass(p.Labels, p.Classes)
	a := newAnalysis(p, members, start)
	if err := a.shared(ctx, p, members, m.Gamma/m.Tau); err != nil {
		return nil, err
	}
	a.firstCodes()
	H := methods.OneHot(p.Labels, p.Classes, 0)
	L := make([]*mat.Dense, len(a.x))
	laplacians := func() error {
		return a.each(ctx, func(c int) error { L[c] = m.laplacian(a.d[c]); return nil })
	}
	W, err := m.classifier(a, p, H, nil, 0)
	if err == nil {
		err = laplacians()
	}
	if err == nil {
		err = m.record(ctx, a, L, p.Trace, 0)
	}
	if err != nil {
		return nil, err
	}
	for it := 1; it <= m.Iterations; it++ {
		err := laplacians()
		if err == nil {
			err = a.each(ctx, func(c int) error {
				var locality mat.Dense
				locality.Scale(m.Alpha, L[c])
				if err := a.codes(c, m.Tau, &locality); err != nil {
					return err
				}
				a.atoms(c)
				a.project(c)
				return nil
			})
		}
		if err == nil {
			W, err = m.classifier(a, p, H, W, it)
		}
		if err == nil {
			err = m.record(ctx, a, L, p.Trace, it)
		}
		if err != nil {
			return nil, fmt.Errorf("iteration %d: %w", it, err)
		}
	}
	return &LCPDLResult{Model: NewPairModel("lcpdl", a.pairs(), W), S: a.s, L: L}, nil
}

// laplacian returns Deg - M of the graph of the atoms, the rows of d. Two atoms are joined if one is
// among the nearest of the other.
func (m LCPDL) laplacian(d *mat.Dense) *mat.Dense {
	k, _ := d.Dims()
	G, L := linalg.Outer(d), mat.NewDense(k, k, nil)
	distance := func(i, j int) float64 {
		return math.Sqrt(max(G.At(i, i)+G.At(j, j)-2*G.At(i, j), 0))
	}
	order := make([]int, 0, k)
	for i := range k {
		order = order[:0]
		for j := range k {
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance(i, a), distance(i, b)) })
		for _, j := range order[:min(m.Neighbours, len(order))] {
			w := math.Exp(-distance(i, j) / m.Delta)
			L.Set(i, j, -w)
			L.Set(j, i, -w)
		}
	}
	for i := range k {
		sum := 0.0
		for j, v := range L.RawRowView(i) {
			if j != i {
				sum -= v
			}
		}
		L.Set(i, i, sum)
	}
	return L
}

// classifier makes one step of iterated reweighting from W and traces the objective that it lowers.
// W = nil means that all weights are 1, which gives the ridge classifier.
func (m LCPDL) classifier(a *analysis, p methods.Problem, H, W *mat.Dense, it int) (*mat.Dense, error) {
	P, _ := stackedPairs(a.p)
	var Z mat.Dense
	Z.Mul(P, p.X)
	norms := func(W *mat.Dense) []float64 {
		var E mat.Dense
		E.Mul(W, &Z)
		E.Sub(H, &E)
		out := linalg.ColumnSquares(&E)
		for j, v := range out {
			out[j] = math.Sqrt(v)
		}
		return out
	}
	var v []float64
	if W != nil {
		v = norms(W)
		for j, e := range v {
			v[j] = 1 / (2*e + smallNorm)
		}
	}
	W, err := weightedRidge(&Z, H, v, m.Mu)
	if err == nil && p.Trace != nil {
		f := float64(m.Mu * squareSum(W))
		for _, e := range norms(W) {
			f += e
		}
		p.Trace.Add("classifier", it, f)
	}
	return W, err
}

// record traces J. Without a trace it computes nothing.
func (m LCPDL) record(ctx context.Context, a *analysis, L []*mat.Dense, trace methods.Trace, it int) error {
	if trace == nil {
		return nil
	}
	f, leaks := make([]float64, len(a.x)), a.leaks()
	err := a.each(ctx, func(c int) error {
		reconstructed, projected := a.fit(c)
		var LS mat.Dense
		LS.Mul(L[c], a.s[c])
		f[c] = reconstructed + float64(m.Alpha*inner(a.s[c], &LS)) + float64(m.Tau*(projected+leaks[c])) + float64(m.Gamma*squareSum(a.p[c]))
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
func (m LCPDL) Bytes(dim, n, _, classes int) int64 {
	k := m.size().atMost(dim, n, classes)
	return pairBytes(dim, n, k, classes) + int64(8*5*k*k/2)
}
