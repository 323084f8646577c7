package pretext

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods/linalg"
)

// pGraph is a weighted graph for the sums of the p-Laplacian: each undirected edge once, without the
// diagonal.
type pGraph struct {
	n   int
	ptr []int   // edges of vertex i to j > i are ptr[i]:ptr[i+1]
	to  []int32 // j
	w   []float64
	pow *power
}

// panel is the number of columns of Q that one task carries through all edges. The columns of a
// panel lie side by side, so each end of an edge is one cache line. The sums of different columns
// are independent, so neither the number of tasks nor this width changes a bit of the result.
const panel = 8

// newPGraph takes the strict upper triangle of the symmetric W.
func newPGraph(W *CSR, p float64) *pGraph {
	g := &pGraph{n: W.Rows, ptr: make([]int, W.Rows+1), pow: newPower(p)}
	for i := range W.Rows {
		cols, vals := W.row(i)
		for e, j := range cols {
			if int(j) > i && vals[e] != 0 {
				g.to, g.w = append(g.to, j), append(g.w, vals[e])
			}
		}
		g.ptr[i+1] = len(g.to)
	}
	return g
}

// Quotient returns the Rayleigh quotients of the columns of Q (N x M) on the graph W
// (N x N, symmetric, the diagonal does not matter):
//
//	Lambda^m = 1/2 sum_ij w_ij |q_i - q_j|^p / |q^m|_p^p
//
// Eq. 9 with the factor 1/2 that makes Lambda^m for p = 2 an eigenvalue of diag(W 1) - W.
// The quotient of a zero column is 0.
func Quotient(W *CSR, Q *mat.Dense, p float64) []float64 {
	return newPGraph(W, p).evaluate(Q, nil, false)
}

// Gradient returns the quotients R and the gradient (N x M) of their sum:
//
//	dR/dq_i = p/|q|_p^p [ sum_j w_ij phi_p(q_i - q_j) - R phi_p(q_i) ]
//
// With printed, it is Eq. 7 as printed, which lacks the factor p and has 1/|q|_p^p in place of R.
func Gradient(W *CSR, Q *mat.Dense, p float64, printed bool) (R []float64, G *mat.Dense) {
	G = mat.NewDense(Q.RawMatrix().Rows, Q.RawMatrix().Cols, nil)
	R = newPGraph(W, p).evaluate(Q, G, printed)
	return R, G
}

// evaluate returns the quotients of the columns of Q and, unless G is nil, sets G to the
// gradient of their sum.
func (g *pGraph) evaluate(Q, G *mat.Dense, printed bool) []float64 {
	_, m := Q.Dims()
	R := make([]float64, m)
	linalg.Parallel((m+panel-1)/panel, 1, func(lo, hi int) {
		for b := lo * panel; b < min(hi*panel, m); b += panel {
			g.panel(Q, G, printed, b, R[b:min(b+panel, m)])
		}
	})
	return R
}

// panel evaluates the columns from, from+1, ... of Q, as many as R has.
func (g *pGraph) panel(Q, G *mat.Dense, printed bool, from int, R []float64) {
	q := make([]float64, g.n*panel)
	src := Q.RawMatrix()
	for i := range g.n {
		copy(q[i*panel:(i+1)*panel], src.Data[i*src.Stride+from:][:len(R)])
	}
	pow := g.pow
	flow := make([]float64, g.n*panel) // sum_j w_ij phi_p(q_i - q_j)
	for i := range g.n {
		lo, hi := g.ptr[i], g.ptr[i+1]
		pow.flow(q, flow, i, g.to[lo:hi], g.w[lo:hi])
	}
	var num, den [panel]float64
	for i := range g.n {
		qi, fi := (*[panel]float64)(q[i*panel:]), (*[panel]float64)(flow[i*panel:])
		for c := range panel {
			// sum_i q_i flow_i = 1/2 sum_ij w_ij |q_i - q_j|^p
			num[c] += float64(qi[c] * fi[c])
			den[c] += float64(qi[c] * pow.phi(qi[c]))
		}
	}
	for c := range R {
		if den[c] > 0 {
			R[c] = max(num[c]/den[c], 0) // negative only by rounding
		}
	}
	if G == nil {
		return
	}
	var scale, pull [panel]float64
	for c := range R {
		switch {
		case den[c] == 0:
		case printed:
			scale[c], pull[c] = 1/den[c], 1/den[c]
		default:
			scale[c], pull[c] = g.pow.p/den[c], R[c]
		}
	}
	dst := G.RawMatrix()
	for i := range g.n {
		out := dst.Data[i*dst.Stride+from:][:len(R)]
		for c := range out {
			out[c] = scale[c] * (flow[i*panel+c] - float64(pull[c]*pow.phi(q[i*panel+c])))
		}
	}
}

// power computes |x|^q and phi_p(x) = |x|^(p-1) sign(x), q = p-1, for one p, 1 < p <= 3.
// Let |x| = 2^e m, and c the middle of the interval of m, one of 256. Then r = (m-c)/c is at most
// 2^-9 in size and
//
//	|x|^q = (2^e)^q c^q (1+r)^q,
//
// two look-ups and a polynomial: no logarithm, no exponential, no branch. The error is
// within a few units in the last place. Numbers below 2^-1022 count as 0.
type power struct {
	p        float64
	exponent [2048]float64                         // (2^e)^q by biased exponent
	mantissa [256]struct{ c, inverse, cq float64 } // c, 1/c, c^q by the leading bits of m
	binomial [5]float64                            // (1+r)^q = 1 + binomial[0] r + ... + binomial[4] r^5
	masks    [5]uint64                             // for the assembly, which expects them after binomial
}

const (
	fractionBits, oneBits  = 1<<52 - 1, 1023 << 52
	exponentMask, leadMask = 2047, 255
)

func newPower(p float64) *power {
	q := p - 1
	t := &power{p: p}
	for b := 1; b < len(t.exponent); b++ {
		whole := q * float64(b-1023)
		rest := math.FMA(q, float64(b-1023), -whole)
		t.exponent[b] = math.Exp2(whole) * (1 + rest*math.Ln2)
	}
	for i := range t.mantissa {
		c := 1 + (float64(i)+0.5)/256
		t.mantissa[i].c, t.mantissa[i].inverse, t.mantissa[i].cq = c, 1/c, math.Pow(c, q)
	}
	coefficient := 1.0
	for k := range t.binomial {
		coefficient *= (q - float64(k)) / float64(k+1)
		t.binomial[k] = coefficient
	}
	t.masks = [5]uint64{oneBits, fractionBits, 1 << 63, exponentMask, leadMask}
	return t
}

// split returns (2^e c)^q and r. It is separate from series because the compiler then inlines both.
func (t *power) split(x float64) (size, r float64) {
	b := math.Float64bits(x)
	m := &t.mantissa[b>>44&leadMask]
	return t.exponent[b>>52&exponentMask] * m.cq, (math.Float64frombits(b&fractionBits|oneBits) - m.c) * m.inverse
}

// series returns (1+r)^q. Products are rounded before the sum, as in axpy; r is small, so that costs
// no accuracy.
func (t *power) series(r float64) float64 {
	c := &t.binomial
	return 1 + float64(r*(c[0]+float64(r*(c[1]+float64(r*(c[2]+float64(r*(c[3]+float64(r*c[4])))))))))
}

// flowPortable adds w_ij phi_p(q_i - q_j) to row i of flow and subtracts it from row j, for the edges
// of i to the given vertices: one power for both ends. The assembly does the same.
func (t *power) flowPortable(q, flow []float64, i int, to []int32, w []float64) {
	qi, out := (*[panel]float64)(q[i*panel:]), (*[panel]float64)(flow[i*panel:])
	w = w[:len(to)]
	for e, j := range to {
		qj, back := (*[panel]float64)(q[int(j)*panel:]), (*[panel]float64)(flow[int(j)*panel:])
		for c := range panel {
			d := qi[c] - qj[c]
			size, r := t.split(d)
			v := w[e] * math.Copysign(float64(size*t.series(r)), d)
			out[c] += v
			back[c] -= v
		}
	}
}

// phi returns phi_p(x).
func (t *power) phi(x float64) float64 {
	size, r := t.split(x)
	return math.Copysign(float64(size*t.series(r)), x)
}
