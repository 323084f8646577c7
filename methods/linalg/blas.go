package linalg

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// implementation is gonum's BLAS with the products and Dtrsm replaced. Their results have
// the same bits on every machine and for every number of goroutines, because the
// arithmetic of each element is fixed.
//
// Dgemm and Dsyrk: cut the index l = 0 .. k-1 of the sums into blocks of 384, the last one shorter
// if necessary. An element c of C is computed by
//
//	c = beta c                  if beta != 0, rounded; if beta = 0 the old c is not read
//	t = fma(a_l, b_l, t)        for l of the first block in order, from t = +0
//	c = alpha t                 if beta = 0
//	c = fma(alpha, t, c)        if beta != 0
//	for each further block: t as above, again from +0, and c = fma(alpha, t, c)
//
// It has the same bits in a product as in any part of it with the same k, and the
// same from Dsyrk as from Dgemm. If alpha = 0 or k = 0 the factors are not read and
// C = beta C. Zeros are not skipped: 0 times an infinity or a NaN gives NaN. The sign and payload
// of a NaN are not fixed.
//
// Dtrsm: see system. The bits of an unknown depend on A, alpha and its own right-hand side,
// not on the number of right-hand sides.
type implementation struct {
	gonum.Implementation
	kern *kernel
}

// active has the fastest kernels of this machine.
var active = implementation{kern: kernels()[0]}

// gonumBLAS is what BLAS returns as long as gonum computes with its own code.
const gonumBLAS = "gonum"

// Dgemm computes C = alpha op(A) op(B) + beta C, with C of m x n and sums of k terms. It
// panics on arguments that the BLAS forbids, with the words of gonum's.
func (l implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	// With alpha = 0 and beta = 1 gonum's code checks its arguments and returns.
	l.Implementation.Dgemm(tA, tB, m, n, k, 0, a, lda, b, ldb, 1, c, ldc)
	p := product{
		m: m, n: n, k: k, alpha: alpha, beta: beta, c: c, ldc: ldc,
		a: rowsOf(a, lda, tA != blas.NoTrans),
		b: rowsOf(b, ldb, tB == blas.NoTrans),
	}
	p.run(l.kern)
}

// Dsyrk computes one triangle of C = alpha op(A) op(A)^T + beta C, with C of n x n and sums
// of k terms. It does not touch the other triangle. It panics on arguments that the BLAS
// forbids, with the words of gonum's.
func (l implementation) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	checkSyrk(ul, tA, n, k, a, lda, c, ldc)
	at := rowsOf(a, lda, tA != blas.NoTrans)
	p := product{m: n, n: n, k: k, alpha: alpha, a: at, b: at, beta: beta, c: c, ldc: ldc, part: lower}
	if ul == blas.Upper {
		p.part = upper
	}
	p.run(l.kern)
}

// Dtrsm overwrites B (m x n) by the solution X of op(A) X = alpha B (side Left) or of
// X op(A) = alpha B (side Right), with A triangular. As everywhere in the BLAS a zero on the
// diagonal of A gives infinities or NaN. It panics on arguments that the BLAS forbids, with
// the words of gonum's.
func (l implementation) Dtrsm(side blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	checkTrsm(side, ul, tA, d, m, n, a, lda, b, ldb)
	if m == 0 || n == 0 {
		return
	}
	scale(alpha, full, m, n, b, ldb)
	if alpha == 0 {
		return
	}
	left, trans := side == blas.Left, tA != blas.NoTrans
	opLower := (ul == blas.Lower) != trans
	s := system{
		kern: l.kern, left: left, forward: opLower == left, trans: trans, unit: d == blas.Unit,
		a: a, lda: lda, b: b, ldb: ldb, sides: m,
	}
	size := n
	if left {
		size, s.sides = m, n
	}
	s.solve(0, size)
}
