package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Results stay, and failures that nothing went well after; the rest goes and does not come back.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, filepath.Join(dir, "runs.db"))
	done, fails, redone := newJob("done", 1, 1), newJob("fails", 1, 1), newJob("redone", 1, 1)
	lost := failed(newRun(start), StatusPanic, "index out of range")
	lost.Env = map[string]string{"commit": "old"}
	record(t, s, done, lost)
	record(t, s, done, newRun(start.Add(time.Hour)))
	record(t, s, fails, failed(newRun(start), StatusError, "singular"))
	old, now := newRun(start), newRun(start.Add(time.Hour))
	old.Truth = []int{1, 2, 3, 4, 5, 6}
	now.Replaces = old.UID
	record(t, s, redone, old)
	record(t, s, redone, now)
	// With other code it went wrong: that is news, though there is a result.
	worse := failed(newRun(start.Add(2*time.Hour)), StatusTimeout, "did not finish")
	record(t, s, redone, worse)
	backup := filepath.Join(dir, "before.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}

	want := []SupersededRun{
		{lost.UID, "sports8", "pahl+done", "test", 1, StatusPanic, "failed, and went well later"},
		{old.UID, "sports8", "pahl+redone", "test", 1, StatusOK, "replaced by " + now.UID},
	}
	if got, err := s.Superseded(t.Context()); err != nil || cmp.Diff(want, got) != "" {
		t.Fatalf("superseded: %v %s", err, cmp.Diff(want, got))
	}
	if n := count(t, s, "SELECT count(*) FROM runs"); n != 6 {
		t.Fatalf("%d runs after looking", n)
	}
	keys := []string{done.Key(), fails.Key(), redone.Key()}
	before, err := s.Finished(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Prune(t.Context()); err != nil || cmp.Diff(want, got) != "" {
		t.Fatalf("removed: %v %s", err, cmp.Diff(want, got))
	}
	after, err := s.Finished(t.Context(), keys)
	if err != nil || cmp.Diff(before, after) != "" {
		t.Fatalf("results: %v %s", err, cmp.Diff(before, after))
	}
	for what, query := range map[string]string{
		"runs": "runs", "predictions": "predictions", "environments": "envs", "lists of true classes": "truths",
	} {
		got := count(t, s, "SELECT count(*) FROM "+query)
		if want := map[string]int{"runs": 4, "predictions": 2, "envs": 1, "truths": 1}[query]; got != want {
			t.Errorf("%d %s are left, want %d", got, what, want)
		}
	}
	wantIntact(t, s)
	if got, err := s.Prune(t.Context()); err != nil || len(got) != 0 {
		t.Fatalf("a second time: %v, %v", got, err)
	}
	if m, err := merge(t, s, backup); err != nil || m.Runs != 2 {
		t.Fatalf("import of what was removed: %+v, %v", m, err)
	}
	if again, err := s.Finished(t.Context(), keys); err != nil || cmp.Diff(before, again) != "" {
		t.Fatalf("after an import of what was removed: %v %s", err, cmp.Diff(before, again))
	}
}

// Another process that writes while the file shrinks is waited for, as it is everywhere, and the
// wait can be stopped.
func TestShrinkWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := newStore(t, path)
	record(t, s, newJob("m", 1, 1), newRun(start))
	holder, err := sql.Open("sqlite3", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.Begin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.shrink(ctx, "shrink"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped while it waits: %v", err)
	}
	defer time.AfterFunc(2*slice, func() { tx.Rollback() }).Stop()
	if err := s.shrink(t.Context(), "shrink"); err != nil {
		t.Error(err)
	}
	wantIntact(t, s)
}
