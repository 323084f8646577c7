package dictionary

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/linalg"
)

// Steps minimises, in turn over S, D and B, the objective of SSDL (Eq. 12),
//
//	f = ||X - D S||^2 + 2 alpha |S|_1 + gamma ||F - B S||^2,
//	||d_k|| <= 1, ||b_k|| <= 1,
//
// with X dim x N, F C x N, D dim x K, B C x K and S K x N. Each elementary update (a row of
// S, an atom, a column of B) is the exact minimiser in the unit ball given the rest, so f never
// rises. On the unit sphere, as in the paper's formulas, each is the exact minimiser on the sphere:
// f never rises from a start on the sphere; from a start inside, the first iteration may raise it.
//
// One iteration takes 4KN(dim+C) + 3K^2 N + 3K^2(dim+C) flops, nearly all in products of
// matrices, and allocates no matrix.
type Steps struct {
	x, f         *mat.Dense
	alpha, gamma float64
	sweep        atomSweep

	// Atoms are rows here, which keeps each contiguous.
	d, b *mat.Dense // D^T, K x dim; B^T, K x C
	s    *mat.Dense // K x N

	g, r     *mat.Dense // D^T D + gamma B^T B, K x K, always that of d and b; D^T X + gamma B^T F, K x N
	a        *mat.Dense // S S^T, K x K
	v, u     *mat.Dense // S X^T, K x dim; S F^T, K x C
	constant float64    // ||X||^2 + gamma ||F||^2
}

// NewSteps starts from D (dim x K), B (C x K) and S = 0. It keeps X and F, which it never
// changes, and copies D and B.
func NewSteps(X, F, D, B *mat.Dense, alpha, gamma float64, sphere bool) *Steps {
	dim, n := X.Dims()
	classes, k := B.Dims()
	s := &Steps{
		x: X, f: F, alpha: alpha, gamma: gamma, sweep: atomSweep{sphere: sphere, dead: deadAtom},
		d: mat.DenseCopyOf(D.T()), b: mat.DenseCopyOf(B.T()), s: mat.NewDense(k, n, nil),
		g: mat.NewDense(k, k, nil), r: mat.NewDense(k, n, nil), a: mat.NewDense(k, k, nil),
		v: mat.NewDense(k, dim, nil), u: mat.NewDense(k, classes, nil),
		constant: squareSum(X) + float64(gamma*squareSum(F)),
	}
	s.gram()
	return s
}

// D returns a copy of the dictionary, dim x K.
func (s *Steps) D() *mat.Dense { return mat.DenseCopyOf(s.d.T()) }

// B returns a copy of the classifier, C x K.
func (s *Steps) B() *mat.Dense { return mat.DenseCopyOf(s.b.T()) }

// S returns the codes, K x N; Iterate changes them in place.
func (s *Steps) S() *mat.Dense { return s.s }

// Objective returns f of the current D, B and S, from products that Iterate has computed:
//
//	f = ||X||^2 + gamma ||F||^2 - 2<D, X S^T> - 2 gamma <B, F S^T> + <G, S S^T> + 2 alpha |S|_1.
//
// Its rounding error is some 1e-16 (||X||^2 + gamma ||F||^2).
func (s *Steps) Objective() float64 {
	return s.constant - 2*(inner(s.d, s.v)+float64(s.gamma*inner(s.b, s.u))) + inner(s.g, s.a) + float64(2*s.alpha*absSum(s.s))
}

// Iterate updates every row of S, then every atom of D, then every column of B, once.
func (s *Steps) Iterate(ctx context.Context) error {
	if err := s.UpdateCodes(ctx); err != nil {
		return err
	}
	return s.UpdateAtoms(ctx)
}

// UpdateCodes makes one sweep over the rows of S: Eq. 13 and 14, with the soft threshold.
func (s *Steps) UpdateCodes(ctx context.Context) error {
	gemm(blas.NoTrans, 1, s.d, s.x, 0, s.r)
	gemm(blas.NoTrans, s.gamma, s.b, s.f, 1, s.r)
	if err := ctx.Err(); err != nil {
		return err
	}
	linalg.Sweep(s.s, s.g, s.r, s.alpha)
	return ctx.Err()
}

// UpdateAtoms makes one sweep over the atoms of D and one over the columns of B.
func (s *Steps) UpdateAtoms(ctx context.Context) error {
	outer(s.a, s.s)
	gemm(blas.Trans, 1, s.s, s.x, 0, s.v)
	gemm(blas.Trans, 1, s.s, s.f, 0, s.u)
	if err := ctx.Err(); err != nil {
		return err
	}
	s.sweep.run(s.d, s.v, s.a) // Eq. 15
	s.sweep.run(s.b, s.u, s.a) // Eq. 16: the same problem with F for X, gamma cancels
	s.gram()
	return ctx.Err()
}

// gram sets G = D^T D + gamma B^T B.
func (s *Steps) gram() {
	g := s.g.RawMatrix()
	upper := blas64.Symmetric{N: g.Rows, Stride: g.Stride, Data: g.Data, Uplo: blas.Upper}
	blas64.Syrk(blas.NoTrans, 1, s.d.RawMatrix(), 0, upper)
	blas64.Syrk(blas.NoTrans, s.gamma, s.b.RawMatrix(), 1, upper)
	linalg.Mirror(s.g)
}

// gemm sets C = a A op(B) + b C.
func gemm(opB blas.Transpose, a float64, A, B *mat.Dense, b float64, C *mat.Dense) {
	blas64.Gemm(blas.NoTrans, opB, a, A.RawMatrix(), B.RawMatrix(), b, C.RawMatrix())
}

// outer sets A = S S^T.
func outer(A, S *mat.Dense) {
	a := A.RawMatrix()
	blas64.Syrk(blas.NoTrans, 1, S.RawMatrix(), 0,
		blas64.Symmetric{N: a.Rows, Stride: a.Stride, Data: a.Data, Uplo: blas.Upper})
	linalg.Mirror(A)
}

// inner returns <A, B>, summed row by row.
func inner(A, B *mat.Dense) float64 {
	rows, _ := A.Dims()
	sum := 0.0
	for i := range rows {
		sum += dot(A.RawRowView(i), B.RawRowView(i))
	}
	return sum
}

func squareSum(A *mat.Dense) float64 { return inner(A, A) }

// absSum returns |A|_1, summed row by row.
func absSum(A *mat.Dense) float64 {
	rows, cols := A.Dims()
	sum := 0.0
	for i := range rows {
		sum += blas64.Asum(blas64.Vector{N: cols, Inc: 1, Data: A.RawRowView(i)})
	}
	return sum
}
