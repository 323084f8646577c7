//go:build openblas

package linalg

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"

	"ssdl/methods/linalg/internal/openblas"
)

// Register makes gonum compute with OpenBLAS and the Cholesky factorization of this package. It
// changes the whole process: call it once, before the first product.
func Register() {
	blas64.Use(foreign{})
	lapack64.Use(lapackImplementation{})
}

// BLAS names the code that computes gonum's matrix products, for the record of a run: OpenBLAS
// with its configuration, or "gonum" without Register.
func BLAS() string {
	if _, ok := blas64.Implementation().(foreign); ok {
		return "openblas (not bit-reproducible): " + openblas.Config()
	}
	return gonumBLAS
}

// foreign is gonum's BLAS with the routines of implementation taken from OpenBLAS.
type foreign struct{ gonum.Implementation }

func (f foreign) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	// With alpha = 0 and beta = 1 gonum's code checks its arguments and returns.
	f.Implementation.Dgemm(tA, tB, m, n, k, 0, a, lda, b, ldb, 1, c, ldc)
	if m > 0 && n > 0 {
		openblas.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

func (foreign) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	checkSyrk(ul, tA, n, k, a, lda, c, ldc)
	if n > 0 {
		openblas.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

func (foreign) Dtrsm(side blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	checkTrsm(side, ul, tA, d, m, n, a, lda, b, ldb)
	if m > 0 && n > 0 {
		openblas.Dtrsm(side, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}
