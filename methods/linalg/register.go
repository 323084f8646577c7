//go:build !openblas

package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Register makes gonum compute with the kernels of this package. It changes the whole process:
// call it once, before the first product.
func Register() {
	blas64.Use(active)
	lapack64.Use(lapackImplementation{})
}

// BLAS names the code that computes gonum's matrix products, for the record of a run:
// "go-avx512", "go-avx2" or "go-fma", which give the same bits, or "gonum" without Register.
func BLAS() string {
	if own, ok := blas64.Implementation().(implementation); ok {
		return own.kern.name
	}
	return gonumBLAS
}
