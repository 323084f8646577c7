package pretext

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// DHSL is dynamic hypergraph structure learning (Zhang, Lin, Gao 2018): it learns labels and
// incidences alternately. With F fixed, H ascends
//
//	J(H) = tr(Theta(H) C),  C = (1-beta) F^T F + beta X^T X,  0 <= H <= 1
//
// along its gradient, clipped; with H fixed, F = O A (A + Delta(H)/lambda)^-1. A is I, or
// THU-HyperG's weights of the initial labels (Anchor).
//
// The gradient is, with G = Dv^-1/2 C Dv^-1/2 H, r_e = h_e.G_e/delta_e^2 and t_v =
// -sum_e H(v,e) G(v,e)/(d_v delta_e),
//
//	dJ/dH(v,e) = 2 G(v,e)/delta_e - r_e + t_v
//
// Outside the hyperedges it is mostly negative, the more the farther samples are apart. So only the
// Mask nearest neighbours of a centre are candidates. G needs X^T X among the candidates of each
// hyperedge, which is computed once and takes 8 N (Mask+1)^2 bytes, and a product with F. C is never
// formed.
type DHSL struct {
	K         int     `param:"k" default:"10" min:"1" doc:"neighbours of the centre in a hyperedge at the start, and of an unseen sample in its score"`
	Lambda    float64 `param:"lambda" default:"0.1" min:"1e-6" doc:"weight of staying close to the initial labels"`
	Fill      float64 `param:"fill" default:"0.5" min:"0" max:"1" doc:"initial label value of unlabelled samples"`
	Beta      float64 `param:"beta" default:"0.5" min:"0" max:"1" doc:"share of the features, against the labels, in the similarity that H maximises"`
	Step      float64 `param:"step" default:"0.3" min:"1e-6" doc:"length of a step along the gradient of J"`
	Backtrack bool    `param:"backtrack" default:"true" doc:"halve a step until J rises; otherwise every step has its full length"`
	Outer     int     `param:"outer" default:"3" min:"1" doc:"rounds of H and F"`
	Inner     int     `param:"inner" default:"2" min:"1" doc:"steps of H in a round"`
	Mask      int     `param:"mask" default:"30" min:"1" max:"200" doc:"neighbours of the centre that can join a hyperedge, at least k; memory grows with the square"`
	Anchor    string  `param:"anchor" default:"equal" choices:"equal,thu" doc:"weights A of the initial labels: 1, or THU-HyperG's: 1e-4 for known labels and 1 for the others"`
}

// thuKnown is the weight of a known label in THU-HyperG.
const thuKnown = 1e-4

// Structure is the result of DHSL.
type Structure struct {
	// H is the incidence matrix by hyperedges (H^T): row e holds all candidates of
	// hyperedge e, including those of incidence 0.
	H *CSR
	Solution
	// Similarity holds J at the start of each round and after each of its steps. Steps holds
	// the lengths of the steps, 0 if no step raises J.
	Similarity [][]float64
	Steps      [][]float64
}

// PseudoLabels implements methods.Pretext. F >= 0, but it can exceed 1. The row of a class
// without labelled samples is 0.
func (m DHSL) PseudoLabels(ctx context.Context, p methods.Problem) (methods.Pseudo, error) {
	if err := p.Check("dhsl", m); err != nil {
		return methods.Pseudo{}, err
	}
	s, err := m.Learn(ctx, p, initialLabels(p, m.Fill))
	if err != nil {
		return methods.Pseudo{}, err
	}
	it := 0
	for r, values := range s.Similarity {
		for i, v := range values {
			p.Trace.Add("similarity", it, v)
			if i > 0 {
				p.Trace.Add("step", it, s.Steps[r][i-1])
			}
			it++
		}
	}
	members := 0
	for _, v := range s.H.Val {
		if v > 0 {
			members++
		}
	}
	p.Trace.Add("members", 0, float64(members)/float64(s.H.Rows))
	traceSolution(p, s.Solution)
	return methods.Pseudo{F: s.F, Score: outOfSample("dhsl", p.X, s.F, m.K, 1)}, nil
}

// Learn alternates H and F for the initial labels O (C x N) of p.
func (m DHSL) Learn(ctx context.Context, p methods.Problem, O *mat.Dense) (Structure, error) {
	if m.Mask < m.K {
		return Structure{}, fmt.Errorf("dhsl: %w: mask is %d, want at least k = %d", methods.ErrInput, m.Mask, m.K)
	}
	nb, err := sharedNeighbours(ctx, p, m.Mask, false)
	if err != nil {
		return Structure{}, err
	}
	within, err := methods.Shared(ctx, p, m.candidatesKey(), func() (*candidates, int64, error) {
		c, err := newCandidates(ctx, p.X, nb)
		if err != nil {
			return nil, 0, err
		}
		return c, c.bytes(), nil
	})
	if err != nil {
		return Structure{}, err
	}
	s := Structure{H: within.incidence(nb, m.K)}
	if s.Solution, err = m.solve(ctx, s.H, p, O); err != nil {
		return Structure{}, err
	}
	for range m.Outer {
		if err := m.climb(ctx, within, &s); err != nil {
			return Structure{}, err
		}
		if s.Solution, err = m.solve(ctx, s.H, p, O); err != nil {
			return Structure{}, err
		}
	}
	return s, nil
}

// climb makes the steps of H of one round.
func (m DHSL) climb(ctx context.Context, within *candidates, s *Structure) error {
	F := transposed(s.F)
	a := within.ascent(s.H, F, m.Beta)
	similarity, steps := []float64{a.J}, []float64(nil)
	for range m.Inner {
		if err := ctx.Err(); err != nil {
			return err
		}
		slope := a.gradient()
		taken := 0.0
		for step := m.Step; step > 1e-6*m.Step; step /= 2 {
			next := *s.H
			next.Val = make([]float64, len(s.H.Val))
			gain := 0.0 // predicted by the gradient
			for e, v := range s.H.Val {
				next.Val[e] = min(max(v+float64(step*slope[e]), 0), 1)
				gain += float64(slope[e] * (next.Val[e] - v))
			}
			if m.Backtrack && gain <= 0 {
				break // every entry that would raise J is at a bound
			}
			b := within.ascent(&next, F, m.Beta)
			if !m.Backtrack || b.J >= a.J+1e-4*gain {
				s.H, a, taken = &next, b, step
				break
			}
		}
		similarity, steps = append(similarity, a.J), append(steps, taken)
		if taken == 0 {
			break
		}
	}
	s.Similarity, s.Steps = append(s.Similarity, similarity), append(s.Steps, steps)
	return nil
}

// solve returns F for the incidences H. With A = I that is HL's equation. Otherwise let a be the
// least entry of A: F (lambda A + Delta) = lambda O A is HL's equation for Delta + lambda (A - a I),
// the weight lambda a and O A/a.
func (m DHSL) solve(ctx context.Context, H *CSR, p methods.Problem, O *mat.Dense) (Solution, error) {
	l := HL{}.Laplacian(learned(H))
	if m.Anchor == "equal" {
		return l.Solve(ctx, "dhsl", O, m.Lambda)
	}
	A := make([]float64, l.N)
	for j, y := range p.Labels {
		if A[j] = 1; y != methods.Unlabeled {
			A[j] = thuKnown // Problem.Check: at least one label is known
		}
	}
	scaled := mat.DenseCopyOf(O)
	for c := range p.Classes {
		row := scaled.RawRowView(c)
		for j := range row {
			row[j] *= A[j] / thuKnown
		}
	}
	delta := l.Apply
	l.Top += m.Lambda * (1 - thuKnown)
	l.Apply = func(dst, Y *mat.Dense) {
		delta(dst, Y)
		for j, a := range A {
			if a != thuKnown {
				axpy(dst.RawRowView(j), m.Lambda*(a-thuKnown), Y.RawRowView(j))
			}
		}
	}
	s, err := l.Solve(ctx, "dhsl", scaled, m.Lambda*thuKnown)
	if err != nil {
		return Solution{}, fmt.Errorf("%w; anchor thu multiplies lambda by %g where labels are known", err, thuKnown)
	}
	return s, nil
}

// learned returns the hypergraph of the nonzero incidences HT (by hyperedges). It has no Psi. A vertex
// or a hyperedge can lose all its incidences; nothing then connects it to the others.
func learned(HT *CSR) *Hypergraph {
	t := &CSR{Rows: HT.Rows, Cols: HT.Cols, Ptr: make([]int, 1, HT.Rows+1)}
	for e := range HT.Rows {
		cols, vals := HT.row(e)
		for i, v := range vals {
			if v > 0 {
				t.Col, t.Val = append(t.Col, cols[i]), append(t.Val, v)
			}
		}
		t.Ptr = append(t.Ptr, len(t.Col))
	}
	h := &Hypergraph{H: t.T(), De: t.rowSums(), Sigma2: 1}
	h.Dv = h.H.rowSums()
	h.B = h.H.scaled(degreeRoots(h.Dv), degreeRoots(h.De))
	h.BT = h.B.T()
	return h
}

// candidates are the samples that can belong to each hyperedge: the centre and its nearest
// neighbours, together size of them.
type candidates struct {
	n, size int
	// Of hyperedge e: member[e*size:(e+1)*size], ascending, and their inner products,
	// size x size from gram[e*size*size] on.
	member []int32
	gram   []float64
}

// hyperedgeGrain is the number of hyperedges of a task in a parallel loop.
const hyperedgeGrain = 16

func newCandidates(ctx context.Context, X *mat.Dense, nb *neighbours) (*candidates, error) {
	dim, n := X.Dims()
	c := &candidates{n: n, size: nb.K + 1}
	c.member = make([]int32, 0, n*c.size)
	for e := range n {
		index, _ := nb.query(e)
		c.member = append(append(c.member, int32(e)), index...)
		slices.Sort(c.member[e*c.size:])
	}
	c.gram = make([]float64, n*c.size*c.size)
	x := transposed(X)
	const block = 32 * hyperedgeGrain
	for from := 0; from < n; from += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		linalg.Parallel(min(block, n-from), hyperedgeGrain, func(lo, hi int) {
			part := blas64.General{Rows: c.size, Cols: dim, Stride: dim, Data: make([]float64, c.size*dim)}
			for e := from + lo; e < from+hi; e++ {
				for i, v := range c.of(e) {
					copy(part.Data[i*dim:(i+1)*dim], x.RawRowView(int(v)))
				}
				blas64.Gemm(blas.NoTrans, blas.Trans, 1, part, part, 0,
					blas64.General{Rows: c.size, Cols: c.size, Stride: c.size, Data: c.gram[e*c.size*c.size:]})
			}
		})
	}
	return c, nil
}

// of returns the candidates of hyperedge e.
func (c *candidates) of(e int) []int32 { return c.member[e*c.size : (e+1)*c.size] }

// bytes returns the memory of c.
func (c *candidates) bytes() int64 { return int64(4*len(c.member) + 8*len(c.gram)) }

// incidence returns H^T with the centres and their k nearest neighbours as members
// (Eq. 1); the other candidates have the incidence 0.
func (c *candidates) incidence(nb *neighbours, k int) *CSR {
	t := &CSR{Rows: c.n, Cols: c.n, Ptr: make([]int, c.n+1), Col: c.member, Val: make([]float64, len(c.member))}
	for e := range c.n {
		t.Ptr[e+1] = (e + 1) * c.size
		put := func(v int32, h float64) {
			i, _ := slices.BinarySearch(c.of(e), v)
			t.Val[e*c.size+i] = h
		}
		put(int32(e), 1)
		index, d2 := nb.query(e)
		for r, v := range index[:min(k, len(index))] {
			put(v, math.Exp(-d2[r]))
		}
	}
	return t
}

// ascent is J at H, and the terms of its gradient.
type ascent struct {
	HT     *CSR
	J      float64
	G      []float64 // G(v,e) for the candidates of e
	Dv, De []float64
}

// ascent computes J for H^T over the candidates and F (N x C, a row per sample).
func (c *candidates) ascent(HT *CSR, F *mat.Dense, beta float64) ascent {
	a := ascent{HT: HT, G: make([]float64, len(HT.Val)), Dv: make([]float64, c.n), De: HT.rowSums()}
	for i, v := range HT.Col {
		a.Dv[v] += HT.Val[i]
	}
	root := degreeRoots(a.Dv)
	_, classes := F.Dims()
	shares := make([]float64, c.n)
	linalg.Parallel(c.n, hyperedgeGrain, func(lo, hi int) {
		y, sum := make([]float64, c.size), make([]float64, classes)
		for e := lo; e < hi; e++ {
			member, h, g := c.of(e), HT.Val[e*c.size:(e+1)*c.size], a.G[e*c.size:(e+1)*c.size]
			clear(sum) // F Dv^-1/2 h_e
			for i, v := range member {
				y[i] = h[i] * root[v]
				if y[i] != 0 {
					axpy(sum, y[i], F.RawRowView(int(v)))
				}
			}
			for i, v := range member {
				of := e*c.size*c.size + i*c.size
				g[i] = root[v] * (float64(beta*dot(c.gram[of:of+c.size], y)) + float64((1-beta)*dot(sum, F.RawRowView(int(v)))))
			}
			if a.De[e] > 0 {
				shares[e] = dot(h, g) / a.De[e]
			}
		}
	})
	for _, s := range shares {
		a.J += s
	}
	return a
}

// gradient returns dJ/dH for all candidates. A step along it gives no incidence to a vertex or a
// hyperedge that has none.
func (a *ascent) gradient() []float64 {
	t := make([]float64, len(a.Dv))
	out := make([]float64, len(a.G))
	for e, de := range a.De {
		if de == 0 {
			continue
		}
		cols, h := a.HT.row(e)
		g := a.G[a.HT.Ptr[e]:a.HT.Ptr[e+1]]
		r := dot(h, g) / (de * de)
		for i, v := range cols {
			t[v] -= float64(h[i] * g[i] / de)
			out[a.HT.Ptr[e]+i] = float64(2*g[i]/de) - r
		}
	}
	for e, de := range a.De {
		if de == 0 {
			continue
		}
		cols, _ := a.HT.row(e)
		for i, v := range cols {
			if d := a.Dv[v]; d > 0 {
				out[a.HT.Ptr[e]+i] += t[v] / d
			}
		}
	}
	return out
}

func (m DHSL) candidatesKey() string { return fmt.Sprintf("pretext/candidates mask=%d", m.Mask) }

// Stages lists the keys of what DHSL shares.
func (m DHSL) Stages(_, _ int) []string {
	return []string{neighboursKey(m.Mask, false), m.candidatesKey()}
}

// Bytes counts the inner products within hyperedges, X by samples, the incidences of two
// steps with their gradient, F and the vectors of conjugate gradients.
func (m DHSL) Bytes(dim, n, _, classes int) int64 {
	s := min(m.Mask, max(n-1, 0)) + 1
	return int64(n) * int64(8*s*s+8*dim+8*12*s+7*8*classes)
}
