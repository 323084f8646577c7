package linalg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"
)

// strided is a vector of n elements inc apart, with the marker between them.
func strided(r *rand.Rand, n, inc int) []float64 {
	step := max(inc, -inc)
	x := make([]float64, max((n-1)*step+1, 0)+2)
	for i := range x {
		x[i] = marker
		if i%step == 0 && i/step < n {
			x[i] = 2*r.Float64() - 1
		}
	}
	return x
}

// element is element i of such a vector, as the BLAS counts.
func element(x []float64, n, inc, i int) *float64 {
	if inc < 0 {
		return &x[(n-1-i)*-inc]
	}
	return &x[i*inc]
}

// innerProduct is the definition of Ddot.
func innerProduct(x, y []float64) float64 {
	var t [lanes]float64
	for i := range x {
		t[i%lanes] = math.FMA(x[i], y[i], t[i%lanes])
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for j := range half {
			t[j] += t[half+j]
		}
	}
	return t[0]
}

func TestVectorKernels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		n := drawSize(t, "n", 8, 32, 64, 100)
		incX, incY := rapid.SampledFrom([]int{1, 1, 2, -1, -3}).Draw(t, "incX"), rapid.SampledFrom([]int{1, 1, 3, -1, -2}).Draw(t, "incY")
		alpha := drawScalar(t, "alpha")
		x, y := strided(r, n, incX), strided(r, n, incY)
		if rapid.Bool().Draw(t, "special") && n > 0 {
			*element(x, n, incX, r.IntN(n)) = rapid.SampledFrom([]float64{math.NaN(), math.Inf(-1), 0, math.MaxFloat64}).Draw(t, "value")
		}
		u, v := make([]float64, n), make([]float64, n)
		for i := range n {
			u[i], v[i] = *element(x, n, incX, i), *element(y, n, incY, i)
		}
		for _, kern := range kernels() {
			l := implementation{kern: kern}
			if got, want := l.Ddot(n, x, incX, y, incY), innerProduct(u, v); !same(got, want) {
				t.Fatalf("%s: the inner product is %x, want %x", kern.name, got, want)
			}
			got, want := append([]float64(nil), y...), append([]float64(nil), y...)
			for i := range n {
				if alpha != 0 {
					p := element(want, n, incY, i)
					*p = math.FMA(alpha, u[i], *p)
				}
			}
			l.Daxpy(n, alpha, x, incX, got, incY)
			if d := differ(got, want); d != "" {
				t.Fatalf("%s, axpy: %s", kern.name, d)
			}
		}
	})
}

func TestDgemv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 8))
		m, n := drawSize(t, "m", 8, 64, 384), drawSize(t, "n", 8, 64, 384)
		trans := rapid.SampledFrom([]blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}).Draw(t, "op")
		incX, incY := rapid.SampledFrom([]int{1, 1, 2, -1}).Draw(t, "incX"), rapid.SampledFrom([]int{1, 1, 3, -2}).Draw(t, "incY")
		alpha, beta := drawScalar(t, "alpha"), drawScalar(t, "beta")
		a := newMatrix(r, m, n, rapid.IntRange(0, 3).Draw(t, "gap"))
		lenX, lenY := m, n
		if trans == blas.NoTrans {
			lenX, lenY = n, m
		}
		x, y := strided(r, lenX, incX), strided(r, lenY, incY)
		u, v := matrix{rows: lenX, cols: 1, ld: 1}, matrix{rows: lenY, cols: 1, ld: 1}
		for i := range lenX {
			u.data = append(u.data, *element(x, lenX, incX, i))
		}
		for i := range lenY {
			v.data = append(v.data, *element(y, lenY, incY, i))
		}
		want := append([]float64(nil), y...)
		if m > 0 && n > 0 {
			if trans == blas.NoTrans {
				scale(beta, full, 1, lenY, v.data, lenY)
				for i := range m {
					s := innerProduct(a.data[i*a.ld:i*a.ld+n], u.data)
					switch {
					case alpha == 0:
					case beta == 0:
						v.data[i] = alpha * s
					default:
						v.data[i] = math.FMA(alpha, s, v.data[i])
					}
				}
			} else {
				define(blas.Trans, blas.NoTrans, m, alpha, a, u, beta, v)
			}
			for i := range lenY {
				*element(want, lenY, incY, i) = v.data[i]
			}
		}
		for _, kern := range kernels() {
			got := append([]float64(nil), y...)
			implementation{kern: kern}.Dgemv(trans, m, n, alpha, a.data, a.ld, x, incX, beta, got, incY)
			if d := differ(got, want); d != "" {
				t.Fatalf("%s: %s", kern.name, d)
			}
		}
	})
}

// Large enough for several goroutines; the hash is that of every machine.
func TestDgemvBits(t *testing.T) {
	const want = "f40131c127993a839f0e4eca6c6eb4fc957c97392e2ca71c507f1b8894416966"
	r := rand.New(rand.NewPCG(9, 10))
	const m, n = 1025, 1100
	a, x, y := randoms(r, m*n), randoms(r, n), randoms(r, n)
	for _, kern := range kernels() {
		l := implementation{kern: kern}
		u, v := append([]float64(nil), x[:m]...), append([]float64(nil), y...)
		l.Dgemv(blas.NoTrans, m, n, 1, a, n, x, 1, 0.5, u, 1)
		l.Dgemv(blas.Trans, m, n, 1, a, n, x, 1, 0.5, v, 1)
		h := sha256.New()
		_ = binary.Write(h, binary.LittleEndian, u)
		_ = binary.Write(h, binary.LittleEndian, v)
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%s: the results hash to %s, want %s", kern.name, got, want)
		}
	}
}

func TestBadVectorsPanicAsGonums(t *testing.T) {
	x := make([]float64, 12)
	for name, f := range map[string]func(l blas.Float64){
		"dot n":           func(l blas.Float64) { l.Ddot(-1, x, 1, x, 1) },
		"dot increment":   func(l blas.Float64) { l.Ddot(2, x, 0, x, 1) },
		"dot x":           func(l blas.Float64) { l.Ddot(7, x, 2, x, 1) },
		"dot y":           func(l blas.Float64) { l.Ddot(13, make([]float64, 13), 1, x, 1) },
		"axpy n":          func(l blas.Float64) { l.Daxpy(-1, 1, x, 1, x, 1) },
		"axpy y":          func(l blas.Float64) { l.Daxpy(7, 1, x, 1, x, -2) },
		"gemv transpose":  func(l blas.Float64) { l.Dgemv('x', 3, 4, 1, x, 4, x, 1, 0, x, 1) },
		"gemv lda":        func(l blas.Float64) { l.Dgemv('N', 3, 4, 1, x, 3, x, 1, 0, x, 1) },
		"gemv a":          func(l blas.Float64) { l.Dgemv('N', 4, 4, 1, x, 4, x, 1, 0, x, 1) },
		"gemv x":          func(l blas.Float64) { l.Dgemv('T', 3, 4, 1, x, 4, x[:2], 1, 0, x, 1) },
		"gemv y":          func(l blas.Float64) { l.Dgemv('N', 3, 4, 1, x, 4, x, 1, 0, x[:2], 1) },
		"gemv increment":  func(l blas.Float64) { l.Dgemv('N', 3, 4, 1, x, 4, x, 0, 0, x, 1) },
		"gemv increment2": func(l blas.Float64) { l.Dgemv('N', 3, 4, 1, x, 4, x, 1, 0, x, 0) },
	} {
		want := panicOf(func() { f(gonum.Implementation{}) })
		if got := panicOf(func() { f(active) }); want == nil || got != want {
			t.Errorf("%s: panics with %v, gonum's with %v", name, got, want)
		}
	}
}

// BenchmarkDgemv is one step of batch OMP: a few rows of a matrix that stays in the caches.
func BenchmarkDgemv(b *testing.B) {
	const m, n = 24, 552
	r := rand.New(rand.NewPCG(1, 1))
	a, x, y := randoms(r, m*n), randoms(r, n), randoms(r, n)
	for _, op := range []blas.Transpose{blas.Trans, blas.NoTrans} {
		for _, l := range contenders() {
			b.Run(fmt.Sprintf("op=%c/%s", op, l.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					l.Dgemv(op, m, n, -1, a, n, x, 1, 1, y, 1)
				}
				report(b, 2*m*n)
			})
		}
	}
}
