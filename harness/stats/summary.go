// Package stats holds the statistics by which results are reported and compared. It is pure
// arithmetic on slices. Every interval is at 95 %, every p-value is two-sided.
//
// Equal fractions can differ in their last bits once they are averaged or subtracted. For ties and
// zero differences, values are equal if they differ by less than 1e-9 of the largest.
package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// level is the level of all intervals.
const level = 0.95

// closeness is the relative difference below which values are equal.
const closeness = 1e-9

// Summary summarises the values of several seeds.
type Summary struct {
	N    int
	Mean float64 // 0 if N is 0
	SD   float64 // sample standard deviation (divisor N-1), 0 if N is less than 2
}

// Summarize summarises x. A NaN or infinite value makes the mean NaN, and so is the deviation of
// two values or more.
func Summarize(x []float64) Summary {
	s := Summary{N: len(x)}
	if s.N == 0 {
		return s
	}
	n := float64(s.N)
	for _, v := range x {
		s.Mean += v / n
	}
	var off float64 // rounding error of the mean: equal values get exactly their value
	for _, v := range x {
		off += (v - s.Mean) / n
	}
	s.Mean += off
	if s.N < 2 {
		return s
	}
	var ss float64
	for _, v := range x {
		ss += (v - s.Mean) * (v - s.Mean)
	}
	s.SD = math.Sqrt(ss / (n - 1))
	return s
}

// Interval returns the 95 % t interval of the mean. ok is false for fewer than two values.
func (s Summary) Interval() (low, high float64, ok bool) {
	if s.N < 2 {
		return s.Mean, s.Mean, false
	}
	half := tQuantile(s.N-1) * s.SD / math.Sqrt(float64(s.N))
	return s.Mean - half, s.Mean + half, true
}

// ShareInterval returns the 95 % interval of a mean share (0..1) over seeds. It adds the binomial
// variance of tested different samples to the variance over the seeds, so it has a width even if
// all seeds agree. It stays within 0..1. ok is false for fewer than two values.
func (s Summary) ShareInterval(tested int) (low, high float64, ok bool) {
	if s.N < 2 || tested < 1 {
		return s.Mean, s.Mean, false
	}
	m := float64(tested)
	p := (m*s.Mean + 2) / (m + 4) // Agresti and Coull: not 0 or 1
	seeds := tQuantile(s.N-1) * s.SD / math.Sqrt(float64(s.N))
	samples := distuv.UnitNormal.Quantile((1+level)/2) * math.Sqrt(p*(1-p)/m)
	half := math.Hypot(seeds, samples)
	return max(0, s.Mean-half), min(1, s.Mean+half), true
}

// Distinct is the expected number of different samples in the test parts of splits random splits.
// Each test part has test of the samples.
func Distinct(samples, test, splits int) int {
	if samples < 1 {
		return 0
	}
	never := math.Pow(1-float64(test)/float64(samples), float64(splits))
	return int(math.Round(float64(samples) * (1 - never)))
}

// tQuantile is the factor of a 95 % interval at df degrees of freedom.
func tQuantile(df int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(df)}.Quantile((1 + level) / 2)
}

// finite returns an error that names the first NaN or infinite value.
func finite(what string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s[%d] is %v", what, i, v)
		}
	}
	return nil
}

// tolerance is the difference up to which the values of all lists are equal.
func tolerance(lists ...[]float64) float64 {
	var largest float64
	for _, x := range lists {
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
	}
	return closeness * largest
}
