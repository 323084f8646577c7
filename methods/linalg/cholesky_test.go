package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// definite returns a positive definite matrix of order n, A = M M^T / n + I.
func definite(r *rand.Rand, n int) matrix {
	m, a := newMatrix(r, n, n, 0), newMatrix(r, n, n, 1)
	for i := range n {
		for j := range i + 1 {
			s := 0.0
			for l := range n {
				s += float64(m.at(i, l) * m.at(j, l))
			}
			s /= float64(n)
			if i == j {
				s++
			}
			a.data[i*a.ld+j], a.data[j*a.ld+i] = s, s
		}
	}
	return a
}

func TestDpotrf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := max(1, drawSize(t, "n", 1, 64, 128))
		a := definite(r, n)
		var first matrix
		for i, kern := range kernels() {
			l := implementation{kern: kern}
			up, low := a.clone(), a.clone()
			if !factor(l, blas.Upper, n, up.data, up.ld) || !factor(l, blas.Lower, n, low.data, low.ld) {
				t.Fatalf("%s: n = %d is not positive definite", kern.name, n)
			}
			if i == 0 {
				first = up
			}
			for i := range n {
				for j := range n {
					lo, hi := min(i, j), max(i, j)
					if up.at(lo, hi) != first.at(lo, hi) || low.at(hi, lo) != first.at(lo, hi) {
						t.Fatalf("%s: (%d, %d) is %x in U, %x in L, want %x", kern.name, lo, hi, up.at(lo, hi), low.at(hi, lo), first.at(lo, hi))
					}
					if i != j && (up.at(hi, lo) != a.at(hi, lo) || low.at(lo, hi) != a.at(lo, hi)) {
						t.Fatalf("%s: the other triangle changed at (%d, %d)", kern.name, i, j)
					}
				}
			}
		}
		// |A - U^T U| <= (n+1) u |U|^T |U| (Higham, Accuracy and Stability, Theorem 10.3).
		for i := range n {
			for j := i; j < n; j++ {
				sum, size := 0.0, 0.0
				for l := range i + 1 {
					sum += float64(first.at(l, i) * first.at(l, j))
					size += math.Abs(first.at(l, i) * first.at(l, j))
				}
				if math.Abs(sum-a.at(i, j)) > 0x1p-52*float64(n+2)*size {
					t.Fatalf("(U^T U)(%d, %d) is %g, want %g", i, j, sum, a.at(i, j))
				}
			}
		}
	})
}

func TestDpotrfOfAnIndefiniteMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, bad := range []float64{0, -1, math.NaN()} {
		for _, at := range []int{0, 63, 64, 149} {
			for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
				a := definite(r, 150)
				a.data[at*a.ld+at] = bad
				if (lapackImplementation{}).Dpotrf(ul, 150, a.data, a.ld) {
					t.Errorf("%g at place %d of the diagonal passes as positive definite", bad, at)
				}
			}
		}
	}
}

func TestDpotrfPanicsAsGonums(t *testing.T) {
	x := make([]float64, 9)
	for name, args := range map[string]struct {
		ul     blas.Uplo
		n, lda int
		a      []float64
	}{
		"triangle": {'x', 3, 3, x},
		"order":    {blas.Upper, -1, 3, x},
		"lda":      {blas.Upper, 3, 2, x},
		"length":   {blas.Lower, 3, 3, x[:8]},
	} {
		want := panicOf(func() { gonum.Implementation{}.Dpotrf(args.ul, args.n, args.a, args.lda) })
		got := panicOf(func() { lapackImplementation{}.Dpotrf(args.ul, args.n, args.a, args.lda) })
		if want == nil || got != want {
			t.Errorf("%s: panics with %v, gonum's with %v", name, got, want)
		}
	}
}

// mat must come by this code, and solve with it.
func TestMatCholesky(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n = 200
	a := definite(r, n)
	sym, x := mat.NewSymDense(n, nil), mat.NewDense(n, 3, randoms(r, 3*n))
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, a.at(i, j))
		}
	}
	var ch mat.Cholesky
	if !ch.Factorize(sym) {
		t.Fatal("not positive definite")
	}
	want := a.clone()
	factor(blas64.Implementation(), blas.Upper, n, want.data, want.ld)
	if got := ch.RawU().(*mat.TriDense).At(17, 150); got != want.at(17, 150) {
		t.Errorf("mat's factor has %x at (17, 150), this package's %x", got, want.at(17, 150))
	}
	var b, solved mat.Dense
	b.Mul(sym, x)
	if err := ch.SolveTo(&solved, &b); err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(&solved, x, 1e-12) {
		t.Error("the solution is not what the right-hand side was made from")
	}
}
