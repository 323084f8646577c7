package pretext

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"ssdl/methods/linalg"
)

// Descend minimises the sum of the quotients of the columns of Q (Eq. 6) on the graph W
// over orthonormal frames, from start, by m.T steps of
//
//	Q <- Q - beta Z,  Z = G - Q G^T Q   (Eq. 8)
//
// and returns the frame with its quotients (Eq. 9). Without a retraction the norms of the
// columns can only grow: Q^T Q = I + beta^2 Z^T Z after the first step. The steps end early
// if |Z|_F <= 1e-9 sqrt(M): for p = 2 and eigenvectors of L_2, at once.
//
// With Deflate the null vectors of start do not change, and the others remain orthogonal to them.
func (m PAHL) Descend(ctx context.Context, W *CSR, start Embedding) (Embedding, error) {
	n, cols := start.Q.Dims()
	kept := 0
	if m.Deflate {
		kept = start.Null
	}
	out := Embedding{Q: mat.DenseCopyOf(start.Q), Lambda: make([]float64, cols), Null: kept}
	if kept == cols {
		out.F1, out.Orthogonality = []float64{0}, orthogonality(out.Q)
		return out, nil
	}
	d := &descent{m: m, graph: newPGraph(W, m.P), Q: mat.DenseCopyOf(out.Q.Slice(0, n, kept, cols))}
	if kept > 0 {
		d.null = out.Q.Slice(0, n, 0, kept).(*mat.Dense)
	}
	run := d.luo
	if m.Step == "armijo" {
		run = d.armijo
	}
	if err := run(ctx); err != nil {
		return Embedding{}, err
	}
	out.Q.Slice(0, n, kept, cols).(*mat.Dense).Copy(d.Q)
	copy(out.Lambda[kept:], d.R)
	out.F1, out.Orthogonality = d.history, orthogonality(out.Q)
	for c, v := range out.Lambda {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Embedding{}, fmt.Errorf("pahl: the descent diverged: quotient %d is %v; use retraction qr or a smaller beta than %g", c, v, m.Beta)
		}
	}
	return out, nil
}

// descent is the state of Descend. Its frame has only the columns that change.
type descent struct {
	m       PAHL
	graph   *pGraph
	null    *mat.Dense // the columns that do not change, or nil
	Q       *mat.Dense
	R       []float64
	history []float64
}

// luo takes steps whose length is relative: beta sum|Q| / sum|Z|.
func (d *descent) luo(ctx context.Context) error {
	n, cols := d.Q.Dims()
	G, Z := mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil)
	for t := 0; ; t++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t == d.m.T {
			d.R = d.graph.evaluate(d.Q, nil, false)
			d.history = append(d.history, total(d.R))
			return nil
		}
		d.R = d.gradient(d.Q, G)
		d.history = append(d.history, total(d.R))
		d.project(Z, d.Q, G)
		if d.stationary(Z) {
			return nil
		}
		var err error
		if d.Q, err = d.step(d.Q, Z, d.m.Beta*sumAbs(d.Q)/sumAbs(Z)); err != nil {
			return err
		}
	}
}

// armijo halves the step until f_1 falls by 1e-4 of the decrease that the slope predicts, and doubles
// it for the next one. The first step is Luo's. It ends when no step lowers f_1 enough.
func (d *descent) armijo(ctx context.Context) error {
	n, cols := d.Q.Dims()
	G, next, Z := mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil)
	d.R = d.gradient(d.Q, G)
	f := total(d.R)
	d.history = append(d.history, f)
	beta := 0.0
	for t := range d.m.T {
		d.project(Z, d.Q, G)
		if d.stationary(Z) {
			return nil
		}
		if t == 0 {
			beta = d.m.Beta * sumAbs(d.Q) / sumAbs(Z)
		}
		slope := innerProduct(G, Z)
		for halvings := 0; ; halvings++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if halvings == 40 || !(slope > 0) {
				return nil
			}
			trial, err := d.step(d.Q, Z, beta)
			if err != nil {
				return err
			}
			R := d.gradient(trial, next)
			if g := total(R); g <= f-1e-4*beta*slope {
				d.Q, d.R, f = trial, R, g
				G, next = next, G
				break
			}
			beta /= 2
		}
		d.history = append(d.history, f)
		beta *= 2
	}
	return nil
}

// gradient sets G to the gradient at Q and returns the quotients.
func (d *descent) gradient(Q, G *mat.Dense) []float64 {
	R := d.graph.evaluate(Q, G, d.m.Gradient == "paper")
	if d.null != nil {
		var along mat.Dense
		along.Mul(d.null.T(), G)
		gemm(blas.NoTrans, blas.NoTrans, -1, d.null, &along, 1, G)
	}
	return R
}

// project sets Z = G - Q G^T Q.
func (d *descent) project(Z, Q, G *mat.Dense) {
	_, cols := Q.Dims()
	A := mat.NewDense(cols, cols, nil)
	gemm(blas.Trans, blas.NoTrans, 1, G, Q, 0, A)
	Z.Copy(G)
	gemm(blas.NoTrans, blas.NoTrans, -1, Q, A, 1, Z)
}

// stationary reports whether Z is 0 up to rounding. Luo's relative step would follow the rounding
// errors.
func (d *descent) stationary(Z *mat.Dense) bool {
	_, cols := Z.Dims()
	return innerProduct(Z, Z) <= 1e-18*float64(cols)
}

// step returns Q - beta Z, orthonormalised unless Retraction is none.
func (d *descent) step(Q, Z *mat.Dense, beta float64) (*mat.Dense, error) {
	next := mat.DenseCopyOf(Q)
	q, z := next.RawMatrix().Data, Z.RawMatrix().Data
	linalg.Parallel(len(q), 8192, func(lo, hi int) { axpy(q[lo:hi], -beta, z[lo:hi]) })
	if d.m.Retraction == "none" {
		return next, nil
	}
	return orthonormalised(next)
}

// orthonormalised returns the Q factor of the thin QR decomposition of A whose R has a
// positive diagonal, by Cholesky decomposition of A^T A. Steps from an orthonormal frame
// give A^T A = I + beta^2 Z^T Z, whose condition number is close to 1. If it is not, the result
// is decomposed once more.
func orthonormalised(A *mat.Dense) (*mat.Dense, error) {
	n, cols := A.Dims()
	for {
		gram := linalg.Gram(A)
		off := 0.0
		for i := range cols {
			for j, v := range gram.RawRowView(i) {
				if i == j {
					v--
				}
				off += float64(v * v)
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(mat.NewSymDense(cols, gram.RawMatrix().Data)) {
			return nil, fmt.Errorf("pahl: the columns of Q have become linearly dependent; use a smaller beta")
		}
		var R mat.TriDense
		chol.UTo(&R)
		var inverse mat.TriDense
		if err := inverse.InverseTri(&R); err != nil {
			return nil, fmt.Errorf("pahl: the columns of Q have become linearly dependent (%w); use a smaller beta", err)
		}
		Q := mat.NewDense(n, cols, nil)
		gemm(blas.NoTrans, blas.NoTrans, 1, A, mat.DenseCopyOf(&inverse), 0, Q)
		if off < 9 {
			return Q, nil
		}
		A = Q
	}
}

// gemm sets C = alpha op(A) op(B) + beta C.
func gemm(tA, tB blas.Transpose, alpha float64, A, B *mat.Dense, beta float64, C *mat.Dense) {
	blas64.Gemm(tA, tB, alpha, A.RawMatrix(), B.RawMatrix(), beta, C.RawMatrix())
}

// total returns the sum of v, added in order.
func total(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

// innerProduct returns <A, B>. Neither has gaps between rows.
func innerProduct(A, B *mat.Dense) float64 {
	a, b := A.RawMatrix().Data, B.RawMatrix().Data
	return chunkSum(len(a), func(lo, hi int) float64 { return dot(a[lo:hi], b[lo:hi]) })
}

// sumAbs returns the sum of the absolute entries of A.
func sumAbs(A *mat.Dense) float64 {
	a := A.RawMatrix().Data
	return chunkSum(len(a), func(lo, hi int) float64 {
		s := 0.0
		for _, v := range a[lo:hi] {
			s += math.Abs(v)
		}
		return s
	})
}

// chunkSum returns the sum of the sums over fixed chunks of 0..n, added in order.
func chunkSum(n int, sum func(lo, hi int) float64) float64 {
	const chunk = 8192
	parts := make([]float64, (n+chunk-1)/chunk)
	linalg.Parallel(n, chunk, func(lo, hi int) { parts[lo/chunk] = sum(lo, hi) })
	return total(parts)
}
