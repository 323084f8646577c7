package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// FriedmanTest is the outcome of Friedman.
type FriedmanTest struct {
	Ranks     []float64 // mean rank of each method over the blocks, 1 for the largest values
	ChiSquare float64   // corrected for ties, with one degree of freedom less than methods
	P         float64
	// Critical is the difference of mean ranks from which two methods differ at the 5 %
	// level by Nemenyi's test (Demšar, "Statistical Comparisons of Classifiers over
	// Multiple Data Sets", JMLR 7, 2006).
	Critical float64
}

// Friedman tests whether several methods rank alike: x[i][j] is the value of method i in
// block j (a seed, a data set), larger being better. If the methods are equal in every
// block, P is 1.
func Friedman(x [][]float64) (FriedmanTest, error) {
	k := len(x)
	if k < 2 {
		return FriedmanTest{}, fmt.Errorf("stats: Friedman test: %d method(s), at least 2 are needed", k)
	}
	n := len(x[0])
	if n < 2 {
		return FriedmanTest{}, fmt.Errorf("stats: Friedman test: %d block(s), at least 2 are needed", n)
	}
	for i, row := range x {
		if len(row) != n {
			return FriedmanTest{}, fmt.Errorf("stats: Friedman test: method %d has %d values, method 0 has %d", i, len(row), n)
		}
		if err := finite(fmt.Sprintf("method %d: x", i), row); err != nil {
			return FriedmanTest{}, fmt.Errorf("stats: Friedman test: %w", err)
		}
	}
	r := FriedmanTest{Ranks: make([]float64, k)}
	block := make([]float64, k)
	middle := float64(k+1) / 2
	var spread float64 // of all ranks around the middle; less where there are ties
	for j := range n {
		for i := range k {
			block[i] = -x[i][j]
		}
		for i, v := range rank(block, tolerance(block)) {
			r.Ranks[i] += v / float64(n)
			spread += (v - middle) * (v - middle)
		}
	}
	r.Critical = rangeQuantile(k) * math.Sqrt(float64(k*(k+1))/float64(12*n))
	if spread == 0 {
		r.P = 1
		return r, nil
	}
	var between float64
	for _, m := range r.Ranks {
		between += (m - middle) * (m - middle)
	}
	r.ChiSquare = float64(k-1) * float64(n*n) * between / spread
	r.P = mathext.GammaIncRegComp(float64(k-1)/2, r.ChiSquare/2)
	return r, nil
}

// rangeQuantile is the 95 % quantile of the studentised range of k groups at infinitely
// many degrees of freedom. (Nemenyi's test divides it by √2; the factor is in the 12
// under the root above.)
func rangeQuantile(k int) float64 {
	low, high := 0.0, 20.0
	for range 60 {
		if mid := (low + high) / 2; rangeCDF(mid, k) < level {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// rangeCDF is the probability that k standard normal values lie within a distance q:
// k ∫ φ(z) (Φ(z) - Φ(z-q))^(k-1) dz, by the trapezoidal rule, which for such an integrand
// is exact to about the last digits.
func rangeCDF(q float64, k int) float64 {
	const edge, steps = 9.0, 720
	var sum float64
	for i := range 2*steps + 1 {
		z := edge * float64(i-steps) / steps
		sum += distuv.UnitNormal.Prob(z) * math.Pow(distuv.UnitNormal.CDF(z)-distuv.UnitNormal.CDF(z-q), float64(k-1))
	}
	return float64(k) * sum * edge / steps
}
