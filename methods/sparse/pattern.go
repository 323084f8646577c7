package sparse

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// patternCoder searches for one code at a time. It is the working space of one goroutine.
type patternCoder struct {
	G      blas64.General
	lambda float64

	r, start []float64 // A^T y; the code to start from
	s, g     []float64 // the code; A^T (y - A s)
	theta    []float64 // its pattern: -1, 0 or 1
	e, d     []float64 // right-hand side and solution of a system on the support
	gd, p    []float64 // G d; d stopped at changes of sign
	x        []float64
	breaks   []breakpoint

	support []int // the entries with theta != 0
	factor  blockFactor
}

func newPatternCoder(G blas64.General, lambda float64) *patternCoder {
	c := &patternCoder{G: G, lambda: lambda}
	k := G.Rows
	parts := []*[]float64{&c.r, &c.start, &c.s, &c.g, &c.theta, &c.e, &c.d, &c.gd, &c.p, &c.x}
	all := make([]float64, len(parts)*k)
	for i, p := range parts {
		*p = all[i*k : (i+1)*k]
	}
	c.support = make([]int, 0, k)
	return c
}

// load takes column j of R = A^T Y and of S, the codes to start from; store puts the code
// back.
func (c *patternCoder) load(S, R blas64.General, j int) {
	for i := range c.r {
		c.r[i] = R.Data[i*R.Stride+j]
		c.start[i] = S.Data[i*S.Stride+j]
	}
}

func (c *patternCoder) store(S blas64.General, j int) {
	for i, v := range c.s {
		S.Data[i*S.Stride+j] = v
	}
}

// mayEnter reports whether the zero entry i violates the optimality conditions.
func (c *patternCoder) mayEnter(i int, slack float64) bool {
	return math.Abs(c.g[i]) > c.lambda+slack && c.G.Data[i*c.G.Stride+i] > 0
}

// rounding estimates the error that rounding leaves in g.
func (c *patternCoder) rounding() float64 {
	largest, l1 := 0.0, 0.0
	for i, v := range c.r {
		largest = max(largest, math.Abs(v))
		l1 += math.Abs(c.s[i]) * math.Sqrt(c.G.Data[i*c.G.Stride+i])
	}
	return 64 * epsilon * (largest + l1)
}

// correlate sets g = r - G s.
func (c *patternCoder) correlate() {
	copy(c.g, c.r)
	c.addRows(-1, c.s, c.g)
}

// addRows adds f sum_i x_i G_i to y, G_i the rows of G; it skips the zeros of x.
func (c *patternCoder) addRows(f float64, x, y []float64) {
	k := len(y)
	to := blas64.Vector{N: k, Inc: 1, Data: y}
	for i, v := range x {
		if v != 0 {
			blas64.Axpy(f*v, blas64.Vector{N: k, Inc: 1, Data: c.G.Data[i*c.G.Stride : i*c.G.Stride+k]}, to)
		}
	}
}

// factorize prepares solve for the support of theta.
func (c *patternCoder) factorize() {
	c.support = c.support[:0]
	for i, t := range c.theta {
		if t != 0 {
			c.support = append(c.support, i)
		}
	}
	c.factor.setRaised(c.G, c.support)
}

// solve sets d to the solution of G_TT d_T = e_T on the support T, 0 elsewhere, up to the ridge of the
// factor; e is 0 outside T.
func (c *patternCoder) solve() {
	x := c.x[:len(c.support)]
	for p, i := range c.support {
		x[p] = c.e[i]
	}
	c.factor.solve(x)
	clear(c.d)
	for p, i := range c.support {
		c.d[i] = x[p]
	}
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
