package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"ssdl/methods/linalg"
)

func ompGaussian(r *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, linalg.Gaussian(r))
		}
	}
	return m
}

func ompCode(t testing.TB, D, X *mat.Dense, sparsity int) *mat.Dense {
	t.Helper()
	var R mat.Dense
	R.Mul(D.T(), X)
	S, err := OMP(context.Background(), linalg.Gram(D), &R, sparsity)
	if err != nil {
		t.Fatal(err)
	}
	return S
}

// ompPlain is OMP by its definition: the residual in full, each fit by QR.
func ompPlain(D *mat.Dense, x *mat.VecDense, sparsity int) []float64 {
	dim, k := D.Dims()
	code := make([]float64, k)
	var atoms []int
	residual := mat.VecDenseCopyOf(x)
	for range sparsity {
		best, top := -1, 1e-7
		for i := range k {
			if v := math.Abs(mat.Dot(D.ColView(i), residual)); v > top {
				best, top = i, v
			}
		}
		if best < 0 {
			break
		}
		atoms = append(atoms, best)
		A := mat.NewDense(dim, len(atoms), nil)
		for j, a := range atoms {
			A.SetCol(j, mat.Col(nil, a, D))
		}
		var fit, approx mat.VecDense
		if err := fit.SolveVec(A, x); err != nil {
			panic(err)
		}
		approx.MulVec(A, &fit)
		residual.SubVec(x, &approx)
		for j, a := range atoms {
			code[a] = fit.AtVec(j)
		}
	}
	return code
}

func TestOMPAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		dim := rapid.IntRange(4, 12).Draw(t, "dim")
		k := rapid.IntRange(1, 20).Draw(t, "K")
		sparsity := rapid.IntRange(1, dim/2).Draw(t, "T")
		D, X := ompGaussian(r, dim, k), ompGaussian(r, dim, 5)
		linalg.NormalizeColumns(D)
		var R mat.Dense
		R.Mul(D.T(), X)
		S, err := OMP(context.Background(), linalg.Gram(D), &R, sparsity)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 5 {
			want := ompPlain(D, mat.VecDenseCopyOf(X.ColView(j)), sparsity)
			for i, w := range want {
				if math.Abs(S.At(i, j)-w) > 1e-8*(1+math.Abs(w)) {
					t.Fatalf("code %d of sample %d is %g, want %g", i, j, S.At(i, j), w)
				}
			}
		}
	})
}

// With more atoms allowed than there are dimensions a sample is fitted exactly, and the
// residual is orthogonal to the atoms at every sparsity.
func TestOMPResidual(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	D, X := ompGaussian(r, 10, 40), ompGaussian(r, 10, 70)
	linalg.NormalizeColumns(D)
	for _, sparsity := range []int{1, 4, 10, 1000} {
		S := ompCode(t, D, X, sparsity)
		var E, C mat.Dense
		E.Mul(D, S)
		E.Sub(X, &E)
		C.Mul(D.T(), &E)
		for j := range 70 {
			used := 0
			for i := range 40 {
				if S.At(i, j) == 0 {
					continue
				}
				used++
				if c := math.Abs(C.At(i, j)); c > 1e-12 {
					t.Errorf("T=%d: residual of sample %d has inner product %g with its atom %d", sparsity, j, c, i)
				}
			}
			if used > sparsity || used > 10 {
				t.Errorf("T=%d: sample %d uses %d atoms of 10 dimensions", sparsity, j, used)
			}
		}
		if sparsity >= 10 && mat.Norm(&E, 2) > 1e-10 {
			t.Errorf("T=%d: error %g, want an exact fit", sparsity, mat.Norm(&E, 2))
		}
	}
}

func TestOMPDegenerate(t *testing.T) {
	// Atom 1 repeats atom 0, atom 2 is zero, atom 4 lies in the span of 0 and 3.
	h := math.Sqrt(0.5)
	D := mat.NewDense(3, 5, []float64{
		1, 1, 0, 0, h,
		0, 0, 0, 1, h,
		0, 0, 0, 0, 0,
	})
	X := mat.NewDense(3, 3, []float64{
		2, 0, 0,
		1, 0, 0,
		0, 0, 7,
	})
	S := ompCode(t, D, X, 5)
	var fit mat.Dense
	fit.Mul(D, S)
	if math.Abs(fit.At(0, 0)-2) > 1e-15 || math.Abs(fit.At(1, 0)-1) > 1e-15 {
		t.Errorf("sample 0 is fitted as %v", mat.Formatted(fit.ColView(0).T()))
	}
	for i := range 5 {
		if S.At(i, 1) != 0 || S.At(i, 2) != 0 {
			t.Errorf("atom %d codes a zero sample with %g and one orthogonal to all atoms with %g", i, S.At(i, 1), S.At(i, 2))
		}
	}
	if S.At(1, 0) != 0 || S.At(2, 0) != 0 {
		t.Errorf("a repeated atom has code %g, a zero atom %g, want 0", S.At(1, 0), S.At(2, 0))
	}
}

func TestOMPWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	D, X := ompGaussian(r, 20, 50), ompGaussian(r, 20, 200)
	linalg.NormalizeColumns(D)
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	one := ompCode(t, D, X, 7)
	runtime.GOMAXPROCS(4)
	if !mat.Equal(one, ompCode(t, D, X, 7)) {
		t.Error("codes depend on the number of workers")
	}
	last := ompCode(t, D, mat.DenseCopyOf(X.Slice(0, 20, 199, 200)), 7)
	for i := range 50 {
		if a, b := last.At(i, 0), one.At(i, 199); math.Abs(a-b) > 1e-12 {
			t.Errorf("code %d of the last sample is %g alone and %g among others", i, a, b)
		}
	}
}

func TestOMPCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := OMP(ctx, mat.NewDense(1, 1, []float64{1}), mat.NewDense(1, 1, []float64{1}), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancellation", err)
	}
}

// The shape of sports8: 1105 samples, 552 atoms, 30 to a code.
func BenchmarkOMP(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 1))
	D, X := ompGaussian(r, 600, 552), ompGaussian(r, 600, 1105)
	linalg.NormalizeColumns(D)
	linalg.NormalizeColumns(X)
	G := linalg.Gram(D)
	var R mat.Dense
	R.Mul(D.T(), X)
	for b.Loop() {
		if _, err := OMP(context.Background(), G, &R, 30); err != nil {
			b.Fatal(err)
		}
	}
}
