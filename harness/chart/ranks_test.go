package chart

import (
	"slices"
	"testing"
)

// Overlapping bars have different levels, and no level is empty.
func TestStack(t *testing.T) {
	at := func(i int) float64 { return float64(i) }
	for _, c := range []struct {
		bars [][2]int
		want []int
	}{
		{nil, []int{}},
		{[][2]int{{0, 2}, {3, 4}}, []int{0, 0}},
		{[][2]int{{0, 2}, {2, 4}, {5, 6}}, []int{0, 1, 0}},
		{[][2]int{{0, 3}, {1, 4}, {2, 5}, {4, 6}}, []int{0, 1, 2, 0}},
	} {
		if got := barLevels(c.bars, at, 0.5); !slices.Equal(got, c.want) {
			t.Errorf("%v: levels %v, want %v", c.bars, got, c.want)
		}
	}
}
