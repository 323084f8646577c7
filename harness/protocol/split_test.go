package protocol

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// classesOf is a list of labels with so many samples of each class.
func classesOf(sizes ...int) (labels []int) {
	for c, n := range sizes {
		labels = append(labels, slices.Repeat([]int{c}, n)...)
	}
	return labels
}

// perClass counts the samples with these indices by class.
func perClass(labels, at []int) []int {
	counts := make([]int, slices.Max(labels)+1)
	for _, j := range at {
		counts[labels[j]]++
	}
	return counts
}

func TestHoldOut(t *testing.T) {
	labels := classesOf(1, 2, 3, 10, 18)
	fit, val := HoldOut(labels, 0.2, 1000)
	if d := cmp.Diff([]int{1, 2, 2, 8, 14}, perClass(labels, fit)) + cmp.Diff([]int{0, 0, 1, 2, 4}, perClass(labels, val)); d != "" {
		t.Error(d)
	}
	all := slices.Concat(fit, val)
	slices.Sort(all)
	if !slices.IsSorted(fit) || !slices.IsSorted(val) || len(slices.Compact(all)) != len(labels) {
		t.Errorf("fit %v val %v", fit, val)
	}
	fit2, val2 := HoldOut(labels, 1, 1000)
	if d := cmp.Diff([]int{1, 1, 1, 1, 1}, perClass(labels, fit2)); d != "" || len(val2) != len(labels)-5 {
		t.Errorf("of all held out: %s", d)
	}
	again, _ := HoldOut(labels, 0.2, 1000)
	if !slices.Equal(fit, again) {
		t.Error("not deterministic")
	}
}

func TestStream(t *testing.T) {
	seen := map[uint64]string{}
	for _, role := range []string{"split", "labels", "validation", "init", "method"} {
		for seed := range uint64(8) {
			v := Stream(1000+seed, role).Uint64()
			if was, ok := seen[v]; ok {
				t.Errorf("%s %d begins as %s", role, seed, was)
			}
			seen[v] = fmt.Sprint(role, seed)
			if again := Stream(1000+seed, role).Uint64(); again != v {
				t.Errorf("%s %d is not reproducible", role, seed)
			}
		}
	}
	if got := Stream(1000, "split").Uint64(); got != 0xa1bb2f09fc9369ba {
		t.Errorf("the stream of seed 1000 and role split begins with %#x", got)
	}
}

func TestRoundHalfUp(t *testing.T) {
	for p := range 101 {
		for n := range 300 {
			if got := roundHalfUp(float64(p)/100, n); got != hundredths(p, n) {
				t.Fatalf("%d %% of %d = %d, want %d", p, n, got, hundredths(p, n))
			}
		}
	}
}

// hundredths is round-half-up(p % of n) in whole numbers.
func hundredths(p, n int) int { return (p*n + 50) / 100 }
