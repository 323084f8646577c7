package dictionary

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"ssdl/methods/linalg"
)

func gaussian(r *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, linalg.Gaussian(r))
		}
	}
	return m
}

// unit returns a Gaussian matrix with columns of the given norm.
func unit(r *rand.Rand, rows, cols int, norm float64) *mat.Dense {
	m := gaussian(r, rows, cols)
	linalg.NormalizeColumns(m)
	m.Scale(norm, m)
	return m
}

// objective is Eq. 12 by its definition.
func objective(X, F, D, B, S *mat.Dense, alpha, gamma float64) float64 {
	var e, g mat.Dense
	e.Mul(D, S)
	e.Sub(X, &e)
	g.Mul(B, S)
	g.Sub(F, &g)
	return squareSum(&e) + gamma*squareSum(&g) + 2*alpha*absSum(S)
}

// elementary returns the objective after each elementary update of one iteration: updates
// are cyclic, so after k of K updates of a matrix its first k parts are new.
func elementary(s *Steps, D, B, S *mat.Dense) (f []float64) {
	D0, B0, S0 := mat.DenseCopyOf(D), mat.DenseCopyOf(B), mat.DenseCopyOf(S)
	record := func() { f = append(f, objective(s.x, s.f, D0, B0, S0, s.alpha, s.gamma)) }
	record()
	k, _ := S.Dims()
	for i := range k {
		S0.SetRow(i, s.s.RawRowView(i))
		record()
	}
	for i := range k {
		D0.SetCol(i, s.d.RawRowView(i))
		record()
	}
	for i := range k {
		B0.SetCol(i, s.b.RawRowView(i))
		record()
	}
	return f
}

func TestStepsNeverRaiseTheObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		dim := rapid.IntRange(1, 15).Draw(t, "dim")
		n := rapid.IntRange(1, 30).Draw(t, "N")
		k := rapid.IntRange(1, 2*atomBlock+3).Draw(t, "K")
		classes := rapid.IntRange(1, 5).Draw(t, "C")
		sphere := rapid.Bool().Draw(t, "sphere")
		alpha := math.Ldexp(1, rapid.IntRange(-14, 0).Draw(t, "log2 alpha"))
		gamma := rapid.SampledFrom([]float64{0, 0x1p-12, 0.25, 4}).Draw(t, "gamma")
		norm := 1.0
		if !sphere {
			norm = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "norm of the start")
		}
		X, F := unit(r, dim, n, 1), gaussian(r, classes, n)
		D, B, S := unit(r, dim, k, 1), unit(r, classes, k, norm), mat.NewDense(k, n, nil)
		s := NewSteps(X, F, D, B, alpha, gamma, sphere)
		for it := range 4 {
			if err := s.Iterate(context.Background()); err != nil {
				t.Fatal(err)
			}
			f := elementary(s, D, B, S)
			for i := 1; i < len(f); i++ {
				if f[i] > f[i-1]*(1+1e-12)+1e-12 {
					t.Fatalf("iteration %d: update %d of %d raises the objective from %.17g to %.17g", it+1, i, len(f)-1, f[i-1], f[i])
				}
			}
			if got, want := s.Objective(), f[len(f)-1]; math.Abs(got-want) > 1e-11*(1+s.constant) {
				t.Fatalf("iteration %d: Objective is %.17g, by its definition %.17g", it+1, got, want)
			}
			D, B, S = s.D(), s.B(), mat.DenseCopyOf(s.S())
			for _, m := range []*mat.Dense{D, B} {
				for i, v := range linalg.ColumnSquares(m) {
					if v > 1+1e-12 || (sphere && math.Abs(v-1) > 1e-12) {
						t.Fatalf("iteration %d: column %d has squared norm %.17g", it+1, i, v)
					}
				}
			}
		}
	})
}

// The blocked pass over the atoms makes the updates of Eq. 15 one by one.
func TestStepsAgainstFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	const dim, n, k, classes = 9, 120, 2*atomBlock + 5, 3
	X, F := unit(r, dim, n, 1), gaussian(r, classes, n)
	for _, sphere := range []bool{false, true} {
		D := unit(r, dim, k, 1)
		s := NewSteps(X, F, D, unit(r, classes, k, 1), 0.05, 0.1, sphere)
		if err := s.Iterate(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range k {
			var E, v mat.Dense
			row := s.s.Slice(i, i+1, 0, n)
			D.SetCol(i, make([]float64, dim)) // D with atom i set to 0, the earlier ones new
			E.Mul(D, s.s)
			E.Sub(X, &E)
			v.Mul(&E, row.T())
			c := mat.Norm(row, 2)
			norm := mat.Norm(&v, 2)
			if !sphere {
				norm = max(norm, c*c)
			}
			v.Scale(1/norm, &v)
			D.SetCol(i, mat.Col(nil, 0, &v))
			for q, got := range s.d.RawRowView(i) {
				if math.Abs(got-v.At(q, 0)) > 1e-11 {
					t.Fatalf("sphere %t: entry %d of atom %d is %g, want %g", sphere, q, i, got, v.At(q, 0))
				}
			}
		}
	}
}

// With D and B at rest the codes meet the conditions of a minimum: |r_k - (G s)_k| <= alpha,
// with equality and the sign of s_k where s_k is not 0.
func TestStepsLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	X, F := unit(r, 8, 40, 1), unit(r, 3, 40, 1)
	const alpha = 0.05
	for _, sphere := range []bool{false, true} {
		s := NewSteps(X, F, unit(r, 8, 6, 1), unit(r, 3, 6, 1), alpha, 0.25, sphere)
		for range 3000 {
			if err := s.Iterate(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		var R, J mat.Dense
		R.Mul(s.d, X)
		J.Mul(s.b, F)
		J.Scale(0.25, &J)
		R.Add(&R, &J)
		J.Mul(s.g, s.s)
		J.Sub(&R, &J)
		active := 0
		for i := range 6 {
			for j := range 40 {
				gap := math.Abs(J.At(i, j)) - alpha
				if v := s.s.At(i, j); v != 0 {
					active++
					gap = math.Abs(J.At(i, j) - math.Copysign(alpha, v))
				}
				if gap > 1e-8 {
					t.Errorf("sphere %t: code %d of sample %d violates its condition by %g", sphere, i, j, gap)
				}
			}
		}
		if active < 20 {
			t.Errorf("sphere %t: only %d of 240 codes are not 0: the test says nothing", sphere, active)
		}
	}
}

// An atom that no sample uses stays, and nothing becomes NaN.
func TestStepsDeadAtom(t *testing.T) {
	X := mat.NewDense(3, 2, []float64{1, 0, 0, 1, 0, 0})
	D := mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	for _, sphere := range []bool{false, true} {
		s := NewSteps(X, mat.NewDense(1, 2, nil), D, mat.NewDense(1, 3, nil), 0.1, 1, sphere)
		for range 3 {
			if err := s.Iterate(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.d.RawRowView(2); got[0] != 0 || got[1] != 0 || got[2] != 1 {
			t.Errorf("sphere %t: the unused atom became %v", sphere, got)
		}
		if f := s.Objective(); math.IsNaN(f) {
			t.Errorf("sphere %t: objective %v", sphere, f)
		}
	}
}

// BenchmarkIterate is one outer iteration at the shapes of sports8 and (not with
// -short) of Stanford40, beside one product of the same flops.
func BenchmarkIterate(b *testing.B) {
	for _, c := range []struct {
		name                  string
		dim, n, k, classes, m int // m: the order of the product
	}{
		{"sports8", 2048, 1105, 552, 8, 1105},
		{"stanford40", 2048, 6672, 3336, 40, 3336},
	} {
		if c.n > 5000 && testing.Short() {
			continue
		}
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(10, 1))
			s := NewSteps(unit(r, c.dim, c.n, 1), unit(r, c.classes, c.n, 1), unit(r, c.dim, c.k, 1), mat.NewDense(c.classes, c.k, nil), 0x1p-12, 0x1p-12, false)
			work := 4*float64(c.k*c.n*(c.dim+c.classes)) + 3*float64(c.k*c.k*c.n) + 3*float64(c.k*c.k*(c.dim+c.classes))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Iterate(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(work*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
		b.Run(c.name+"/product", func(b *testing.B) {
			r := rand.New(rand.NewPCG(11, 1))
			A, B, C := unit(r, c.m, c.m, 1), unit(r, c.m, c.m, 1), mat.NewDense(c.m, c.m, nil)
			for b.Loop() {
				C.Mul(A, B)
			}
			b.ReportMetric(2*float64(c.m*c.m*c.m)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
