package results

import "ssdl/harness/stats"

// Interval is a closed interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Interval is the 95 % t interval of the cell's mean over its seeds; nil for a single one.
func (c Cell) Interval() *Interval {
	xs := make([]float64, len(c.Samples))
	for i, s := range c.Samples {
		xs[i] = s.Value
	}
	low, high, ok := stats.Summarize(xs).Interval()
	if !ok {
		return nil
	}
	return &Interval{low, high}
}
