package sparse

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

const (
	// settleSteps bounds the primal-dual steps of a code; on real features 1 to 4 are enough.
	settleSteps = 40
	// ridgeShare of G_kk is added to each diagonal entry of the systems of the active set: it
	// gives dependent columns a factor. It does not change the answer, because a second solve
	// removes the residual of the equations without it.
	ridgeShare = 1e-11
	// epsilon is the rounding unit of a float64.
	epsilon = 0x1p-53
)

// patternCoder finds one code at a time. It is the working space of one goroutine.
type patternCoder struct {
	G       blas64.General
	inverse *gramInverse
	lambda  float64

	r, start []float64 // A^T y; the code to start from
	s, g     []float64 // the code; A^T (y - A s)
	theta    []float64 // its pattern: -1, 0 or 1
	e, d     []float64 // right-hand side and solution of a system on the support
	gd, p    []float64 // for descend: G d; d stopped at changes of sign
	breaks   []breakpoint

	support, rest []int     // the entries with theta != 0, and the others
	byRest        bool      // the factor is that of the inverse's block at rest
	factor        []float64 // lower triangle, of order len(support) or len(rest)
	x             []float64
	share         float64 // of G_kk on the diagonal of the factor
}

func newPatternCoder(G blas64.General, inverse *gramInverse, lambda float64) *patternCoder {
	c := &patternCoder{G: G, inverse: inverse, lambda: lambda}
	k := G.Rows
	parts := []*[]float64{&c.r, &c.start, &c.s, &c.g, &c.theta, &c.e, &c.d, &c.gd, &c.p, &c.x}
	all := make([]float64, len(parts)*k)
	for i, p := range parts {
		*p = all[i*k : (i+1)*k]
	}
	c.support, c.rest = make([]int, 0, k), make([]int, 0, k)
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

// settle is the primal-dual active set. From the pattern of the start it solves, drops the entries
// whose sign is not that of the pattern, and adds those with |g_i| > lambda, until the pattern
// stays. It returns the duality gap of the code, or NaN if the pattern does not settle.
func (c *patternCoder) settle(ctx context.Context, yy float64) float64 {
	for i, v := range c.start {
		c.theta[i] = sign(v)
	}
	for step := 0; step < settleSteps && ctx.Err() == nil; step++ {
		c.factorize()
		c.solvePattern()
		slack := c.rounding()
		changed := false
		for i, t := range c.theta {
			switch {
			case t != 0 && c.s[i]*t <= 0:
				c.theta[i], changed = 0, true
			case t == 0 && c.mayEnter(i, slack):
				c.theta[i], changed = sign(c.g[i]), true
			}
		}
		if !changed {
			c.refine()
			return dualityGap(c.s, c.g, c.r, c.lambda, yy)
		}
	}
	return math.NaN()
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

// solvePattern sets s to the minimum with the pattern theta, signs not enforced, and g.
func (c *patternCoder) solvePattern() {
	clear(c.e)
	for _, i := range c.support {
		c.e[i] = c.r[i] - c.lambda*c.theta[i]
	}
	c.solve()
	copy(c.s, c.d)
	c.correlate()
}

// refine solves once more for the residual that rounding and the ridge leave.
func (c *patternCoder) refine() {
	c.imbalance()
	c.solve()
	for _, i := range c.support {
		if v := c.s[i] + c.d[i]; v*c.theta[i] > 0 {
			c.s[i] = v
		}
	}
	c.correlate()
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

// factorize prepares solve for the support T of theta. It takes the smaller system: that of G_TT, or
// that of P_ZZ if only a few entries Z are not in T and G is well enough conditioned to have an
// inverse P.
func (c *patternCoder) factorize() {
	c.support, c.rest = c.support[:0], c.rest[:0]
	for i, t := range c.theta {
		if t != 0 {
			c.support = append(c.support, i)
		} else {
			c.rest = append(c.rest, i)
		}
	}
	if 2*len(c.rest) <= len(c.support) {
		if P, ok := c.inverse.get(); ok && c.factorizeBlock(P, c.rest, 0) {
			c.byRest, c.share = true, ridgeShare
			return
		}
	}
	c.byRest = false
	// With a share of 1 the block is positive definite for every G.
	for c.share = ridgeShare; !c.factorizeBlock(c.G, c.support, c.share) && c.share < 1; {
		c.share = min(1e3*c.share, 1)
	}
}

// factorizeBlock sets factor to the Cholesky factor of the block of A at idx, its diagonal
// raised by a share of itself.
func (c *patternCoder) factorizeBlock(A blas64.General, idx []int, share float64) bool {
	n := len(idx)
	if n == 0 {
		return true
	}
	if cap(c.factor) < n*n {
		c.factor = make([]float64, min(n+n/2, len(c.s))*min(n+n/2, len(c.s)))
	}
	f := c.factor[:n*n]
	for p, i := range idx {
		row, to := A.Data[i*A.Stride:], f[p*n:(p+1)*n]
		for q, j := range idx[:p+1] {
			to[q] = row[j]
		}
		to[p] *= 1 + share
	}
	_, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: f, Uplo: blas.Lower})
	return ok
}

// solveFactor overwrites x by the solution of the factored system.
func (c *patternCoder) solveFactor(x []float64) {
	if n := len(x); n > 0 {
		t := blas64.Triangular{N: n, Stride: n, Data: c.factor[:n*n], Uplo: blas.Lower, Diag: blas.NonUnit}
		v := blas64.Vector{N: n, Inc: 1, Data: x}
		blas64.Trsv(blas.NoTrans, t, v)
		blas64.Trsv(blas.Trans, t, v)
	}
}

// solve sets d to the solution of G_TT d_T = e_T on the support T, 0 elsewhere, up to the
// ridge; e is 0 outside T. With the inverse P and the rest Z, G d = e - mu with mu on Z only
// such that d_Z = 0, so P_ZZ mu = (P e)_Z and d = P e - P_Z mu.
func (c *patternCoder) solve() {
	k := len(c.s)
	if !c.byRest {
		x := c.x[:len(c.support)]
		for p, i := range c.support {
			x[p] = c.e[i]
		}
		c.solveFactor(x)
		clear(c.d)
		for p, i := range c.support {
			c.d[i] = x[p]
		}
		return
	}
	P, _ := c.inverse.get()
	d := blas64.Vector{N: k, Inc: 1, Data: c.d}
	blas64.Gemv(blas.NoTrans, 1, P, blas64.Vector{N: k, Inc: 1, Data: c.e}, 0, d)
	mu := c.x[:len(c.rest)]
	for p, i := range c.rest {
		mu[p] = c.d[i]
	}
	c.solveFactor(mu)
	for p, i := range c.rest {
		blas64.Axpy(-mu[p], blas64.Vector{N: k, Inc: 1, Data: P.Data[i*P.Stride : i*P.Stride+k]}, d)
	}
	for _, i := range c.rest {
		c.d[i] = 0
	}
}

// gramInverse is (G + ridge)^-1, computed when the first code needs it.
type gramInverse struct {
	g    blas64.General
	once sync.Once
	p    blas64.General
	ok   bool
}

// inverseLimit bounds the diagonal entries of the inverse relative to 1/G_ii: that is
// 1/(1 - the squared multiple correlation of column i with the others).
const inverseLimit = 1e7

// get returns the inverse, or false if G is too close to singular.
func (v *gramInverse) get() (blas64.General, bool) {
	v.once.Do(func() {
		v.p, v.ok = inverse(v.g, func(gii float64) float64 {
			if gii > 0 {
				return ridgeShare * gii
			}
			return 1 // a zero column: any number keeps it apart from the others
		})
		for i := 0; v.ok && i < v.g.Rows; i++ {
			v.ok = v.p.Data[i*v.p.Stride+i]*v.g.Data[i*v.g.Stride+i] <= inverseLimit
		}
	})
	return v.p, v.ok
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
