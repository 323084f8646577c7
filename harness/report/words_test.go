package report

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 cells differ", 1: "1 cell differs", 2: "2 cells differ"} {
		if got := Count(n, "cell differs", "cells differ"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
