package dictionary

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// startOf returns the start of SSDL from training columns under a seed.
func startOf(norm string, p methods.Problem, F *mat.Dense, k int, seed uint64) (D, B *mat.Dense) {
	p.Rand = rand.New(rand.NewPCG(seed, 3))
	return SSDL{Norm: norm, Init: "columns"}.start(p, F, k)
}

// The atoms start as different training columns, and those of B as their targets, in the ball or on
// the sphere.
func TestStartFromColumns(t *testing.T) {
	p := clusters(31, 7, 3, 10)
	p.X.SetCol(4, make([]float64, 7)) // a zero sample is no atom
	F := methods.OneHot(p.Labels, 3, 0)
	for j := range 30 { // columns of norm 1/16, 2/16, ...: some in the ball, some beyond
		for c := range 3 {
			F.Set(c, j, F.At(c, j)*0.0625*float64(1+j))
		}
	}
	for _, norm := range []string{"ball", "sphere"} {
		D, B := startOf(norm, p, F, 12, 1)
		used := map[int]bool{}
		short := 0
		for k := range 12 {
			j := -1
			for i := range 30 {
				if mat.Equal(D.ColView(k), p.X.ColView(i)) {
					j = i
				}
			}
			if j < 0 || j == 4 || used[j] {
				t.Fatalf("%s: atom %d is column %d, want a nonzero column that no other atom is", norm, k, j)
			}
			used[j] = true
			length := 0.0625 * float64(1+j)
			want := min(length, 1)
			if norm == "sphere" {
				want = 1
			}
			if length < 1 {
				short++
			}
			for c := range 3 {
				if v := F.At(c, j) / length * want; math.Abs(B.At(c, k)-v) > 1e-15 {
					t.Errorf("%s: entry %d of B's column %d is %g, want %g", norm, c, k, B.At(c, k), v)
				}
			}
		}
		if short == 0 || short == 12 {
			t.Errorf("%s: %d of 12 targets are in the ball: the test says nothing", norm, short)
		}
	}
}

// The draw depends on the seed, and on neither the order of the samples nor the names of the classes.
func TestDrawOfColumns(t *testing.T) {
	p := clusters(32, 6, 4, 15)
	order, names := rand.New(rand.NewPCG(1, 1)).Perm(60), []int{3, 1, 0, 2}
	q := permuted(p, order, names)
	draw := func(p methods.Problem, k int, seed uint64) []int {
		p.Rand = rand.New(rand.NewPCG(seed, 3))
		return drawColumns(p, k)
	}
	first := draw(p, 20, 1)
	again := draw(q, 20, 1)
	for i, j := range again {
		if order[j] != first[i] {
			t.Fatalf("draw %d is column %d, and column %d of the same samples in another order", i, first[i], order[j])
		}
	}
	if slices.Equal(first, draw(p, 20, 2)) {
		t.Error("two seeds draw the same columns")
	}
	// Each column is drawn about as often as another: 400 draws of 20 of 60.
	count := make([]int, 60)
	for seed := range uint64(400) {
		for _, j := range draw(p, 20, 100+seed) {
			count[j]++
		}
	}
	for j, n := range count { // a standard deviation is 9.4
		if n < 90 || n > 180 {
			t.Errorf("column %d is drawn %d times of 400, want about 133", j, n)
		}
	}
}

// With fewer different columns than atoms the other atoms are Gaussian, with targets of zero.
func TestStartWithMoreAtomsThanColumns(t *testing.T) {
	p := clusters(33, 8, 2, 5)
	p.X.SetCol(7, mat.Col(nil, 2, p.X)) // equal columns count once
	D, B := startOf("ball", p, methods.OneHot(p.Labels, 2, 0), 14, 1)
	for k, v := range linalg.ColumnSquares(D) {
		if math.Abs(v-1) > 1e-12 {
			t.Errorf("atom %d has the squared norm %g", k, v)
		}
	}
	for k, v := range linalg.ColumnSquares(B) {
		if want := k < 9; (v == 1) != want {
			t.Errorf("column %d of B has the squared norm %g; 9 atoms have targets", k, v)
		}
	}
}
