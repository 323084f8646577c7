package pretext

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// Laplacian is a symmetric Delta (N x N) that is never formed.
type Laplacian struct {
	// N is the number of samples.
	N int
	// Apply sets dst = Delta Y for Y and dst N x m; they do not overlap.
	Apply func(dst, Y *mat.Dense)
	// Top bounds the largest eigenvalue from above.
	Top float64
}

// Solution is the solution of the pseudo-label equation.
type Solution struct {
	// F is C x N.
	F *mat.Dense
	// DeltaMin estimates from above the smallest eigenvalue of Delta whose eigenvector has a part
	// in the right-hand sides.
	DeltaMin float64
	// Iterations is the number of conjugate gradient iterations until all rows of F converged.
	Iterations int
}

const (
	// cgTolerance ends the iteration of a row, cgAccept bounds its true residual afterwards. Both
	// are relative to the right-hand side.
	cgTolerance = 1e-13
	cgAccept    = 1e-10
	// cgRounding is the residual that rounding may leave, relative to |lambda I + Delta| |f|. With a
	// small lambda it exceeds cgAccept times the right-hand side, which is as small as lambda.
	cgRounding = 64 * 0x1p-52
)

// Solve returns the minimiser of tr(F Delta F^T) + lambda |F-O|_F^2 (Eq. 10), which is
// F = O (I + Delta/lambda)^-1: Eq. 11 with the inverse on the side that fits the dimensions
// of F and O (C x N). Conjugate gradients solve (lambda I + Delta) F^T = lambda O^T for all rows of F
// in lockstep, each with its own step lengths. A row that does not converge is an error.
func (l Laplacian) Solve(ctx context.Context, method string, O *mat.Dense, lambda float64) (Solution, error) {
	classes, n := O.Dims()
	if n != l.N {
		return Solution{}, fmt.Errorf("%s: labels of %d samples for a Laplacian of %d", method, n, l.N)
	}
	c := &conjugate{l: l, lambda: lambda, n: n, m: classes, active: make([]bool, classes)}
	c.x, c.r = mat.NewDense(n, classes, nil), transposed(O)
	c.r.Scale(lambda, c.r)
	c.ap = mat.NewDense(n, classes, nil)
	c.p = mat.DenseCopyOf(c.r)
	b2 := c.dots(c.r, c.r)
	if err := c.run(ctx, method, b2); err != nil {
		return Solution{}, err
	}

	// The residuals of the recurrence drift from the true ones, so compute these.
	c.apply(c.ap, c.x)
	o, ap := O.RawMatrix(), c.ap.RawMatrix()
	worst := make([]float64, classes)
	for j := range n {
		for i := range classes {
			d := lambda*o.Data[i*o.Stride+j] - ap.Data[j*ap.Stride+i]
			worst[i] += float64(d * d)
		}
	}
	x2 := c.dots(c.x, c.x)
	for i, w := range worst {
		allowed := cgAccept*math.Sqrt(b2[i]) + cgRounding*(l.Top+lambda)*math.Sqrt(x2[i])
		// The negation also catches NaN.
		if !(math.Sqrt(w) <= allowed) {
			return Solution{}, fmt.Errorf("%s: conjugate gradients left a relative residual of %.1e in row %d of F after %d iterations, want %.1e; raise lambda (%g)",
				method, math.Sqrt(w/b2[i]), i, c.iterations, allowed/math.Sqrt(b2[i]), lambda)
		}
	}
	return Solution{F: transposed(c.x), DeltaMin: c.smallest() - lambda, Iterations: c.iterations}, nil
}

// conjugate holds the state of m conjugate gradient iterations in lockstep; the vectors
// are the columns of n x m matrices.
type conjugate struct {
	l           Laplacian
	lambda      float64
	n, m        int
	x, r, p, ap *mat.Dense
	active      []bool
	iterations  int
	// steps[i] and turns[i] are the step lengths and direction updates of column i.
	steps, turns [][]float64
}

// apply sets dst = (lambda I + Delta) y.
func (c *conjugate) apply(dst, y *mat.Dense) {
	c.l.Apply(dst, y)
	d, s := dst.RawMatrix().Data, y.RawMatrix().Data
	linalg.Parallel(len(d), 8192, func(lo, hi int) { axpy(d[lo:hi], c.lambda, s[lo:hi]) })
}

func (c *conjugate) run(ctx context.Context, method string, b2 []float64) error {
	c.steps, c.turns = make([][]float64, c.m), make([][]float64, c.m)
	running := 0
	for i, b := range b2 {
		if c.active[i] = b > 0; c.active[i] {
			running++
		}
	}
	// The error falls at least as ((s-1)/(s+1))^t, where s^2 is the condition number. Twice the
	// steps that follow from this leave room for rounding.
	cond := (c.lambda + c.l.Top) / c.lambda
	limit := 50 + int(math.Sqrt(cond)*(math.Log(2/cgTolerance)+math.Log(cond)/2))
	rr := append([]float64(nil), b2...)
	alpha, beta := make([]float64, c.m), make([]float64, c.m)
	for ; running > 0 && c.iterations < limit; c.iterations++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.apply(c.ap, c.p)
		curvature := c.dots(c.p, c.ap)
		for i := range alpha {
			if alpha[i] = 0; !c.active[i] {
				continue
			}
			if !(curvature[i] > 0) {
				return fmt.Errorf("%s: I + Delta/lambda is not positive definite (row %d of F, iteration %d); raise lambda (%g)",
					method, i, c.iterations, c.lambda)
			}
			alpha[i] = rr[i] / curvature[i]
		}
		c.update(c.x, alpha, 1, c.p)
		c.update(c.r, alpha, -1, c.ap)
		next := c.dots(c.r, c.r)
		for i := range beta {
			if beta[i] = 0; !c.active[i] {
				continue
			}
			beta[i] = next[i] / rr[i]
			rr[i] = next[i]
			c.steps[i], c.turns[i] = append(c.steps[i], alpha[i]), append(c.turns[i], beta[i])
			if next[i] <= cgTolerance*cgTolerance*b2[i] {
				c.active[i] = false
				running--
			}
		}
		c.turn(beta)
	}
	return nil
}

// update adds sign*step[i] times column i of y to column i of dst.
func (c *conjugate) update(dst *mat.Dense, step []float64, sign float64, y *mat.Dense) {
	d, s := dst.RawMatrix().Data, y.RawMatrix().Data
	linalg.Parallel(c.n, rowGrain, func(lo, hi int) {
		for j := lo * c.m; j < hi*c.m; j += c.m {
			out, in := d[j:j+c.m], s[j:j+c.m]
			for i, a := range step {
				out[i] += float64(sign * a * in[i])
			}
		}
	})
}

// turn sets the search directions p = r + beta p.
func (c *conjugate) turn(beta []float64) {
	p, r := c.p.RawMatrix().Data, c.r.RawMatrix().Data
	linalg.Parallel(c.n, rowGrain, func(lo, hi int) {
		for j := lo * c.m; j < hi*c.m; j += c.m {
			out, in := p[j:j+c.m], r[j:j+c.m]
			for i, b := range beta {
				out[i] = in[i] + float64(b*out[i])
			}
		}
	})
}

// dots returns the products of equal columns of a and b.
func (c *conjugate) dots(a, b *mat.Dense) []float64 {
	x, y := a.RawMatrix().Data, b.RawMatrix().Data
	parts := make([]float64, (c.n+rowGrain-1)/rowGrain*c.m)
	linalg.Parallel(c.n, rowGrain, func(lo, hi int) {
		sum := parts[lo/rowGrain*c.m:][:c.m]
		for j := lo * c.m; j < hi*c.m; j += c.m {
			u, v := x[j:j+c.m], y[j:j+c.m]
			for i := range sum {
				sum[i] += float64(u[i] * v[i])
			}
		}
	})
	out := make([]float64, c.m)
	for k, v := range parts {
		out[k%c.m] += v
	}
	return out
}

// smallest returns the smallest eigenvalue of the tridiagonal matrices of the iterations: a Ritz
// value of lambda I + Delta.
func (c *conjugate) smallest() float64 {
	least := math.Inf(1)
	for i, steps := range c.steps {
		k := len(steps)
		if k == 0 {
			continue
		}
		diag, off := make([]float64, k), make([]float64, k)
		for t, a := range steps {
			diag[t] = 1 / a
			if t > 0 {
				diag[t] += c.turns[i][t-1] / steps[t-1]
			}
			off[t] = math.Sqrt(c.turns[i][t]) / a
		}
		if tridiagonalEigen(diag, off[:k-1], nil) {
			for _, v := range diag {
				least = min(least, v)
			}
		}
	}
	return least
}

// initialLabels returns O (C x N): one-hot if the label is known, fill otherwise. The row of a class
// without labelled samples stays 0, and so does that row of F: such a class is never predicted.
func initialLabels(p methods.Problem, fill float64) *mat.Dense {
	O := methods.OneHot(p.Labels, p.Classes, fill)
	known := make([]bool, p.Classes)
	for _, y := range p.Labels {
		if y != methods.Unlabeled {
			known[y] = true
		}
	}
	for c, ok := range known {
		if !ok {
			clear(O.RawRowView(c))
		}
	}
	return O
}

// traceSolution traces the solution's DeltaMin and Iterations, and the mean of F on the unlabelled
// columns.
func traceSolution(p methods.Problem, s Solution) {
	p.Trace.Add("delta_min", 0, s.DeltaMin)
	p.Trace.Add("cg_iterations", 0, float64(s.Iterations))
	sum, count := 0.0, 0
	for j, y := range p.Labels {
		if y == methods.Unlabeled {
			for c := range p.Classes {
				sum += s.F.At(c, j)
			}
			count += p.Classes
		}
	}
	if count > 0 {
		p.Trace.Add("mean_unlabelled", 0, sum/float64(count))
	}
}
