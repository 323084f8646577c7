package store

import (
	"maps"
	"path/filepath"
	"testing"
)

// Named reads the metrics that are asked for, and all of them if none is.
func TestNamedMetrics(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	job, run := newJob("crc", 1000, 1), newRun(start)
	if err := s.Record(t.Context(), job, run); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ask  []string
		want map[string]float64
	}{
		{nil, run.Metrics},
		{[]string{"accuracy"}, map[string]float64{"accuracy": run.Metrics["accuracy"]}},
		{[]string{"loss", "unheard of", "accuracy"}, run.Metrics},
		{[]string{"unheard of"}, map[string]float64{}},
	} {
		known, err := s.Named(t.Context(), []string{job.NameKey}, c.ask...)
		if err != nil {
			t.Fatal(err)
		}
		if found := known[job.NameKey].Found; len(found) != 1 || !maps.Equal(found[0].Result.Metrics, c.want) {
			t.Errorf("asked for %v: %+v, want %v", c.ask, found, c.want)
		}
	}
}
