package executor

import (
	"math"
	"strings"
	"testing"

	"ssdl/harness/job"
	"ssdl/harness/protocol"
	"ssdl/harness/store"
)

func TestPanicsAndBadNumbersAreFailures(t *testing.T) {
	_, err := guard(func() (*protocol.Outcome, error) { panic("index out of range") })
	if err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Fatalf("%v", err)
	}
	run := store.Run{Metrics: map[string]float64{"accuracy": 1, "bce": math.NaN()}}
	if err := checkFinite(run); err == nil || !strings.Contains(err.Error(), "bce") {
		t.Fatalf("%v", err)
	}
	run = store.Run{Series: []store.Point{{Name: "objective", Iteration: 2, Value: math.Inf(1)}}}
	if err := checkFinite(run); err == nil || !strings.Contains(err.Error(), "objective") {
		t.Fatalf("%v", err)
	}
}

// A pretext may draw random numbers: seeds that share a split do not share pseudo labels.
func TestPseudoLabelsAreOfTheirSeed(t *testing.T) {
	keys := map[string]bool{}
	for _, seed := range []uint64{1000, 1001} {
		key, err := pseudoKey(job.Job{Pretext: job.Part{Name: "hl"}, Seed: seed})
		if err != nil || !strings.HasPrefix(key, "pseudo/hl") {
			t.Fatalf("%q, %v", key, err)
		}
		keys[key] = true
	}
	if len(keys) != 2 {
		t.Errorf("one key for two seeds: %v", keys)
	}
}
