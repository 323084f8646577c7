package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// complexColumns is [[R, -I], [I, R]] of random R and I (dim x n).
func complexColumns(r *rand.Rand, dim, n int) *mat.Dense {
	re, im := gaussian(r, dim, n), gaussian(r, dim, n)
	Z := mat.NewDense(2*dim, 2*n, nil)
	for i := range dim {
		for j := range n {
			Z.Set(i, j, re.At(i, j))
			Z.Set(dim+i, n+j, re.At(i, j))
			Z.Set(i, n+j, -im.At(i, j))
			Z.Set(dim+i, j, im.At(i, j))
		}
	}
	return Z
}

// The conditions of optimality, from Z and Y: Z^H(y - Z b) is lambda b/|b| where b is not zero, and
// of modulus at most lambda elsewhere.
func TestComplexLassoIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		dim, n, m := rapid.IntRange(1, 15).Draw(t, "dim"), rapid.IntRange(1, 25).Draw(t, "N"), rapid.IntRange(1, 4).Draw(t, "M")
		Z, Y := complexColumns(r, dim, n), gaussian(r, 2*dim, m)
		if rapid.Bool().Draw(t, "zero column") {
			for i := range 2 * dim {
				Z.Set(i, 0, 0)
				Z.Set(i, n, 0)
			}
		}
		lambda := rapid.SampledFrom([]float64{0.01, 0.3, 3, 100}).Draw(t, "lambda")
		var R, E, W mat.Dense
		R.Mul(Z.T(), Y)
		S, report, err := ComplexLasso{Lambda: lambda}.Solve(context.Background(), linalg.Gram(Z), &R, linalg.ColumnSquares(Y))
		if err != nil {
			t.Fatal(err)
		}
		if report.Unconverged > 0 {
			t.Fatalf("dim %d, N %d, lambda %g: %+v", dim, n, lambda, report)
		}
		E.Mul(Z, S)
		E.Sub(Y, &E)
		W.Mul(Z.T(), &E)
		for j := range m {
			for i := range n {
				a, b, u, v := S.At(i, j), S.At(n+i, j), W.At(i, j), W.At(n+i, j)
				if size := math.Hypot(a, b); size > 1e-6 {
					if math.Hypot(u-lambda*a/size, v-lambda*b/size) > 1e-4*lambda {
						t.Fatalf("pair %d of sample %d: correlation (%g, %g) for the code (%g, %g)", i, j, u, v, a, b)
					}
				} else if math.Hypot(u, v) > lambda*(1+1e-4) {
					t.Fatalf("pair %d of sample %d is zero with a correlation of %g", i, j, math.Hypot(u, v))
				}
			}
		}
	})
}

// With all imaginary parts zero and real samples the codes are those of the real Lasso.
func TestComplexLassoOfRealNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	const dim, n, m = 20, 30, 8
	A, Y := gaussian(r, dim, n), gaussian(r, dim, m)
	Z, twice := mat.NewDense(2*dim, 2*n, nil), mat.NewDense(2*dim, m, nil)
	for i := range dim {
		for j := range n {
			Z.Set(i, j, A.At(i, j))
			Z.Set(dim+i, n+j, A.At(i, j))
		}
		for j := range m {
			twice.Set(i, j, Y.At(i, j))
		}
	}
	var R, RZ mat.Dense
	R.Mul(A.T(), Y)
	RZ.Mul(Z.T(), twice)
	want, _, err := Lasso{Lambda: 0.5}.Solve(context.Background(), linalg.Gram(A), &R, linalg.ColumnSquares(Y))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := ComplexLasso{Lambda: 0.5}.Solve(context.Background(), linalg.Gram(Z), &RZ, linalg.ColumnSquares(twice))
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(got.Slice(0, n, 0, m), want, 1e-6) || mat.Norm(got.Slice(n, 2*n, 0, m), 2) > 1e-9 {
		t.Error("not the codes of the real Lasso")
	}
}

func TestComplexLassoRefuses(t *testing.T) {
	G := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	for _, l := range []float64{0, -1, math.NaN()} {
		if _, _, err := (ComplexLasso{Lambda: l}).Solve(context.Background(), G, mat.NewDense(2, 1, nil), []float64{1}); !errors.Is(err, methods.ErrInput) {
			t.Errorf("lambda %g: %v", l, err)
		}
	}
	if _, _, err := (ComplexLasso{Lambda: 1}).Solve(context.Background(), mat.NewDense(3, 3, nil), mat.NewDense(3, 1, nil), []float64{1}); !errors.Is(err, methods.ErrInput) {
		t.Errorf("an odd number of columns: %v", err)
	}
}
