package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// gaussian returns a rows x cols matrix of standard normals.
func gaussian(r *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = Gaussian(r)
	}
	return m
}

// sweepByRows is the definition: one row after the other, J in full.
func sweepByRows(S, G, R *mat.Dense, alpha float64) {
	k, n := S.Dims()
	for i := range k {
		for c := range n {
			j := R.At(i, c)
			for q := range k {
				if q != i {
					j -= G.At(i, q) * S.At(q, c)
				}
			}
			v := 0.0
			if math.Abs(j) > alpha && G.At(i, i) > 0 {
				v = (j - math.Copysign(alpha, j)) / G.At(i, i)
			}
			S.Set(i, c, v)
		}
	}
}

func TestSweepIsTheRowSweep(t *testing.T) {
	// Sizes on both sides of the row blocks and the panels.
	for _, size := range [][2]int{{1, 1}, {7, 3}, {8, 24}, {16, 5}, {17, 300}, {200, 49}, {403, 40}} {
		k, n := size[0], size[1]
		r := rand.New(rand.NewPCG(uint64(k), uint64(n)))
		A := gaussian(r, max(k/2, 3), k)
		NormalizeColumns(A)
		dead := k / 3
		for i := range A.RawMatrix().Rows {
			A.Set(i, dead, 0)
		}
		G := Gram(A)
		var R mat.Dense
		R.Mul(A.T(), gaussian(r, A.RawMatrix().Rows, n))
		S := gaussian(r, k, n)
		S.Scale(0.1, S)
		want := mat.DenseCopyOf(S)
		// Rows of S that lie apart, as those of a part of a larger matrix do.
		wide := mat.NewDense(k, n+3, nil)
		part := wide.Slice(0, k, 2, n+2).(*mat.Dense)
		part.Copy(S)
		for _, alpha := range []float64{0.3, 0.01, 0} {
			sweepByRows(want, G, &R, alpha)
			Sweep(S, G, &R, alpha)
			Sweep(part, G, &R, alpha)
			if !mat.EqualApprox(S, want, 1e-11) {
				t.Errorf("K=%d, N=%d, alpha=%g: not the row sweep", k, n, alpha)
			}
			if !mat.Equal(part, S) {
				t.Errorf("K=%d, N=%d, alpha=%g: the stride of S changes the result", k, n, alpha)
			}
			for c := range n {
				if S.At(dead, c) != 0 {
					t.Fatalf("K=%d: the code of a zero atom is %g", k, S.At(dead, c))
				}
			}
		}
		for i := range k {
			if wide.At(i, 0) != 0 || wide.At(i, 1) != 0 || wide.At(i, n+2) != 0 {
				t.Fatal("Sweep wrote outside S")
			}
		}
	}
}

// lassoObjective is 0.5 tr(S^T G S) - tr(R^T S) + alpha |S|_1.
func lassoObjective(S, G, R *mat.Dense, alpha float64) float64 {
	var GS mat.Dense
	GS.Mul(G, S)
	f := 0.0
	k, n := S.Dims()
	for i := range k {
		for c := range n {
			v := S.At(i, c)
			f += v*(0.5*GS.At(i, c)-R.At(i, c)) + alpha*math.Abs(v)
		}
	}
	return f
}

// TestSweepKernelsAgree compares the bits of all kernels of this machine, and of a sample
// swept alone with those it has in company.
func TestSweepKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.IntRange(1, 50).Draw(t, "K"), rapid.IntRange(1, 60).Draw(t, "N")
		alpha := rapid.SampledFrom([]float64{0, 1e-3, 0.5, 1e9}).Draw(t, "alpha")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		G := Gram(gaussian(r, rapid.IntRange(1, 60).Draw(t, "dim"), k))
		R, S := gaussian(r, k, n), gaussian(r, k, n)
		want := mat.DenseCopyOf(S)
		sweep(portable, want, G, R, alpha)
		for _, kern := range kernels() {
			dirty := slices.Repeat([]float64{math.NaN()}, 1<<13) // what a buffer held must not matter
			buffers.Put(&dirty)
			got := mat.DenseCopyOf(S)
			sweep(kern, got, G, R, alpha)
			if d := differ(got.RawMatrix().Data, want.RawMatrix().Data); d != "" {
				t.Fatalf("%s: %s", kern.name, d)
			}
			j := rapid.IntRange(0, n-1).Draw(t, "sample")
			one := mat.DenseCopyOf(S.Slice(0, k, j, j+1))
			sweep(kern, one, G, mat.DenseCopyOf(R.Slice(0, k, j, j+1)), alpha)
			if !mat.Equal(one, want.Slice(0, k, j, j+1)) {
				t.Fatalf("%s: the codes of sample %d depend on the others", kern.name, j)
			}
		}
	})
}

func TestSweepNeverRaisesTheObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.IntRange(1, 60).Draw(t, "K"), rapid.IntRange(1, 9).Draw(t, "N")
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		alpha := rapid.SampledFrom([]float64{0, 1e-4, 0.1, 1}).Draw(t, "alpha")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		A := gaussian(r, dim, k)
		G := Gram(A)
		var R mat.Dense
		R.Mul(A.T(), gaussian(r, dim, n))
		S := gaussian(r, k, n)
		last := lassoObjective(S, G, &R, alpha)
		for range 5 {
			Sweep(S, G, &R, alpha)
			f := lassoObjective(S, G, &R, alpha)
			if f > last+1e-10*(1+math.Abs(last)) {
				t.Fatalf("the objective rose from %.17g to %.17g", last, f)
			}
			last = f
		}
	})
}

func TestSweepBitsDoNotDependOnWorkers(t *testing.T) {
	const k, n = 150, 600
	r := rand.New(rand.NewPCG(5, 5))
	A := gaussian(r, 100, k)
	G := Gram(A)
	var R mat.Dense
	R.Mul(A.T(), gaussian(r, 100, n))
	code := func(procs int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		S := mat.NewDense(k, n, nil)
		for range 3 {
			Sweep(S, G, &R, 0.1)
		}
		return S.RawMatrix().Data
	}
	one := code(1)
	for _, procs := range []int{2, 5} {
		if !slices.Equal(one, code(procs)) {
			t.Errorf("the codes differ with GOMAXPROCS=%d", procs)
		}
	}
}

// BenchmarkSweep compares the kernels with the matrix product of the same flops.
func BenchmarkSweep(b *testing.B) {
	for _, size := range [][2]int{{552, 1105}, {3336, 1024}} {
		k, n := size[0], size[1]
		r := rand.New(rand.NewPCG(1, 1))
		D, X := gaussian(r, 256, k), gaussian(r, 256, n)
		NormalizeColumns(D)
		NormalizeColumns(X)
		G := Gram(D)
		var R mat.Dense
		R.Mul(D.T(), X)
		S, C := mat.NewDense(k, n, nil), mat.NewDense(k, n, nil)
		for _, kern := range kernels() {
			b.Run(fmt.Sprintf("K=%d,N=%d/%s", k, n, kern.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					sweep(kern, S, G, &R, math.Ldexp(1, -12))
				}
				report(b, 2*float64(k*k*n))
			})
		}
		b.Run(fmt.Sprintf("K=%d,N=%d/product", k, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				C.Mul(G, S)
			}
			report(b, 2*float64(k*k*n))
		})
	}
}
