package pretext

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
)

// HLW is hypergraph learning with learned weights of the hyperedges (HL-W, after Gao et
// al. 2012): it alternates F and w in
//
//	min tr(F Delta(w) F^T) + lambda |F-O|_F^2 + mu |w|^2,  sum w = |E|, w >= 0
//
// with Delta(w) = I - Dv^-1/2 H W De^-1 H^T Dv^-1/2 (Eq. 4) and d_v = sum_e w_e H(v,e)
// (Eq. 3). The source has sum w = 1; with |E| the weights start as those of HL, all 1.
//
// A step in w goes towards the projection of (c - s)/(2 mu) on the simplex, with
// c_e = |F Dv^-1/2 h_e|^2/delta_e. Step says what s is:
//
//   - frozen: s = 0, the step for constant Dv, as in the sources. Dv then follows w, which the
//     step ignores: on every data set tried the objective rises in the first round, and
//     stopping there would give HL;
//   - exact: s_e = sum_v H(v,e) (F^T F Theta)_vv/d_v, the change of Dv. Then c - s - 2 mu w
//     is the negative gradient, and the step is halved until the objective falls.
//
// THU-HyperG has the constraint H w = d_v in place of the sum. With a hyperedge around each sample H
// is square and of full rank on real features, so w = 1 is the only solution and gives HL. There is
// no such option.
type HLW struct {
	K         int     `param:"k" default:"10" min:"1" doc:"neighbours of the centre in a hyperedge, and of an unseen sample in its score"`
	Bandwidth string  `param:"bandwidth" default:"unit" choices:"unit,mean,knn" doc:"scale sigma^2 of exp(-d^2/sigma^2): 1, the squared mean distance of all pairs, or the mean d^2 to the k neighbours"`
	Lambda    float64 `param:"lambda" default:"0.1" min:"1e-6" doc:"weight of staying close to the initial labels"`
	Fill      float64 `param:"fill" default:"0.5" min:"0" max:"1" doc:"initial label value of unlabelled samples"`
	Mu        float64 `param:"mu" default:"1" min:"1e-6" doc:"weight of |w|^2: large values keep the hyperedges alike, which is HL"`
	Rounds    int     `param:"rounds" default:"5" min:"1" doc:"updates of w, at most"`
	Step      string  `param:"step" default:"frozen" choices:"frozen,exact" doc:"frozen: as if the degrees of the vertices did not follow w, full steps; exact: they do, and the objective never rises"`
}

// weightFloor is the least weight. It keeps the degrees of all vertices positive.
const weightFloor = 1e-8

// Weighting is the result of HLW.
type Weighting struct {
	// W are the weights (|E|), H the hypergraph with Dv = H w and B = Dv^-1/2 H W^1/2 De^-1/2.
	W []float64
	H *Hypergraph
	// Solution is F for these weights.
	Solution
	// Objective holds the objective at the weights 1 and after each round.
	Objective []float64
}

// PseudoLabels implements methods.Pretext. F >= 0, but it can exceed 1. The row of a class
// without labelled samples is 0.
func (m HLW) PseudoLabels(ctx context.Context, p methods.Problem) (methods.Pseudo, error) {
	if err := p.Check("hlw", m); err != nil {
		return methods.Pseudo{}, err
	}
	h, err := sharedHypergraph(ctx, p, m.K, m.Bandwidth)
	if err != nil {
		return methods.Pseudo{}, err
	}
	l, err := m.Learn(ctx, h, initialLabels(p, m.Fill))
	if err != nil {
		return methods.Pseudo{}, err
	}
	for t, v := range l.Objective {
		p.Trace.Add("objective", t, v)
	}
	p.Trace.Add("weight_min", 0, slices.Min(l.W))
	p.Trace.Add("weight_max", 0, slices.Max(l.W))
	traceSolution(p, l.Solution)
	return methods.Pseudo{F: l.F, Score: outOfSample("hlw", p.X, l.F, m.K, h.Sigma2)}, nil
}

// Learn alternates w and F on the hypergraph h, whose weights are 1, for the initial labels O
// (C x N).
func (m HLW) Learn(ctx context.Context, h *Hypergraph, O *mat.Dense) (Weighting, error) {
	l, err := m.solve(ctx, Weighting{H: h}, slices.Repeat([]float64{1}, len(h.De)), O)
	if err != nil {
		return Weighting{}, err
	}
	for range m.Rounds {
		next, err := m.step(ctx, l, O)
		if err != nil {
			return Weighting{}, err
		}
		if next.F == nil {
			break
		}
		l = next
	}
	return l, nil
}

// step returns the weighting after one more round; it has no F if none is better.
func (m HLW) step(ctx context.Context, l Weighting, O *mat.Dense) (Weighting, error) {
	gain := m.gain(l, O)
	target := slices.Clone(gain)
	for e := range target {
		target[e] /= 2 * m.Mu
	}
	w := simplex(target, float64(len(target)))
	if m.Step == "frozen" {
		return m.solve(ctx, l, w, O)
	}
	slope := 0.0 // of the objective, on the way to w
	toward := make([]float64, len(w))
	for e, v := range l.W {
		toward[e] = w[e] - v
		slope += float64((2*m.Mu*v - gain[e]) * toward[e])
	}
	last := l.Objective[len(l.Objective)-1]
	if slope >= -1e-12*math.Abs(last) {
		return Weighting{}, nil // a minimum up to rounding
	}
	for t := 1.0; t > 1e-6; t /= 2 {
		next, err := m.solve(ctx, l, w, O)
		if err != nil || next.Objective[len(l.Objective)] <= last+1e-4*t*slope {
			return next, err
		}
		for e, v := range l.W {
			w[e] = v + float64(t/2*toward[e])
		}
	}
	return Weighting{}, nil
}

// gain returns c - s for the current weights.
func (m HLW) gain(l Weighting, O *mat.Dense) []float64 {
	c := l.H.Shares(l.F)
	for e, w := range l.W {
		c[e] /= w
	}
	if m.Step == "frozen" {
		return c
	}
	// F Theta = F - lambda (O - F).
	classes, n := O.Dims()
	moved := make([]float64, n)
	for i := range classes {
		o, f := O.RawRowView(i), l.F.RawRowView(i)
		for v := range n {
			moved[v] += float64(f[v] * (f[v] - float64(m.Lambda*(o[v]-f[v]))))
		}
	}
	for v, d := range l.H.Dv {
		cols, vals := l.H.H.row(v)
		for k, e := range cols {
			c[e] -= float64(vals[k] * moved[v] / d)
		}
	}
	return c
}

// solve returns F for the weights w, with the objective after those of l.
func (m HLW) solve(ctx context.Context, l Weighting, w []float64, O *mat.Dense) (Weighting, error) {
	next := Weighting{W: slices.Clone(w), H: l.H.weighted(w)}
	s, err := HL{}.Laplacian(next.H).Solve(ctx, "hlw", O, m.Lambda)
	if err != nil {
		return Weighting{}, err
	}
	next.Solution = s
	next.Objective = append(slices.Clone(l.Objective), m.objective(next, O))
	return next, nil
}

// objective is that of HLW. Since F minimises its first two terms, F Delta = lambda (O-F)
// and the two are lambda tr(O (O-F)^T).
func (m HLW) objective(l Weighting, O *mat.Dense) float64 {
	classes, n := O.Dims()
	sum := 0.0
	for i := range classes {
		o, f := O.RawRowView(i), l.F.RawRowView(i)
		for j := range n {
			sum += float64(m.Lambda * o[j] * (o[j] - f[j]))
		}
	}
	for _, w := range l.W {
		sum += float64(m.Mu * w * w)
	}
	return sum
}

// Shares returns |F b_e|^2 for each column b_e of B, the hyperedge's share in tr(F Theta F^T), for
// F (C x N). With weights it is w_e c_e.
func (h *Hypergraph) Shares(F *mat.Dense) []float64 {
	classes, _ := F.Dims()
	z := mat.NewDense(h.BT.Rows, classes, nil)
	h.BT.mul(z, transposed(F))
	return rowSquares(z)
}

// weighted returns h with the weights w > 0 of the hyperedges, without Psi.
func (h *Hypergraph) weighted(w []float64) *Hypergraph {
	out := &Hypergraph{K: h.K, Sigma2: h.Sigma2, H: h.H, De: h.De, Dv: make([]float64, len(h.Dv))}
	h.H.mulVec(out.Dv, w)
	right := make([]float64, len(w))
	for e, v := range w {
		right[e] = math.Sqrt(v / h.De[e])
	}
	out.B = h.H.scaled(inverseRoots(out.Dv), right)
	out.BT = out.B.T()
	return out
}

// simplex returns the nearest point to v among those with sum total and no negative
// coordinate; coordinates below weightFloor are raised to it.
func simplex(v []float64, total float64) []float64 {
	descending := slices.Clone(v)
	slices.Sort(descending)
	slices.Reverse(descending)
	// The largest coordinates stay positive; all are lowered by the same amount.
	sum, shift := -total, 0.0
	for i, x := range descending {
		sum += x
		if s := sum / float64(i+1); x > s {
			shift = s
		}
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = max(x-shift, weightFloor)
	}
	return out
}

// Stages lists the keys of what HL-W shares: those of HL's hypergraph.
func (m HLW) Stages(_, _ int) []string {
	return HL{K: m.K, Bandwidth: m.Bandwidth}.Stages(0, 0)
}

// Bytes counts the hypergraph with and without weights, F and the vectors of conjugate
// gradients.
func (m HLW) Bytes(_, n, _, classes int) int64 {
	return int64(n) * int64(6*12*(m.K+1)+7*8*classes)
}
