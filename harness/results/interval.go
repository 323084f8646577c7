package results

import (
	"math"

	"ssdl/harness/stats"
)

// Interval is a closed interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Interval is the 95 % interval of the cell's mean, in the unit of m; nil for a single seed. It covers the spread
// over seeds. For a metric in % it also covers the binomial variance of the tested samples, and stays within
// 0..100. For other metrics it is at least as wide as the rounding of the shown mean.
func (c Cell) Interval(m Metric) *Interval {
	xs := make([]float64, len(c.Samples))
	for i, s := range c.Samples {
		xs[i] = s.Value
	}
	if m.Unit == "%" {
		for i := range xs {
			xs[i] /= 100
		}
		low, high, ok := stats.Summarize(xs).ShareInterval(c.Tested)
		if !ok {
			return nil
		}
		return &Interval{100 * low, 100 * high}
	}
	low, high, ok := stats.Summarize(xs).Interval()
	if !ok {
		return nil
	}
	half := 0.5 * math.Pow10(-m.Decimals)
	return &Interval{min(low, c.Mean-half), max(high, c.Mean+half)}
}
