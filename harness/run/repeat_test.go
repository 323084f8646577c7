package run

import (
	"strings"
	"testing"

	"ssdl/harness/store"
)

// A repetition that differs says in what, and whether another program computed the result.
func TestRepeat(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p, _ := b.run(t)
	task := &p.Cells[0].Final[0]
	repeat := func() string {
		t.Helper()
		differs, err := b.runner.Repeat(t.Context(), p, task)
		if err != nil {
			t.Fatal(err)
		}
		return differs
	}
	if differs := repeat(); differs != "" {
		t.Fatalf("unchanged: %s", differs)
	}
	// change records the run anew, as it came out elsewhere, and makes it the result.
	was := *task.Result
	change := func(f func(*store.Run)) {
		t.Helper()
		_, run, err := b.runner.Store.RunByUID(t.Context(), was.UID)
		if err != nil {
			t.Fatal(err)
		}
		run.UID = store.NewUID()
		f(&run)
		if err := b.runner.Store.Record(t.Context(), task.record(), run); err != nil {
			t.Fatal(err)
		}
		task.Result.UID = run.UID
	}
	vax := func(r *store.Run) { r.Env["arch"] = "vax" }
	change(vax)
	if differs := repeat(); differs != "" {
		t.Errorf("the same bits on another machine: %s", differs)
	}
	change(func(r *store.Run) { vax(r); r.Metrics["accuracy"] = 0.125 })
	if differs := repeat(); !strings.HasPrefix(differs, "the metric accuracy: 0.125, now ") || !strings.Contains(differs, ", architecture was vax, is ") {
		t.Errorf("another value on another machine: %q", differs)
	}
	change(func(r *store.Run) { delete(r.Metrics, "accuracy") })
	if differs := repeat(); differs != "" {
		t.Errorf("a metric that the program measures since: %q", differs)
	}
	change(func(r *store.Run) { r.Metrics["aaa"] = 0.5 })
	if differs := repeat(); !strings.HasPrefix(differs, "the metric aaa: 0.5, now none") {
		t.Errorf("a metric that the repetition lacks: %q", differs)
	}
	change(func(r *store.Run) { r.Metrics["accuracy"], r.Env = 0.125, nil })
	if differs := repeat(); !strings.HasPrefix(differs, "the metric accuracy: 0.125, now ") || strings.Contains(differs, "was") {
		t.Errorf("another value, nobody knows where: %q", differs)
	}
}
