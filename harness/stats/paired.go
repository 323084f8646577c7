package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// TTest is the result of CorrectedT.
type TTest struct {
	N         int
	Mean      float64 // of x - y
	Low, High float64 // 95 % interval of the mean difference
	T         float64 // 0 if all differences are 0, infinite if they are equal and not 0
	P         float64
}

// CorrectedT is the paired t test of x against y, the values of two methods on the same splits,
// corrected for overlapping training sets (Nadeau and Bengio, "Inference for the Generalization
// Error", Machine Learning 52, 2003). The variance of the mean is s²(1/n + ratio) in place of s²/n;
// ratio is test samples over training samples. With ratio 0 it is the plain paired t test.
//
// If all differences are equal, the interval is a point, and P is 1 (difference 0) or 0.
func CorrectedT(x, y []float64, ratio float64) (TTest, error) {
	d, tol, err := differences(x, y)
	if err != nil {
		return TTest{}, fmt.Errorf("stats: corrected t test: %w", err)
	}
	if len(d) < 2 {
		return TTest{}, fmt.Errorf("stats: corrected t test: %d pair(s), at least 2 are needed", len(d))
	}
	if !(ratio >= 0) || math.IsInf(ratio, 0) {
		return TTest{}, fmt.Errorf("stats: corrected t test: the ratio of test to training samples is %v", ratio)
	}
	s := Summarize(d)
	r := TTest{N: s.N, Mean: s.Mean, Low: s.Mean, High: s.Mean}
	if s.SD <= tol {
		if math.Abs(s.Mean) <= tol {
			r.P = 1
			return r, nil
		}
		r.T = math.Inf(int(math.Copysign(1, s.Mean)))
		return r, nil
	}
	se := s.SD * math.Sqrt(1/float64(s.N)+ratio)
	half := tQuantile(s.N-1) * se
	r.Low, r.High = s.Mean-half, s.Mean+half
	r.T = s.Mean / se
	df := float64(s.N - 1)
	r.P = mathext.RegIncBeta(df/2, 0.5, df/(df+r.T*r.T)) // both tails, accurate for tiny P too
	return r, nil
}

// SignedRank is the result of Wilcoxon.
type SignedRank struct {
	N     int     // pairs that differ
	Plus  float64 // sum of the ranks of the pairs with x above y
	P     float64
	Exact bool // P counts all signs; false: the normal approximation
}

// exactPairs is the number of pairs up to which Wilcoxon counts all signs. The work grows with its
// cube. Above it the approximation is good to about three digits.
const exactPairs = 200

// Wilcoxon is the signed-rank test of x against y, the values of two methods on the same splits. It
// leaves out pairs without a difference; equal differences share the mean of their ranks. Up to 200
// pairs P is exact, ties included: twice the share of the 2^N sign assignments that are at least as
// extreme, at most 1. Without a differing pair P is 1.
//
// The test assumes independent pairs. Seeds of one data set are not quite independent: see
// CorrectedT.
func Wilcoxon(x, y []float64) (SignedRank, error) {
	d, tol, err := differences(x, y)
	if err != nil {
		return SignedRank{}, fmt.Errorf("stats: Wilcoxon test: %w", err)
	}
	d = slices.DeleteFunc(d, func(v float64) bool { return v == 0 })
	size := make([]float64, len(d))
	for i, v := range d {
		size[i] = math.Abs(v)
	}
	r := SignedRank{N: len(d), Exact: len(d) <= exactPairs}
	ranks := rank(size, tol)
	for i, v := range d {
		if v > 0 {
			r.Plus += ranks[i]
		}
	}
	if r.Exact {
		r.P = countSigns(ranks, r.Plus)
	} else {
		r.P = normalSigns(ranks, r.Plus)
	}
	return r, nil
}

// countSigns is the exact two-sided P of plus, the sum of the ranks with a plus sign.
func countSigns(ranks []float64, plus float64) float64 {
	// prob[w] is the probability that the ranks so far with a plus sum to w/2. Shared ranks are
	// multiples of 1/2.
	prob := make([]float64, len(ranks)*(len(ranks)+1)+1)
	prob[0] = 1
	reached := 0
	for _, v := range ranks {
		step := int(math.Round(2 * v))
		reached += step
		for w := reached; w >= 0; w-- {
			if prob[w] /= 2; w >= step {
				prob[w] += prob[w-step] / 2
			}
		}
	}
	at := int(math.Round(2 * plus))
	var below, above float64 // both include the observed sum
	for w, p := range prob {
		if w <= at {
			below += p
		}
		if w >= at {
			above += p
		}
	}
	return min(1, 2*min(below, above))
}

// normalSigns approximates countSigns by the normal distribution of the same mean and variance,
// Σr²/4, which accounts for shared ranks.
func normalSigns(ranks []float64, plus float64) float64 {
	var sum, squares float64
	for _, v := range ranks {
		sum += v
		squares += v * v
	}
	z := (plus - sum/2) / math.Sqrt(squares/4)
	return 2 * distuv.UnitNormal.CDF(-math.Abs(z))
}

// Holm adjusts the p-values of a family of tests, in their order. Rejecting those below α keeps the
// chance of any false rejection below α (Holm, "A Simple Sequentially Rejective Multiple Test
// Procedure", 1979).
func Holm(p []float64) ([]float64, error) {
	order, err := ascending("Holm's", p)
	if err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	var worst float64
	for k, i := range order {
		worst = max(worst, min(1, float64(len(p)-k)*p[i]))
		adjusted[i] = worst
	}
	return adjusted, nil
}

// BenjaminiHochberg adjusts the p-values of a family of tests, in their order. Of the rejections
// below α an expected share of at most α is false, if the tests are independent or positively
// dependent (Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995).
func BenjaminiHochberg(p []float64) ([]float64, error) {
	order, err := ascending("Benjamini and Hochberg's", p)
	if err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	best := 1.0
	for k, i := range slices.Backward(order) {
		best = min(best, float64(len(p))/float64(k+1)*p[i])
		adjusted[i] = best
	}
	return adjusted, nil
}

// ascending returns the order of the p-values. procedure names the caller in errors.
func ascending(procedure string, p []float64) ([]int, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("stats: %s procedure: p[%d] is %v, not a probability", procedure, i, v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order, nil
}

// differences returns x - y with differences up to tol set to zero.
func differences(x, y []float64) (d []float64, tol float64, err error) {
	if len(x) != len(y) {
		return nil, 0, fmt.Errorf("%d values against %d: the comparison is in pairs", len(x), len(y))
	}
	if err := finite("x", x); err != nil {
		return nil, 0, err
	}
	if err := finite("y", y); err != nil {
		return nil, 0, err
	}
	tol = tolerance(x, y)
	d = make([]float64, len(x))
	for i := range x {
		if v := x[i] - y[i]; math.Abs(v) > tol {
			d[i] = v
		}
	}
	return d, tol, nil
}
