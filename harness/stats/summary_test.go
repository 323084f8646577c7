package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestSummary(t *testing.T) {
	for _, c := range load(t).Summary {
		s := Summarize(c.X)
		if s.N != len(c.X) {
			t.Errorf("N is %d", s.N)
		}
		near(t, "mean", s.Mean, c.Mean)
		near(t, "sd", s.SD, c.SD)
		low, high, ok := s.Interval()
		if !ok {
			t.Error("no interval")
		}
		near(t, "low", low, c.Low)
		near(t, "high", high, c.High)
	}
	for _, c := range load(t).TQuantile {
		near(t, fmt.Sprintf("t quantile at %d", c.DF), tQuantile(c.DF), c.Q)
	}
}

func TestSummaryOfLittle(t *testing.T) {
	if s := Summarize(nil); s != (Summary{}) {
		t.Errorf("nothing: %+v", s)
	}
	if s := Summarize([]float64{0.1}); s != (Summary{N: 1, Mean: 0.1}) {
		t.Errorf("one: %+v", s)
	}
	for _, few := range [][]float64{nil, {0.1}} {
		if _, _, ok := Summarize(few).Interval(); ok {
			t.Errorf("%v has an interval", few)
		}
	}
	s := Summarize(slices.Repeat([]float64{0.1}, 8))
	if s != (Summary{N: 8, Mean: 0.1}) {
		t.Errorf("the same value eight times: %+v", s)
	}
	if low, high, ok := s.Interval(); !ok || low != 0.1 || high != 0.1 {
		t.Errorf("the same value eight times: interval %v, %v, %v", low, high, ok)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if s := Summarize([]float64{1, bad, 2}); !math.IsNaN(s.Mean) || !math.IsNaN(s.SD) {
			t.Errorf("%v among the values: %+v", bad, s)
		}
	}
}
