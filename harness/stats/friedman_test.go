package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFriedman(t *testing.T) {
	for _, c := range load(t).Friedman {
		t.Run(c.Name, func(t *testing.T) {
			r, err := Friedman(c.X)
			if err != nil {
				t.Fatal(err)
			}
			if r.Blocks != len(c.X[0]) {
				t.Errorf("%d blocks, want %d", r.Blocks, len(c.X[0]))
			}
			near(t, "χ²", r.ChiSquare, c.Chi)
			near(t, "p", r.P, c.P)
			near(t, "F", r.F, c.F)
			near(t, "p of F", r.PF, c.PF)
			for i, want := range c.Ranks {
				near(t, "rank", r.Ranks[i], want)
			}
			// SciPy's studentised range is accurate to about 1e-9: small p have few correct digits.
			within(t, "critical difference", r.Critical, c.Critical, 1e-8)
			for i, want := range c.Nemenyi {
				if got := nemenyi(r, 0, i+1); math.Abs(got-want) > 1e-10 || got != nemenyi(r, i+1, 0) {
					t.Errorf("p of methods 0 and %d is %.12g, want %.12g", i+1, got, want)
				}
			}
		})
	}
	// That of two groups is √2 times the normal quantile, which is √2 times the inverse error function.
	near(t, "range quantile of 2", rangeQuantile(2), 2*math.Erfinv(level))
	for _, c := range load(t).RangeQuantile {
		within(t, fmt.Sprintf("range quantile of %d", c.K), rangeQuantile(c.K), c.Q, 1e-8)
	}
}

// nemenyi is the p-value for methods i and j, adjusted for all pairs.
func nemenyi(r FriedmanTest, i, j int) float64 {
	k := len(r.Ranks)
	return max(0, 1-rangeCDF(math.Abs(r.Ranks[i]-r.Ranks[j])/standardError(k, r.Blocks), k))
}

func TestFriedmanOfLittle(t *testing.T) {
	r, err := Friedman([][]float64{x, x})
	if err != nil || r.ChiSquare != 0 || r.P != 1 || r.F != 0 || r.PF != 1 || !slices.Equal(r.Ranks, []float64{1.5, 1.5}) || nemenyi(r, 0, 1) != 1 {
		t.Errorf("equal methods: %+v, %v", r, err)
	}
	// All blocks agree: the largest possible χ².
	r, err = Friedman([][]float64{{1, 2, 3, 4, 5, 6}, {2, 3, 4, 5, 6, 7}, {3, 4, 5, 6, 7, 8}})
	if err != nil || !math.IsInf(r.F, 1) || r.PF != 0 {
		t.Errorf("full agreement: %+v, %v", r, err)
	}
	if !slices.Equal(r.Ranks, []float64{3, 2, 1}) {
		t.Errorf("full agreement: ranks %v", r.Ranks)
	}
	near(t, "χ²", r.ChiSquare, 12)
	near(t, "p", r.P, math.Exp(-6))
	// Ties up to rounding.
	r, err = Friedman([][]float64{{0.3, 1}, {0.1 + 0.2, 1}})
	if err != nil || r.P != 1 {
		t.Errorf("nearly equal methods: %+v, %v", r, err)
	}

	for _, c := range []struct {
		x    [][]float64
		want string
	}{
		{nil, "0 method(s)"},
		{[][]float64{x}, "1 method(s)"},
		{[][]float64{x[:1], y[:1]}, "1 block(s)"},
		{[][]float64{x, y[1:]}, "method 1 has 7 values"},
		{[][]float64{x[:2], {1, math.NaN()}}, "method 1: x[1] is NaN"},
	} {
		_, err := Friedman(c.x)
		wantError(t, err, c.want)
	}
}

func TestCliques(t *testing.T) {
	for _, c := range []struct {
		ranks []float64
		order []int
		want  [][2]int
	}{
		{[]float64{1, 2, 3, 4}, []int{0, 1, 2, 3}, [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		{[]float64{4, 1.5, 1.6, 1.4}, []int{3, 1, 2, 0}, [][2]int{{0, 2}}},
		{[]float64{1, 1, 1}, []int{0, 1, 2}, [][2]int{{0, 2}}},
		{[]float64{1, 2.5, 4}, []int{0, 1, 2}, nil}, // differ by exactly the critical difference
		{[]float64{1, 1.5, 2.4, 2.6, 5}, []int{0, 1, 2, 3, 4}, [][2]int{{0, 2}, {1, 3}}},
	} {
		r := FriedmanTest{Ranks: c.ranks, Critical: 1.5}
		if diff := cmp.Diff(c.order, r.Order()); diff != "" {
			t.Errorf("order of %v (-want +got):\n%s", c.ranks, diff)
		}
		if diff := cmp.Diff(c.want, r.Cliques()); diff != "" {
			t.Errorf("cliques of %v (-want +got):\n%s", c.ranks, diff)
		}
	}
}
