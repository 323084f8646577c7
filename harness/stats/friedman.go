package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// FriedmanTest is the result of Friedman.
type FriedmanTest struct {
	Blocks int
	Ranks  []float64 // mean rank of each method over the blocks, 1 for the largest values
	// ChiSquare is Friedman's statistic, corrected for ties, with methods - 1 degrees of freedom.
	ChiSquare, P float64
	// F is the less conservative statistic of Iman and Davenport. If all blocks agree on the order,
	// F is infinite and PF is 0.
	F, PF float64
	// Critical is the difference of mean ranks at which two methods differ at the 5 % level by
	// Nemenyi's test (Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets",
	// JMLR 7, 2006).
	Critical float64
}

// Friedman tests whether methods rank alike: x[i][j] is the value of method i in block j, larger is
// better. If the methods are equal in every block, P and PF are 1.
//
// The test assumes independent blocks. Data sets are independent. Seeds of one data set are not,
// because their training and test parts overlap: P, PF and Critical are then too small, and hold
// for these splits only.
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
	r := FriedmanTest{Blocks: n, Ranks: make([]float64, k)}
	block := make([]float64, k)
	middle := float64(k+1) / 2
	var spread float64 // of all ranks around the middle; ties make it smaller
	for j := range n {
		for i := range k {
			block[i] = -x[i][j]
		}
		for i, v := range rank(block, tolerance(block)) {
			r.Ranks[i] += v
			spread += (v - middle) * (v - middle)
		}
	}
	for i := range r.Ranks { // sums of halves are exact: a method that is always first has rank 1
		r.Ranks[i] /= float64(n)
	}
	r.Critical = rangeQuantile(k) * standardError(k, n)
	if spread == 0 {
		r.P, r.PF = 1, 1
		return r, nil
	}
	var between float64
	for _, m := range r.Ranks {
		between += (m - middle) * (m - middle)
	}
	a, b := float64(k-1), float64((k-1)*(n-1)) // degrees of freedom
	r.ChiSquare = a * float64(n*n) * between / spread
	r.P = mathext.GammaIncRegComp(a/2, r.ChiSquare/2)
	// If all blocks agree, this distance from the largest χ² is 0 up to rounding.
	if left := a*float64(n) - r.ChiSquare; left > closeness*r.ChiSquare {
		r.F = float64(n-1) * r.ChiSquare / left
		r.PF = mathext.RegIncBeta(b/2, a/2, b/(b+a*r.F))
	} else {
		r.F = math.Inf(1)
	}
	return r, nil
}

// Order returns the methods by mean rank, the best first.
func (r FriedmanTest) Order() []int {
	order := make([]int, len(r.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(r.Ranks[i], r.Ranks[j]) })
	return order
}

// Cliques lists the maximal groups of methods that Nemenyi's test does not tell apart, as ranges
// from..to of Order, both included. A method that differs from all others is in no clique.
func (r FriedmanTest) Cliques() [][2]int {
	order := r.Order()
	var out [][2]int
	reached := 0 // the last place in a clique so far
	for from := range order {
		to := from
		for to+1 < len(order) && r.Ranks[order[to+1]]-r.Ranks[order[from]] < r.Critical {
			to++
		}
		if to > from && to > reached {
			out = append(out, [2]int{from, to})
			reached = to
		}
	}
	return out
}

// standardError is the divisor of Nemenyi's test that turns a difference of mean ranks into a
// studentised range.
func standardError(methods, blocks int) float64 {
	return math.Sqrt(float64(methods*(methods+1)) / float64(12*blocks))
}

// rangeQuantile is the 95 % quantile of the studentised range of k groups at infinitely many
// degrees of freedom. (Nemenyi's division by √2 is in the 12 of standardError.)
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

// rangeCDF is the probability that k standard normal values lie within a distance q: k ∫ φ(z) (Φ(z)
// - Φ(z-q))^(k-1) dz. The trapezoidal rule is exact to about the last digits here.
func rangeCDF(q float64, k int) float64 {
	const edge, steps = 9.0, 720
	var sum float64
	for i := range 2*steps + 1 {
		z := edge * float64(i-steps) / steps
		sum += distuv.UnitNormal.Prob(z) * math.Pow(distuv.UnitNormal.CDF(z)-distuv.UnitNormal.CDF(z-q), float64(k-1))
	}
	return float64(k) * sum * edge / steps
}
