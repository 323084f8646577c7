package data

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// TestBuiltin pins the bits of the built-in sets, which are the same on every machine, and checks
// that the sets look like the two real ones (mean cosine 0.76 within and 0.67 between classes,
// 0.1-0.2 % zeros).
func TestBuiltin(t *testing.T) {
	for _, c := range []struct {
		name         string
		samples, dim int
		classes      int
		least, most  int
		hash         string
	}{
		{"synth40", 2367, 512, 40, 45, 74, "b23c526043c33c91a14ff440626b35d0c9f2b5ccbd2b2fd494ecf6fd435b69b0"},
		{"synth8", 1579, 2048, 8, 137, 250, "442a4b7ce5d1919bde25ea611dffc70831c73d9b909d137f8c02755dbf5b891e"},
	} {
		start := time.Now()
		s, ok := Builtin(c.name)
		if !ok {
			t.Fatalf("%s is not there", c.name)
		}
		t.Logf("%s: made in %v", c.name, time.Since(start).Round(time.Millisecond))
		least, most := s.Samples(), 0
		for _, n := range s.Counts() {
			least, most = min(least, n), max(most, n)
		}
		if s.Samples() != c.samples || s.Dim() != c.dim || len(s.Classes) != c.classes || least != c.least || most != c.most || !s.Synthetic {
			t.Errorf("%s: %d x %d, %d classes of %d..%d", c.name, s.Samples(), s.Dim(), len(s.Classes), least, most)
		}
		if s.Hash != c.hash {
			t.Errorf("%s: hash %s, want %s", c.name, s.Hash, c.hash)
		}
		if again, _ := Builtin(c.name); again != s {
			t.Errorf("%s is made twice", c.name)
		}

		var idx []int
		for j := 0; j < s.Samples(); j += s.Samples() / 700 {
			idx = append(idx, j)
		}
		X := columns(s.X, idx)
		zeros := 0
		for _, v := range X.RawMatrix().Data {
			if v < 0 || math.IsNaN(v) {
				t.Fatalf("%s holds %v", c.name, v)
			}
			if v == 0 {
				zeros++
			}
		}
		if share := float64(zeros) / float64(len(X.RawMatrix().Data)); share > 0.02 {
			t.Errorf("%s: %.3f of the features are zero", c.name, share)
		}
		G := products(X, X)
		var sum, n [2]float64 // other class, same class
		for i, a := range idx {
			for j, b := range idx[:i] {
				same := 0
				if s.Labels[a] == s.Labels[b] {
					same = 1
				}
				sum[same] += G.At(i, j)
				n[same]++
			}
		}
		between, within := sum[0]/n[0], sum[1]/n[1]
		t.Logf("%s: mean cosine %.3f within, %.3f between classes", c.name, within, between)
		if math.Abs(within-0.76) > 0.03 || math.Abs(between-0.66) > 0.03 {
			t.Errorf("%s: mean cosine %.3f within, %.3f between classes", c.name, within, between)
		}
	}
	if _, ok := Builtin("synth9"); ok {
		t.Error("synth9 is there")
	}
}

// TestBuiltinDifficulty checks that ridge regression at 40 % labels has about the accuracy of the
// real sets: 75 % and 93 %.
func TestBuiltinDifficulty(t *testing.T) {
	for _, c := range []struct {
		name  string
		seeds uint64
		want  float64
	}{{"synth8", 3, 93}, {"synth40", 3, 75}} {
		s, _ := Builtin(c.name)
		accuracy := 0.0
		for seed := range c.seeds {
			accuracy += ridge(t, s, 1000+seed) / float64(c.seeds)
		}
		t.Logf("%s: ridge is right for %.1f %%", c.name, accuracy)
		if math.Abs(accuracy-c.want) > 1.5 {
			t.Errorf("%s: ridge is right for %.1f %%, want about %v", c.name, accuracy, c.want)
		}
	}
}

// ridge fits one-hot targets on the labelled training columns (penalty 0.1, the best of a grid on
// both sets) and returns the accuracy on the test columns in per cent.
func ridge(t *testing.T, s *Set, seed uint64) float64 {
	sp, err := MakeSplit(s, SplitSpec{}, seed)
	if err != nil {
		t.Fatal(err)
	}
	fit := keeping(sp)
	X := columns(s.X, fit)
	K := products(X, X)
	Y := mat.NewDense(len(fit), len(s.Classes), nil)
	for i, j := range fit {
		Y.Set(i, s.Labels[j], 1)
		K.Set(i, i, K.At(i, i)+0.1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(len(fit), K.RawMatrix().Data)) {
		t.Fatal("not positive definite")
	}
	var A, W mat.Dense
	if err := chol.SolveTo(&A, Y); err != nil {
		t.Fatal(err)
	}
	W.Mul(X, &A) // dim x C
	scores := products(&W, columns(s.X, sp.Test))
	right := 0
	for i, j := range sp.Test {
		best := 0
		for k := range s.Classes {
			if scores.At(k, i) > scores.At(best, i) {
				best = k
			}
		}
		if best == s.Labels[j] {
			right++
		}
	}
	return 100 * float64(right) / float64(len(sp.Test))
}

func columns(X *mat.Dense, idx []int) *mat.Dense {
	dim, _ := X.Dims()
	out := mat.NewDense(dim, len(idx), nil)
	for k := range dim {
		for i, j := range idx {
			out.Set(k, i, X.At(k, j))
		}
	}
	return out
}

// products returns A^T B.
func products(A, B *mat.Dense) *mat.Dense {
	_, m := A.Dims()
	_, n := B.Dims()
	out := mat.NewDense(m, n, nil)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, A.RawMatrix(), B.RawMatrix(), 0, out.RawMatrix())
	return out
}
