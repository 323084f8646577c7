package store

import (
	"path/filepath"
	"testing"
)

// The size of a run includes each of its values.
func TestSizesGrowWithWhatIsRecorded(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	base := newRun(start)
	base.UID = "0123456789abcdef0123456789abcdef"
	record(t, s, newJob("a", 1, 1), base)
	size := func(seed uint64, change func(*Run)) int64 {
		t.Helper()
		r := newRun(start)
		change(&r)
		record(t, s, newJob("a", seed, 1), r)
		sizes, err := s.Sizes(t.Context(), []string{base.UID, r.UID, "none"})
		if err != nil {
			t.Fatal(err)
		}
		if len(sizes) != 2 {
			t.Fatalf("sizes %v, want two", sizes)
		}
		return sizes[r.UID] - sizes[base.UID]
	}
	for name, tc := range map[string]struct {
		seed   uint64
		change func(*Run)
		more   int64
	}{
		"the same":    {2, func(*Run) {}, 0},
		"a metric":    {3, func(r *Run) { r.Metrics["more"] = 1 }, 4 + 8},
		"a point":     {4, func(r *Run) { r.Series = append(r.Series, Point{"objective", 3, 0}) }, 9 + 2*8},
		"predictions": {5, func(r *Run) { r.Predictions, r.Truth = append(r.Predictions, 200), append(r.Truth, 0) }, 2},
		"a reason":    {6, func(r *Run) { r.Reason += "…" }, 3},
	} {
		if more := size(tc.seed, tc.change); more != tc.more {
			t.Errorf("%s adds %d bytes, want %d", name, more, tc.more)
		}
	}
}
