package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scored is a run with an accuracy.
func scored(started time.Time, accuracy float64) Run {
	r := newRun(started)
	r.Metrics = map[string]float64{"accuracy": accuracy}
	r.Predictions = []int{0, 1, 2, 3, 4, int(1000 * accuracy)}
	r.Env = map[string]string{"machine": fmt.Sprint(accuracy)}
	return r
}

func current(t testing.TB, s *Store, j Job, want Run) {
	t.Helper()
	if got := finished(t, s, j); got.UID != want.UID || got.Fault != nil || got.Metrics["accuracy"] != want.Metrics["accuracy"] {
		t.Errorf("current is %s with %v (%v), want %s with %v", got.UID, got.Metrics, got.Fault, want.UID, want.Metrics)
	}
}

var longAgo = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// An import changes no result of the store, whatever its times and supersessions, and leaves nothing to
// prune; with PreferTheirs it does.
func TestImportChangesNothingUnasked(t *testing.T) {
	dir := t.TempDir()
	job, other := realJob("ssdl", 1), realJob("src", 1)
	mine, old, theirs, claims, news := scored(start, 0.935), scored(start, 0.9), scored(longAgo, 0.995), scored(start.Add(time.Hour), 0.999), scored(longAgo, 0.5)
	claims.Replaces = mine.UID
	into := shard(t, filepath.Join(dir, "into.db"), func(s *Store) { record(t, s, job, mine) })
	earlier := shard(t, filepath.Join(dir, "earlier.db"), func(s *Store) { record(t, s, other, old) })
	file := shard(t, filepath.Join(dir, "theirs.db"), func(s *Store) {
		record(t, s, job, mine)
		record(t, s, job, theirs)
		record(t, s, job, claims)
		record(t, s, other, news)
	})
	s := openStore(t, into)
	if m, err := merge(t, s, earlier); err != nil || len(m.Changed) > 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	m, err := merge(t, s, file)
	if want := (Merged{Runs: 3, Known: 1}); err != nil || cmp.Diff(want, m) != "" {
		t.Fatalf("%+v, %v", m, err)
	}
	current(t, s, job, mine)
	current(t, s, other, old) // which came with an earlier import
	if list, err := s.Superseded(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("to be pruned: %+v, %v", list, err)
	}
	if report, err := s.Check(t.Context(), nil, nil); err != nil || len(report.Faults) > 0 || report.Imported != 4 || report.Origins != 2 {
		t.Errorf("%+v, %v", report, err)
	}

	// The same file again, preferred.
	m, err = s.Merge(t.Context(), MergeOptions{Prefer: PreferTheirs}, Source{Name: "theirs.db", Path: file})
	want := Merged{Known: 4, Changed: []CurrentChange{{other, old.UID, news.UID}, {job, mine.UID, theirs.UID}}}
	if want.Changed[0].Job.Key() > want.Changed[1].Job.Key() {
		want.Changed[0], want.Changed[1] = want.Changed[1], want.Changed[0]
	}
	if err != nil || cmp.Diff(want, m) != "" {
		t.Fatalf("%v\n%s", err, cmp.Diff(want, m))
	}
	current(t, s, job, theirs)
	current(t, s, other, news)
	if list, err := s.Superseded(t.Context()); err != nil || len(list) != 1 || list[0].UID != mine.UID {
		t.Errorf("to be pruned: %+v, %v", list, err)
	}
	if report, err := s.Check(t.Context(), nil, nil); err != nil || len(report.Faults) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	// A run made here in place of theirs is current again.
	again := scored(start.Add(2*time.Hour), 0.936)
	again.Replaces = theirs.UID
	record(t, s, job, again)
	if got := finished(t, s, job); got.UID != claims.UID { // the other one of theirs comes before ours
		t.Errorf("current is %s", got.UID)
	}
	last := scored(start.Add(3*time.Hour), 0.937)
	last.Replaces = claims.UID
	record(t, s, job, last)
	current(t, s, job, again)
}

// Within one import the order of the files does not matter; what a file says of its own runs holds.
func TestImportOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	job := realJob("ssdl", 1)
	a, b, c := scored(start, 0.1), scored(start.Add(time.Hour), 0.2), scored(start.Add(2*time.Hour), 0.3)
	c.Replaces = a.UID
	one := shard(t, filepath.Join(dir, "one.db"), func(s *Store) { record(t, s, job, a) })
	two := shard(t, filepath.Join(dir, "two.db"), func(s *Store) { record(t, s, job, b) })
	three := shard(t, filepath.Join(dir, "three.db"), func(s *Store) { record(t, s, job, a); record(t, s, job, c) })
	for _, paths := range [][]string{{one, two, three}, {three, two, one}, {two, three}} {
		s := openStore(t, filepath.Join(t.TempDir(), "runs.db"))
		if m, err := merge(t, s, paths...); err != nil || m.Runs != 3 {
			t.Fatalf("%+v, %v", m, err)
		}
		current(t, s, job, b)
		if list, err := s.Superseded(t.Context()); err != nil || len(list) != 1 || list[0].UID != a.UID {
			t.Errorf("%+v, %v", list, err)
		}
	}
}

// Every imported run has an origin, also one that its file had imported.
func TestOrigin(t *testing.T) {
	dir := t.TempDir()
	job := realJob("ssdl", 1)
	run, here := scored(start, 0.5), scored(start, 0.25)
	first := shard(t, filepath.Join(dir, "first.db"), func(s *Store) { record(t, s, job, run) })
	between := openStore(t, filepath.Join(dir, "between.db"))
	if _, err := merge(t, between, first); err != nil {
		t.Fatal(err)
	}
	between.Close()
	s := openStore(t, shard(t, filepath.Join(dir, "into.db"), func(s *Store) { record(t, s, realJob("src", 1), here) }))
	before := time.Now().Add(-time.Second)
	source := Source{Name: "runs/between.zip", Path: between.abs, SHA256: strings.Repeat("ab", 32), Signer: "me@example.org"}
	if _, err := s.Merge(t.Context(), MergeOptions{}, source); err != nil {
		t.Fatal(err)
	}
	_, got, err := s.RunByUID(t.Context(), run.UID)
	if err != nil || got.Origin == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if got.Origin.Imported.Before(before) || got.Origin.Imported.After(time.Now()) {
		t.Errorf("imported at %v", got.Origin.Imported)
	}
	want := Origin{source.Name, source.SHA256, got.Origin.Imported, source.Signer}
	if *got.Origin != want {
		t.Errorf("origin %+v, want %+v", *got.Origin, want)
	}
	if r := finished(t, s, job); r.Origin == nil || *r.Origin != want {
		t.Errorf("origin of the result: %+v", r.Origin)
	}
	if r := finished(t, s, realJob("src", 1)); r.UID != here.UID || r.Origin != nil {
		t.Errorf("origin of a run that was recorded here: %+v", r.Origin)
	}
	n := 0
	if err := s.Each(t.Context(), nil, func(r RunRecord) error {
		if n++; (r.Run.Origin == nil) != (r.Run.UID == here.UID) {
			t.Errorf("%+v", r.Run)
		}
		return nil
	}); err != nil || n != 2 {
		t.Errorf("%d runs, %v", n, err)
	}
	// A file whose SHA-256 nobody gives is hashed.
	if _, err := merge(t, between, first); err == nil {
		t.Error("a closed store was written to")
	}
	other := openStore(t, filepath.Join(dir, "other.db"))
	if _, err := merge(t, other, first); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if r := finished(t, other, job); r.Origin == nil || r.Origin.SHA256 != sum(b) || r.Origin.Signer != "" {
		t.Errorf("origin %+v", r.Origin)
	}
}

// Two ok runs of one job, by the same code in the same environment, with different predictions are
// refused, with both uids; SameBits says which environments are the same.
func TestImportRefusesContradictions(t *testing.T) {
	dir := t.TempDir()
	job := realJob("ssdl", 1)
	mine := scored(start, 0.5)
	into := shard(t, filepath.Join(dir, "into.db"), func(s *Store) { record(t, s, job, mine) })
	for name, c := range map[string]struct {
		edit    func(*Run)
		opts    MergeOptions
		refused bool
	}{
		"same environment":       {func(r *Run) { r.Env = mine.Env }, MergeOptions{}, true},
		"other environment":      {func(r *Run) {}, MergeOptions{}, false},
		"environments alike":     {func(r *Run) {}, MergeOptions{SameBits: func(a, b map[string]string) bool { return a["machine"] != b["machine"] }}, true},
		"environments not alike": {func(r *Run) {}, MergeOptions{SameBits: func(a, b map[string]string) bool { return a["machine"] == b["machine"] }}, false},
		"different code":         {func(r *Run) { r.Env, r.Code.Method = mine.Env, "ff" }, MergeOptions{}, false},
		"same predictions":       {func(r *Run) { r.Env, r.Predictions = mine.Env, mine.Predictions }, MergeOptions{}, false},
		"failed": {func(r *Run) {
			*r = failed(*r, StatusError, "no")
			r.Env = mine.Env
		}, MergeOptions{}, false},
		"not deterministic": {func(r *Run) { r.Env = mine.Env }, MergeOptions{Deterministic: func(j Job) bool { return j.Method.Name != "ssdl" }}, false},
		"deterministic":     {func(r *Run) { r.Env = mine.Env }, MergeOptions{Deterministic: func(j Job) bool { return j.Method.Name == "ssdl" }}, true},
	} {
		t.Run(name, func(t *testing.T) {
			theirs := scored(start, 0.75)
			c.edit(&theirs)
			file := shard(t, filepath.Join(t.TempDir(), "theirs.db"), func(s *Store) { record(t, s, job, theirs) })
			again := shard(t, filepath.Join(t.TempDir(), "mine.db"), func(s *Store) { record(t, s, job, mine) })
			copied := filepath.Join(t.TempDir(), "into.db")
			b, err := os.ReadFile(into)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied, b, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{copied, filepath.Join(t.TempDir(), "empty.db")} { // also of each other
				s := openStore(t, path)
				_, err := s.Merge(t.Context(), c.opts, Source{Name: "theirs.db", Path: file}, Source{Name: "mine.db", Path: again})
				if c.refused {
					wantError(t, err, "theirs.db", mine.UID, theirs.UID, "pahl+ssdl on sports8, seed 1", "contradict")
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	// Of runs whose code is unknown nothing is known.
	unknown := scored(start, 0.75)
	unknown.Code, unknown.Env = Run{}.Code, mine.Env
	twice := shard(t, filepath.Join(dir, "unknown.db"), func(s *Store) {
		record(t, s, job, unknown)
		unknown.UID, unknown.Predictions = NewUID(), []int{5, 4, 3, 2, 1, 0}
		record(t, s, job, unknown)
	})
	if _, err := merge(t, openStore(t, into), twice); err != nil {
		t.Error(err)
	}
}

// Verify sees every run of the files, before anything is imported.
func TestImportVerifies(t *testing.T) {
	dir := t.TempDir()
	file := shard(t, filepath.Join(dir, "theirs.db"), func(s *Store) {
		record(t, s, realJob("ssdl", 1), scored(start, 0.5))
		record(t, s, realJob("src", 1), scored(start, 1.4))
	})
	s := openStore(t, filepath.Join(dir, "into.db"))
	opts := MergeOptions{Verify: func(r RunRecord) error {
		if v := r.Run.Metrics["accuracy"]; v > 1 {
			return Fault{"metrics", r.Run.UID, "accuracy", fmt.Sprint(v), "between 0 and 1"}
		}
		return nil
	}}
	_, err := s.Merge(t.Context(), opts, Source{Name: "theirs.db", Path: file})
	wantError(t, err, "theirs.db", "accuracy is 1.4, expected between 0 and 1")
	var fault Fault
	if !errors.As(err, &fault) || fault.Table != "metrics" {
		t.Errorf("%+v", fault)
	}
	if n := count(t, s, "SELECT count(*) FROM datasets"); n != 0 {
		t.Errorf("%d data sets were imported", n)
	}
}

// A dry run shows the store after the import and leaves it unchanged; the store may be read-only.
func TestDryRun(t *testing.T) {
	dir := t.TempDir()
	job := realJob("ssdl", 1)
	mine, theirs := scored(start, 0.5), scored(longAgo, 0.75)
	path := shard(t, filepath.Join(dir, "into.db"), func(s *Store) { record(t, s, job, mine) })
	file := shard(t, filepath.Join(dir, "theirs.db"), func(s *Store) { record(t, s, job, theirs) })
	source := Source{Name: "theirs.db", Path: file}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	trial, m, err := s.DryRun(t.Context(), MergeOptions{Prefer: PreferTheirs}, source)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Merged{Runs: 1, Changed: []CurrentChange{{job, mine.UID, theirs.UID}}}); cmp.Diff(want, m) != "" {
		t.Errorf("%+v", m)
	}
	current(t, s, job, mine)
	current(t, trial, job, theirs)
	if err := trial.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := s.DryRun(t.Context(), MergeOptions{}, Source{Name: "none.db", Path: filepath.Join(dir, "none.db")}); err == nil {
		t.Error("a file that is not there was tried")
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the store was changed")
	}
}

// A run that claims to replace itself would leave no current run: it is refused.
func TestImportRefusesToTakeAllAway(t *testing.T) {
	dir := t.TempDir()
	run := scored(start, 0.5)
	run.Command = nil // rehash is of schema 4
	file := shard(t, filepath.Join(dir, "theirs.db"), func(s *Store) { record(t, s, realJob("ssdl", 1), run) })
	tamper(t, file, "INSERT INTO replaced VALUES ('"+run.UID+"', '"+run.UID+"')", "UPDATE runs SET replaces = uid")
	rehash(t, file)
	_, err := merge(t, openStore(t, filepath.Join(dir, "into.db")), file)
	wantError(t, err, realJob("ssdl", 1).Key(), "none would be current")
}
