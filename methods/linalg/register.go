//go:build !openblas

package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

func init() {
	blas64.Use(active)
	lapack64.Use(lapackImplementation{})
}

// BLAS names the code behind the matrix products, for the record of a run: "go-avx512",
// "go-avx2" or "go-fma". These three give the same bits.
func BLAS() string { return active.kern.name }
