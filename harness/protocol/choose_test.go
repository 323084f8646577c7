package protocol

import (
	"math"
	"testing"
)

func TestChoose(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		scores [][]float64
		higher bool
		want   int
	}{
		{[][]float64{{1, 2}, {3, 2}, {2, 3}}, true, 1}, // the first on ties
		{[][]float64{{1, 2}, {3, 2}, {2, 0}}, false, 2},
		{[][]float64{{nan, 9}, {3, 2}}, true, 1},
		{[][]float64{{nan, 0}, {3, 2}}, false, 1},
		{[][]float64{{nan, 9}, {3, nan}}, true, -1},
	} {
		means, chosen := Choose(c.scores, c.higher)
		if chosen != c.want || len(means) != len(c.scores) {
			t.Errorf("of %v candidate %d is chosen by %v, want %d", c.scores, chosen, means, c.want)
		}
	}
}
