package report

import (
	"testing"

	"ssdl/harness/results"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 cells differ", 1: "1 cell differs", 2: "2 cells differ"} {
		if got := Count(n, "cell differs", "cells differ"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestZeroHasNoSign(t *testing.T) {
	for v, want := range map[float64]string{-0.04: "0.0", 0.04: "0.0", 0: "0.0", -0.06: "-0.1", 0.06: "+0.1", -10: "-10.0"} {
		if got := Signed(v, 1); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if got, _ := shownValue(results.MetricOf("accuracy"), results.Cell{Mean: -0.04}); got != "0.0" {
		t.Errorf("a mean of -0.04 is shown as %q", got)
	}
}
