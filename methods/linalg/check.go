package linalg

import "gonum.org/v1/gonum/blas"

// require panics like gonum's BLAS, with its words, if an argument is wrong.
func require(ok bool, wrong string) {
	if !ok {
		panic("blas: " + wrong)
	}
}

func checkSyrk(ul blas.Uplo, tA blas.Transpose, n, k int, a []float64, lda int, c []float64, ldc int) {
	require(ul == blas.Lower || ul == blas.Upper, "illegal triangle")
	require(tA == blas.NoTrans || tA == blas.Trans || tA == blas.ConjTrans, "illegal transpose")
	require(n >= 0, "n < 0")
	require(k >= 0, "k < 0")
	rows, cols := n, k
	if tA != blas.NoTrans {
		rows, cols = k, n
	}
	require(lda >= max(1, cols), "bad leading dimension of A")
	require(ldc >= max(1, n), "bad leading dimension of C")
	if n > 0 {
		require(len(a) >= lda*(rows-1)+cols, "insufficient length of a")
		require(len(c) >= ldc*(n-1)+n, "insufficient length of c")
	}
}

func checkTrsm(side blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, a []float64, lda int, b []float64, ldb int) {
	require(side == blas.Left || side == blas.Right, "illegal side")
	require(ul == blas.Lower || ul == blas.Upper, "illegal triangle")
	require(tA == blas.NoTrans || tA == blas.Trans || tA == blas.ConjTrans, "illegal transpose")
	require(d == blas.NonUnit || d == blas.Unit, "illegal diagonal")
	require(m >= 0, "m < 0")
	require(n >= 0, "n < 0")
	size := n
	if side == blas.Left {
		size = m
	}
	require(lda >= max(1, size), "bad leading dimension of A")
	require(ldb >= max(1, n), "bad leading dimension of B")
	if m > 0 && n > 0 {
		require(len(a) >= lda*(size-1)+size, "insufficient length of a")
		require(len(b) >= ldb*(m-1)+n, "insufficient length of b")
	}
}

func checkTrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	require(ul == blas.Lower || ul == blas.Upper, "illegal triangle")
	require(tA == blas.NoTrans || tA == blas.Trans || tA == blas.ConjTrans, "illegal transpose")
	require(d == blas.NonUnit || d == blas.Unit, "illegal diagonal")
	require(n >= 0, "n < 0")
	require(lda >= max(1, n), "bad leading dimension of A")
	require(incX != 0, "zero x index increment")
	if n > 0 {
		require(len(a) >= lda*(n-1)+n, "insufficient length of a")
		require(len(x) > (n-1)*max(incX, -incX), "insufficient length of x")
	}
}
