package stats

import (
	"math"
	"testing"
)

func TestRankCorrelations(t *testing.T) {
	for _, c := range load(t).Correlations {
		s, err := Spearman(c.X, c.Y)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		near(t, c.Name+": ρ", s, c.Spearman)
	}
	for _, c := range []struct {
		name     string
		x, y     []float64
		spearman float64
	}{
		{"same order", []float64{1, 2, 3}, []float64{10, 100, 1000}, 1},
		{"reversed", []float64{1, 2, 3}, []float64{-1, -2, -3}, -1},
		// The third value of the first list is equal to the second up to rounding.
		{"nearly tied", []float64{0.1, 0.3, 0.1 + 0.2}, []float64{1, 2, 3}, math.Sqrt(3) / 2},
	} {
		s, err := Spearman(c.x, c.y)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		near(t, c.name+": ρ", s, c.spearman)
	}
	for _, c := range []struct {
		x, y []float64
		want string
	}{
		{x, y[1:], "8 values against 7"},
		{x[:1], y[:1], "at least 2"},
		{[]float64{1, 2}, []float64{3, 3}, "no order"},
		{[]float64{0, 0}, []float64{3, 4}, "no order"},
		{[]float64{1, 2}, []float64{3, math.NaN()}, "y[1] is NaN"},
	} {
		_, err := Spearman(c.x, c.y)
		wantError(t, err, c.want)
		wantError(t, err, "Spearman")
	}
}
