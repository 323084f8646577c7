package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

func nnls(t rapid.TB, A, Y *mat.Dense) (*mat.Dense, NNLSReport) {
	t.Helper()
	var R mat.Dense
	R.Mul(A.T(), Y)
	S, report, err := NNLS(context.Background(), linalg.Gram(A), &R)
	if err != nil {
		t.Fatal(err)
	}
	return S, report
}

// The optimality conditions, from A and Y and not from the Gram matrix: s >= 0, the residual
// is orthogonal to the columns in the code and correlated positively with no other.
func TestNNLSIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		dim, k, m := rapid.IntRange(1, 30).Draw(t, "dim"), rapid.IntRange(1, 50).Draw(t, "K"), rapid.IntRange(1, 5).Draw(t, "M")
		A, Y := gaussian(r, dim, k), gaussian(r, dim, m)
		switch rapid.SampledFrom([]string{"", "twice", "zero", "non-negative"}).Draw(t, "columns") {
		case "twice":
			for i := range dim {
				A.Set(i, 0, A.At(i, k-1))
			}
		case "zero":
			for i := range dim {
				A.Set(i, k/2, 0)
			}
		case "non-negative": // as the features of a network are: all correlations positive
			A.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, A)
			Y.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, Y)
		}
		S, report := nnls(t, A, Y)
		if report.Unconverged != 0 || report.WorstResidual > 1e-10 {
			t.Fatalf("%+v", report)
		}
		var E, W mat.Dense
		E.Mul(A, S)
		E.Sub(Y, &E)
		W.Mul(A.T(), &E)
		scale := mat.Norm(A, 2) * mat.Norm(Y, 2)
		for i := range k {
			for j := range m {
				s, w := S.At(i, j), W.At(i, j)
				if s < 0 || w > 1e-10*scale || s > 0 && w < -1e-10*scale {
					t.Fatalf("sample %d: s_%d = %g where the correlation is %g", j, i, s, w)
				}
			}
		}
	})
}

// With a square orthogonal A the answer is known: the positive part of A^T y.
func TestNNLSOfOrthogonalColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var qr mat.QR
	qr.Factorize(gaussian(r, 12, 12))
	var Q, R mat.Dense
	qr.QTo(&Q)
	Y := gaussian(r, 12, 6)
	S, _ := nnls(t, &Q, Y)
	R.Mul(Q.T(), Y)
	R.Apply(func(_, _ int, v float64) float64 { return max(v, 0) }, &R)
	if !mat.EqualApprox(S, &R, 1e-14) {
		t.Error("not the positive part")
	}
}

// TestNNLSOfNearCopies: columns in pairs that differ little, down to nothing. A column that enters
// for its copy has the code move by a long way, and others leave.
func TestNNLSOfNearCopies(t *testing.T) {
	const dim, k, m = 20, 36, 6
	for _, apart := range []float64{1e-2, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 0} {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 5))
			A, Y := gaussian(r, dim, k), gaussian(r, dim, m)
			if seed%2 == 0 {
				A.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, A)
				Y.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, Y)
			}
			for j := k / 2; j < k; j++ {
				for i := range dim {
					A.Set(i, j, A.At(i, j-k/2)+apart*linalg.Gaussian(r))
				}
			}
			S, report := nnls(t, A, Y)
			if report.Unconverged != 0 || report.WorstResidual > 1e-10 {
				t.Fatalf("%g apart, seed %d: %+v", apart, seed, report)
			}
			var E, W mat.Dense
			E.Mul(A, S)
			E.Sub(Y, &E)
			W.Mul(A.T(), &E)
			for i := range k {
				for j := range m {
					if s, w := S.At(i, j), W.At(i, j); s < 0 || w > 1e-8 || s > 0 && w < -1e-8 {
						t.Fatalf("%g apart, seed %d, sample %d: s_%d = %g where the correlation is %g", apart, seed, j, i, s, w)
					}
				}
			}
		}
	}
}

// TestNNLSOfScaledColumns: the scale of a column goes into its entry and nowhere else.
func TestNNLSOfScaledColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	A, Y := gaussian(r, 20, 30), gaussian(r, 20, 6)
	want, _ := nnls(t, A, Y)
	for _, power := range []int{-500, -27, 27, 330} {
		B := mat.DenseCopyOf(A)
		for i := range 20 {
			for j := 0; j < 30; j += 2 {
				B.Set(i, j, math.Ldexp(B.At(i, j), power))
			}
		}
		S, report := nnls(t, B, Y)
		if report.Unconverged != 0 {
			t.Errorf("scale 2^%d: %+v", power, report)
		}
		for i := range 30 {
			for j := range 6 {
				got := S.At(i, j)
				if i%2 == 0 {
					got = math.Ldexp(got, power)
				}
				if !(math.Abs(got-want.At(i, j)) <= 1e-12) {
					t.Fatalf("scale 2^%d: entry (%d, %d) is %g, want %g", power, i, j, got, want.At(i, j))
				}
			}
		}
	}
}

func TestNNLSBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	A, Y := gaussian(r, 60, 90), gaussian(r, 60, 41)
	code := func(procs int, order []int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		S, _ := nnls(t, A, methods.Columns(Y, order))
		return S.RawMatrix().Data
	}
	order := make([]int, 41)
	for i := range order {
		order[i] = i
	}
	whole := code(1, order)
	if !slices.Equal(whole, code(4, order)) {
		t.Error("the codes differ with GOMAXPROCS")
	}
	for i, v := range code(2, []int{17}) {
		if v != whole[i*41+17] {
			t.Fatal("a code depends on the samples that it is found with")
		}
	}
}

func TestNNLSRefuses(t *testing.T) {
	I := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	if _, _, err := NNLS(context.Background(), I, mat.NewDense(3, 1, nil)); !errors.Is(err, methods.ErrInput) {
		t.Errorf("shapes that do not fit: %v", err)
	}
	if _, _, err := NNLS(context.Background(), I, mat.NewDense(2, 1, []float64{1, math.NaN()})); err == nil {
		t.Error("NaN was taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := NNLS(ctx, I, mat.NewDense(2, 1, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
