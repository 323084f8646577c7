//go:build openblas

// Package openblas calls the three routines of OpenBLAS that package linalg replaces. It
// stands alone because a package with Go assembly cannot use cgo. The arguments are those of
// gonum's BLAS, checked by the caller, no matrix being empty but by k = 0.
package openblas

// #cgo LDFLAGS: -lopenblas
// #include <cblas.h>
import "C"

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
)

// Config tells version, kernels and threads. OpenBLAS picks its kernels by the processor,
// and its bits change with them and with the number of threads (environment variables
// OPENBLAS_CORETYPE and OPENBLAS_NUM_THREADS).
func Config() string {
	return fmt.Sprintf("%s, %d threads", C.GoString(C.openblas_get_config()), int(C.openblas_get_num_threads()))
}

// gonum's arguments are the characters of Fortran; CBLAS has numbers.
var (
	transposition = map[blas.Transpose]C.enum_CBLAS_TRANSPOSE{blas.NoTrans: C.CblasNoTrans, blas.Trans: C.CblasTrans, blas.ConjTrans: C.CblasTrans}
	triangle      = map[blas.Uplo]C.enum_CBLAS_UPLO{blas.Upper: C.CblasUpper, blas.Lower: C.CblasLower}
	side          = map[blas.Side]C.enum_CBLAS_SIDE{blas.Left: C.CblasLeft, blas.Right: C.CblasRight}
	diagonal      = map[blas.Diag]C.enum_CBLAS_DIAG{blas.NonUnit: C.CblasNonUnit, blas.Unit: C.CblasUnit}
)

// first returns where x begins; an empty x is never read.
func first(x []float64) *C.double {
	if len(x) == 0 {
		return nil
	}
	return (*C.double)(&x[0])
}

// Dgemm computes C = alpha op(A) op(B) + beta C.
func Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	C.cblas_dgemm(C.CblasRowMajor, transposition[tA], transposition[tB], C.int(m), C.int(n), C.int(k),
		C.double(alpha), first(a), C.int(lda), first(b), C.int(ldb), C.double(beta), first(c), C.int(ldc))
}

// Dsyrk computes a triangle of C = alpha op(A) op(A)^T + beta C.
func Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	C.cblas_dsyrk(C.CblasRowMajor, triangle[ul], transposition[tA], C.int(n), C.int(k),
		C.double(alpha), first(a), C.int(lda), C.double(beta), first(c), C.int(ldc))
}

// Dtrsm solves op(A) X = alpha B or X op(A) = alpha B.
func Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	C.cblas_dtrsm(C.CblasRowMajor, side[s], triangle[ul], transposition[tA], diagonal[d], C.int(m), C.int(n),
		C.double(alpha), first(a), C.int(lda), first(b), C.int(ldb))
}
