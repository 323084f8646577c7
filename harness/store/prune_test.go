package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Results stay, and failures without a later success; all other runs go and do not come back.
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
	// A later failure with different code stays, though there is a result.
	worse := failed(newRun(start.Add(2*time.Hour)), StatusTimeout, "did not finish")
	record(t, s, redone, worse)
	backup := filepath.Join(dir, "before.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}

	want := []SupersededRun{
		{lost.UID, "sports8", "pahl+done", "test", 1, StatusPanic, "failed; a later run succeeded"},
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

// Undo brings back what Prune removed, once, also after further runs were recorded; only the last
// removal is kept.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	theirs := shard(t, filepath.Join(dir, "theirs.db"), func(s *Store) {
		first, second := scored(start, 0.1), scored(start.Add(time.Hour), 0.2)
		second.Replaces = first.UID
		record(t, s, realJob("imported", 1), first)
		record(t, s, realJob("imported", 1), second)
	})
	s := openStore(t, shard(t, filepath.Join(dir, "runs.db"), func(s *Store) {
		first, second := scored(start, 0.3), scored(start.Add(time.Hour), 0.4)
		second.Replaces = first.UID
		record(t, s, realJob("ssdl", 1), first)
		record(t, s, realJob("ssdl", 1), second)
		record(t, s, realJob("src", 1), failed(scored(start, 0), StatusPanic, "no"))
		record(t, s, realJob("src", 1), scored(start.Add(time.Hour), 0.5))
	}))
	if _, err := s.Undo(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was removed: %v", err)
	}
	if _, err := merge(t, s, theirs); err != nil {
		t.Fatal(err)
	}
	before := content(t, s)
	if list, err := s.Prune(t.Context()); err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err := s.Prune(t.Context()); err != nil || len(list) != 0 { // which keeps what is kept
		t.Fatalf("%+v, %v", list, err)
	}
	record(t, s, realJob("new", 1), scored(start, 0.6))
	if n, err := s.Undo(t.Context()); err != nil || n != 3 {
		t.Fatalf("%d runs came back, %v", n, err)
	}
	after := slices.DeleteFunc(content(t, s), func(r RunRecord) bool { return r.Job.Method.Name == "new" })
	if d := cmp.Diff(before, after); d != "" || len(before) != 6 {
		t.Errorf("(-before +after):\n%s", d)
	}
	if report, err := s.Check(t.Context(), nil, nil); err != nil || len(report.Faults) > 0 || report.Superseded != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := s.Undo(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second time: %v", err)
	}

	// The next removal is kept in place of the last.
	if _, err := s.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := scored(start.Add(2*time.Hour), 0.7)
	was := finished(t, s, realJob("src", 1)).UID
	last.Replaces = was
	record(t, s, realJob("src", 1), last)
	if list, err := s.Prune(t.Context()); err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if n, err := s.Undo(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d runs came back, %v", n, err)
	}
	if _, _, err := s.RunByUID(t.Context(), was); err != nil {
		t.Error(err)
	}
	if current := finished(t, s, realJob("src", 1)); current.UID != last.UID {
		t.Errorf("current is %s", current.UID)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "pruned") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// If the copy for Undo cannot be written, nothing is removed.
func TestPruneKeepsFirst(t *testing.T) {
	s, _, _ := faultStore(t, filepath.Join(t.TempDir(), "runs.db"))
	if err := os.MkdirAll(filepath.Join(s.prunedPath(), "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := s.Prune(t.Context())
	wantError(t, err, s.prunedPath(), "cannot be kept")
	if n := count(t, s, "SELECT count(*) FROM runs"); n != 4 {
		t.Errorf("%d runs are left", n)
	}
}

// A run that only a forged entry supersedes is not removed.
func TestPruneRefusesForgedEntries(t *testing.T) {
	s, _, uids := faultStore(t, filepath.Join(t.TempDir(), "runs.db"))
	if _, err := s.w.Exec("UPDATE replaced SET uid = (SELECT new FROM replaced), new = uid"); err != nil {
		t.Fatal(err)
	}
	list, err := s.Prune(t.Context())
	wantError(t, err, s.path, uids[3], "which does not say so")
	if n := count(t, s, "SELECT count(*) FROM runs"); n != 4 || list != nil {
		t.Errorf("%d runs are left, %v", n, list)
	}
}

// An imported run does not supersede a failed attempt made here.
func TestPruneKeepsLocalFailures(t *testing.T) {
	dir := t.TempDir()
	job := realJob("ssdl", 1)
	late := scored(start.Add(time.Hour), 0.99)
	theirs := shard(t, filepath.Join(dir, "theirs.db"), func(s *Store) {
		record(t, s, job, failed(scored(start, 0), StatusError, "theirs"))
		record(t, s, job, late)
	})
	mine := failed(scored(start, 0), StatusError, "mine")
	s := openStore(t, shard(t, filepath.Join(dir, "runs.db"), func(s *Store) { record(t, s, job, mine) }))
	if _, err := merge(t, s, theirs); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Superseded(t.Context()); err != nil || len(list) != 1 || list[0].UID == mine.UID {
		t.Errorf("%+v, %v", list, err)
	}
}

// Prune waits for another process that writes while the file shrinks, and the wait can be cancelled.
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
	defer time.AfterFunc(2*lockSlice, func() { tx.Rollback() }).Stop()
	if err := s.shrink(t.Context(), "shrink"); err != nil {
		t.Error(err)
	}
	wantIntact(t, s)
}

// Forget removes results too, with what they superseded; Undo brings back both, and the file is sound in between.
func TestForget(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	stays, goes := newJob("stays", 1, 1), newJob("goes", 1, 1)
	record(t, s, stays, newRun(start))
	old, now, last := newRun(start), newRun(start.Add(time.Hour)), newRun(start.Add(2*time.Hour))
	now.Replaces, last.Replaces = old.UID, now.UID
	record(t, s, goes, old)
	record(t, s, goes, now)
	if _, err := s.Prune(t.Context()); err != nil { // an entry whose run is gone leads on to one that is there
		t.Fatal(err)
	}
	record(t, s, goes, last)

	sound := func() {
		t.Helper()
		r, err := s.Check(t.Context(), nil, nil)
		if err != nil || len(r.Faults) > 0 {
			t.Fatalf("%v, %v", r.Faults, err)
		}
	}
	keys := []string{goes.Key(), "no such job"}
	listed, err := s.RunsOf(t.Context(), keys)
	if err != nil || len(listed) != 2 || listed[0].UID != now.UID || listed[1].UID != last.UID {
		t.Fatalf("%v, %v", listed, err)
	}
	if n := count(t, s, "SELECT count(*) FROM runs"); n != 3 {
		t.Fatalf("%d runs after looking", n)
	}
	if got, err := s.Forget(t.Context(), keys); err != nil || cmp.Diff(listed, got) != "" {
		t.Fatalf("%v %s", err, cmp.Diff(listed, got))
	}
	if runs, entries := count(t, s, "SELECT count(*) FROM runs"), count(t, s, "SELECT count(*) FROM replaced"); runs != 1 || entries != 0 {
		t.Errorf("%d runs and %d entries are left", runs, entries)
	}
	sound()
	if n, err := s.Undo(t.Context()); err != nil || n != 2 {
		t.Fatalf("%d runs are back, %v", n, err)
	}
	sound()
	current, err := s.Finished(t.Context(), []string{goes.Key()})
	if err != nil || current[goes.Key()].UID != last.UID {
		t.Errorf("current %v, %v", current, err)
	}
}
