// Package linalg is the linear algebra of the methods, with the same bits on every machine and
// for every number of goroutines. It has two parts:
//
//   - kernels for gonum: the products Dgemm, Dsyrk, Dgemv, Ddot and Daxpy, the triangular
//     solves Dtrsm and Dtrsv and the Cholesky factorization Dpotrf, in assembly on amd64. Register
//     makes gonum use them; importing the package changes nothing. Built with the tag openblas,
//     Register takes the matrix products from OpenBLAS instead, whose bits vary;
//   - what gonum/mat lacks: loops split over goroutines with a fixed order of summation, Gram
//     matrices, column norms, coordinate descent sweeps and normal draws.
//
// It has no matrix type and no other factorization: QR and eigenvectors are gonum's, and use
// the kernels above for their products.
package linalg

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Parallel calls f on disjoint ranges [lo, hi) of grain items (the last may be
// shorter) that cover 0..n, on up to GOMAXPROCS goroutines. The ranges depend on n and
// grain only, not on the number of goroutines: if ranges write to separate memory, the results
// have the same bits on every machine.
func Parallel(n, grain int, f func(lo, hi int)) {
	grain = max(grain, 1)
	chunks := (n + grain - 1) / grain
	workers := min(runtime.GOMAXPROCS(0), chunks)
	if workers <= 1 {
		for lo := 0; lo < n; lo += grain {
			f(lo, min(lo+grain, n))
		}
		return
	}
	next := make(chan int, chunks)
	for c := range chunks {
		next <- c * grain
	}
	close(next)
	var wg sync.WaitGroup
	var once sync.Once
	var failure any
	for range workers {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					once.Do(func() { failure = r })
				}
			}()
			for lo := range next {
				f(lo, min(lo+grain, n))
			}
		})
	}
	wg.Wait()
	if failure != nil {
		panic(failure) // in the goroutine of the caller, who can recover it
	}
}

// Gram returns A^T A (n x n, both triangles filled) of A (m x n).
func Gram(A *mat.Dense) *mat.Dense {
	_, n := A.Dims()
	return gram(blas.Trans, A, n)
}

// Outer returns A A^T (m x m, both triangles filled) of A (m x n).
func Outer(A *mat.Dense) *mat.Dense {
	m, _ := A.Dims()
	return gram(blas.NoTrans, A, m)
}

func gram(t blas.Transpose, A *mat.Dense, n int) *mat.Dense {
	g := mat.NewDense(n, n, nil)
	raw := g.RawMatrix()
	blas64.Syrk(t, 1, A.RawMatrix(), 0, blas64.Symmetric{N: n, Stride: raw.Stride, Data: raw.Data, Uplo: blas.Upper})
	Mirror(g)
	return g
}

// Mirror copies the upper triangle of the square matrix g onto its lower triangle.
func Mirror(g *mat.Dense) {
	raw := g.RawMatrix()
	const tile = 64
	n := raw.Rows
	Parallel((n+tile-1)/tile, 1, func(lo, hi int) {
		for bi := lo * tile; bi < min(hi*tile, n); bi += tile {
			for bj := bi; bj < n; bj += tile {
				for i := bi; i < min(bi+tile, n); i++ {
					for j := max(bj, i+1); j < min(bj+tile, n); j++ {
						raw.Data[j*raw.Stride+i] = raw.Data[i*raw.Stride+j]
					}
				}
			}
		}
	})
}

// ColumnSquares returns the squared l2 norm of each column of A, summed in row order.
func ColumnSquares(A *mat.Dense) []float64 {
	raw := A.RawMatrix()
	out := make([]float64, raw.Cols)
	for i := range raw.Rows {
		for j, v := range raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols] {
			out[j] = math.FMA(v, v, out[j])
		}
	}
	return out
}

// NormalizeColumns scales each column of A to unit l2 norm in place; columns of norm
// zero stay zero. It returns the norms.
func NormalizeColumns(A *mat.Dense) []float64 {
	norms := ColumnSquares(A)
	inv := make([]float64, len(norms))
	for j, s := range norms {
		norms[j] = math.Sqrt(s)
		if norms[j] > 0 {
			inv[j] = 1 / norms[j]
		}
	}
	raw := A.RawMatrix()
	for i := range raw.Rows {
		row := raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols]
		for j := range row {
			row[j] *= inv[j]
		}
	}
	return norms
}

// Gaussian draws a standard normal by Marsaglia's polar method from the uniform bits of
// r. rand.NormFloat64 is not used because its bits change with GOAMD64.
func Gaussian(r *rand.Rand) float64 {
	for {
		u := 2*r.Float64() - 1
		v := 2*r.Float64() - 1
		s := math.FMA(u, u, float64(v*v))
		if s > 0 && s < 1 {
			return u * math.Sqrt(-2*math.Log(s)/s)
		}
	}
}
