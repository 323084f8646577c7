package verify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// interval is the 95 % t interval of the mean of xs; nil for fewer than two values. The
// variance of the mean is s^2 (1/n + testToTrain): with 0 the usual one, else that of
// Nadeau and Bengio ("Inference for the generalization error", 2003), for values of
// random splits whose training parts overlap.
func interval(xs []float64, testToTrain float64) *Interval {
	n := float64(len(xs))
	if n < 2 {
		return nil
	}
	mean, sd := stat.MeanStdDev(xs, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	half := t * sd * math.Sqrt(1/n+testToTrain)
	return &Interval{mean - half, mean + half}
}

// spearman is the correlation of the ranks of x and y, tied values sharing their mean
// rank; NaN if one of them has but one value.
func spearman(x, y []float64) float64 {
	return stat.Correlation(meanRanks(x), meanRanks(y), nil)
}

func meanRanks(x []float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	out := make([]float64, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last < len(sorted) && sorted[last] == v {
			last++
		}
		out[i] = float64(first+last-1) / 2
	}
	return out
}
