package linalg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// The sizes are the samples of a small dataset, a power of two and the samples of a class
// of half a large dataset.
var benchSizes = []int{1105, 2048, 3336}

type contender struct {
	name string
	blas.Float64
}

// contenders are the registered BLAS (OpenBLAS if the build has it), the kernels of this
// machine, and gonum's own code.
func contenders() []contender {
	var c []contender
	if _, own := blas64.Implementation().(implementation); !own {
		c = append(c, contender{"registered", blas64.Implementation()})
	}
	for _, k := range kernels() {
		c = append(c, contender{k.name, implementation{kern: k}})
	}
	return append(c, contender{"gonum", gonum.Implementation{}})
}

func randoms(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
	return x
}

// benchmark times run(l, n) for each contender and size; flops is the work for n = 1.
func benchmark(b *testing.B, flops float64, run func(l blas.Float64, n int, x, y, z []float64)) {
	for _, n := range benchSizes {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		x, y, z := randoms(r, n*n), randoms(r, n*n), make([]float64, n*n)
		for i := range n {
			x[i*n+i] = float64(n) // for the triangular solve
		}
		for _, l := range contenders() {
			b.Run(fmt.Sprintf("n=%d/%s", n, l.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					run(l, n, x, y, z)
				}
				report(b, flops*float64(n)*float64(n)*float64(n))
			})
		}
	}
}

func report(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkDgemm(b *testing.B) {
	benchmark(b, 2, func(l blas.Float64, n int, x, y, z []float64) {
		l.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n)
	})
}

func BenchmarkDsyrk(b *testing.B) {
	benchmark(b, 1, func(l blas.Float64, n int, x, _, z []float64) {
		l.Dsyrk(blas.Upper, blas.Trans, n, n, 1, x, n, 0, z, n)
	})
}

func BenchmarkDtrsm(b *testing.B) {
	benchmark(b, 1, func(l blas.Float64, n int, x, y, z []float64) {
		copy(z, y)
		l.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, n, n, 1, x, n, z, n)
	})
}

func BenchmarkDtrsv(b *testing.B) {
	for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		r := rand.New(rand.NewPCG(1, 2))
		const n = 1300
		x, y := randoms(r, n*n), randoms(r, n)
		for i := range n {
			x[i*n+i] = n
		}
		for _, l := range contenders() {
			b.Run(fmt.Sprintf("%c/%s", tA, l.name), func(b *testing.B) {
				for b.Loop() {
					l.Dtrsv(blas.Lower, tA, blas.NonUnit, n, x, n, y, 1)
				}
				report(b, n*n)
			})
		}
	}
}

// BenchmarkCholesky is mat.Cholesky.Factorize, the condition estimate included.
func BenchmarkCholesky(b *testing.B) {
	wasBLAS := blas64.Implementation()
	defer func() {
		blas64.Use(wasBLAS)
		lapack64.Use(lapackImplementation{})
	}()
	for _, n := range benchSizes {
		x := randoms(rand.New(rand.NewPCG(1, uint64(n))), n*n)
		a := mat.NewSymDense(n, x)
		for i := range n {
			a.SetSym(i, i, float64(n))
		}
		for _, l := range contenders() {
			var la lapack.Float64 = lapackImplementation{}
			if l.name == "gonum" {
				la = lapackgonum.Implementation{}
			}
			b.Run(fmt.Sprintf("n=%d/%s", n, l.name), func(b *testing.B) {
				blas64.Use(l)
				lapack64.Use(la)
				b.ReportAllocs()
				for b.Loop() {
					var c mat.Cholesky
					if !c.Factorize(a) {
						b.Fatal("not positive definite")
					}
				}
				report(b, float64(n)*float64(n)*float64(n)/3)
			})
		}
	}
}
