package sparse

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// follow goes from zero towards the minimum along a path, up to a duality gap: sqrt(|b_j|^2 + mu^2) replaces
// |b_j|, and mu becomes smaller. The steps are the primal-dual ones of Chan, Golub and Mulet ("A nonlinear
// primal-dual method for total variation-based image restoration", SIAM J. Sci. Comput. 20, 1999): a vector
// w_j of length at most 1 stands for b_j / sqrt(|b_j|^2 + mu^2), so that the Hessian stays positive definite
// for small mu. If columns are linearly dependent, Newton's method on the nonzero pairs may not find the
// pairs to drop; the path does. Pairs that end below mu become zero.
func (c *pairCoder) follow(ctx context.Context, yy, gap float64) {
	c.set = c.set[:0]
	mu := 0.0
	for j := range c.n {
		i := c.n + j
		c.s[j], c.s[i] = 0, 0
		gjj := c.g.Data[j*c.g.Stride+j]
		if c.in[j] = gjj != 0; c.in[j] {
			c.set = append(c.set, j)
			mu = max(mu, math.Hypot(c.r[j], c.r[i])/gjj)
		}
	}
	m := len(c.set)
	u, w := make([]float64, 2*m), make([]float64, 2*m) // b over its smooth modulus, and what stands for it
	d, size := make([]float64, 2*m), make([]float64, m)
	H := blas64.Symmetric{N: 2 * m, Stride: 2 * m, Data: make([]float64, 4*m*m), Uplo: blas.Lower}
	dv := blas64.Vector{N: 2 * m, Inc: 1, Data: d}
	for range pathSteps {
		c.correlate()
		if c.gap(yy) <= gap || ctx.Err() != nil {
			break
		}
		for p := range 2 * m {
			row := c.g.Data[c.entry(p)*c.g.Stride:]
			for q := range p + 1 {
				H.Data[p*2*m+q] = row[c.entry(q)]
			}
		}
		worst := 0.0 // of the gradient, over the pairs
		for p, j := range c.set {
			q, i := m+p, c.n+j
			size[p] = math.Hypot(math.Hypot(c.s[j], c.s[i]), mu)
			u[p], u[q] = c.s[j]/size[p], c.s[i]/size[p]
			d[p], d[q] = c.e[j]-c.lambda*u[p], c.e[i]-c.lambda*u[q]
			worst = max(worst, math.Hypot(d[p], d[q]))
			f := c.lambda / size[p]
			H.Data[p*2*m+p] += f * (1 - u[p]*w[p])
			H.Data[q*2*m+q] += f * (1 - u[q]*w[q])
			H.Data[q*2*m+p] -= f * 0.5 * (u[p]*w[q] + u[q]*w[p])
			H.Data[p*2*m+p] *= 1 + ridgeShare
			H.Data[q*2*m+q] *= 1 + ridgeShare
		}
		t, ok := lapack64.Potrf(H)
		if !ok {
			break
		}
		blas64.Trsv(blas.NoTrans, t, dv)
		blas64.Trsv(blas.Trans, t, dv)
		for p, j := range c.set {
			q, i := m+p, c.n+j
			along := (u[p]*d[p] + u[q]*d[q]) / size[p]
			w[p], w[q] = u[p]+d[p]/size[p]-w[p]*along, u[q]+d[q]/size[p]-w[q]*along
			if length := math.Hypot(w[p], w[q]); length > 1 {
				w[p], w[q] = w[p]/length, w[q]/length
			}
			c.s[j] += d[p]
			c.s[i] += d[q]
		}
		if worst <= centred*c.lambda {
			mu /= 2
		}
	}
	kept := c.set[:0]
	for _, j := range c.set {
		i := c.n + j
		if c.in[j] = math.Hypot(c.s[j], c.s[i]) > mu; c.in[j] {
			kept = append(kept, j)
		} else {
			c.s[j], c.s[i] = 0, 0
		}
	}
	c.set = kept
}
