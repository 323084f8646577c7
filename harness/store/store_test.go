package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
)

var (
	dataset = Dataset{Hash: "d0", Name: "sports8", Samples: 1579, Dim: 2048, Classes: 8, Source: "made for the test", Synthetic: true, ClassNames: []string{"bocce", "<&>"}}
	split   = NamedSplit{Split{Hash: "50", Dataset: "d0", Kind: "random", Seed: 1000, Train: 1105, Labeled: 442, Test: 474}, Asked{"class train=0.7 labels=0.4", 1000}}
	start   = time.Date(2026, 11, 3, 9, 30, 0, 123456000, time.UTC)
)

// newJob makes a job of a method and its version.
func newJob(method string, seed uint64, version int) Job {
	return Job{Dataset: "sports8", Job: job.Job{
		DatasetHash: "d0", SplitHash: "50", Seed: seed, Eval: job.EvalTest, Protocol: 1,
		Method:  job.Part{Name: method, Version: version, Params: map[string]any{}},
		Pretext: job.Part{Name: "pahl", Version: 1, Params: map[string]any{"p": 2.2}},
	}}
}

// newRun makes a run that went well, with every kind of part.
func newRun(started time.Time) Run {
	return Run{
		UID: NewUID(), Status: StatusOK, Started: started,
		Wall: 900 * time.Millisecond, CPU: 3*time.Minute + 1, Peak: 1 << 31,
		Env:         map[string]string{"commit": "abc", "go": "go1.26", "blas": "gonum"},
		Metrics:     map[string]float64{"accuracy": 1.0 / 3, "loss": 5e-324},
		Series:      []Point{{"gap", 0, 1e-9}, {"objective", 1, 0.1 + 0.2}, {"objective", 2, -math.MaxFloat64}},
		Predictions: []int{0, 7, 127, 128, 39, 100000},
		Truth:       []int{0, 7, 127, 129, 39, 0},
		Code:        job.Fingerprints{Method: "00112233aabbccdd", Pretext: "8899", Protocol: "77"}, Reason: "retry: panic",
		Command: &Command{State: "ok", Confined: "files", Stdout: "a\x00\x1b[1m\n", Stderr: ""},
	}
}

func failed(r Run, status Status, text string) Run {
	r.Status, r.Error = status, text
	r.Metrics, r.Series, r.Predictions, r.Truth = nil, nil, nil, nil
	return r
}

// newStore returns a store that has the data set and the split.
func newStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := prepare(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func prepare(ctx context.Context, s *Store) error {
	return s.Register(ctx, []Dataset{dataset}, []NamedSplit{split})
}

func record(t testing.TB, s *Store, j Job, r Run) {
	t.Helper()
	if err := s.Record(t.Context(), j, r); err != nil {
		t.Fatal(err)
	}
}

// wantError asks for an error that has all the given parts.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has several lines", err)
	}
}

// count is the number a query returns.
func count(t testing.TB, s *Store, query string) int {
	t.Helper()
	var n int
	if err := s.r.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRunComesBackAsRecorded(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "a b", "100% ?#runs.db")) // the folder is made, the name is no URL
	job, run := newJob("ssdl", math.MaxUint64, 1), newRun(start)
	record(t, s, job, run)

	gotJob, gotRun, err := s.RunByUID(t.Context(), run.UID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(job, gotJob); d != "" {
		t.Errorf("job (-recorded +read):\n%s", d)
	}
	if len(gotRun.Hash) != 64 {
		t.Errorf("the hash of the record is %q", gotRun.Hash)
	}
	run.JobKey, run.EnvID, run.Hash = job.Key(), gotRun.EnvID, gotRun.Hash
	if d := cmp.Diff(run, gotRun); d != "" {
		t.Errorf("run (-recorded +read):\n%s", d)
	}
	env, err := s.Env(t.Context(), gotRun.EnvID)
	if d := cmp.Diff(run.Env, env); err != nil || d != "" {
		t.Errorf("env: %v %s", err, d)
	}

	record(t, s, newJob("ssdl", 1, 1), newRun(start))
	if n := count(t, s, "SELECT count(*) FROM envs"); n != 1 {
		t.Errorf("the same environment is stored %d times", n)
	}

	if _, _, err := s.RunByUID(t.Context(), "nope"); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "there is no such run") {
		t.Errorf("unknown uid: %v", err)
	}
	if _, err := s.Env(t.Context(), "nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown environment: %v", err)
	}
	if _, err := s.SplitByHash(t.Context(), "nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown split: %v", err)
	}
	if got, err := s.SplitByHash(t.Context(), "50"); err != nil || got != split.Split {
		t.Errorf("split: %+v, %v", got, err)
	}
	if err := s.Register(t.Context(), []Dataset{{Hash: "d0", Name: "other", Samples: 1, Dim: 1, Classes: 1}}, nil); err != nil {
		t.Error(err)
	}
	if got, err := s.Datasets(t.Context()); err != nil || len(got) != 1 || cmp.Diff(dataset, got[0]) != "" {
		t.Errorf("data sets: %+v, %v", got, err)
	}
}

func TestFinished(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	a, b, c := newJob("a", 1, 1), newJob("b", 1, 1), newJob("c", 1, 1)
	first, second := newRun(start.Add(time.Hour)), newRun(start.Add(2*time.Hour))
	first.Metrics = map[string]float64{"accuracy": 0.75}
	// Recorded in an order that is not that of time, as an import would.
	record(t, s, a, failed(newRun(start.Add(3*time.Hour)), StatusTimeout, "exceeded 1h"))
	record(t, s, a, second)
	record(t, s, a, first)
	record(t, s, a, failed(newRun(start), StatusPanic, "index out of range"))
	record(t, s, b, failed(newRun(start), StatusError, "singular"))

	got, err := s.Finished(t.Context(), []string{a.Key(), b.Key(), c.Key(), a.Key(), "unknown"})
	if err != nil {
		t.Fatal(err)
	}
	_, run, err := s.RunByUID(t.Context(), first.UID)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Result{a.Key(): {
		UID: first.UID, Started: first.Started, Wall: first.Wall, CPU: first.CPU, Peak: first.Peak,
		EnvID: run.EnvID, Code: first.Code, Metrics: map[string]float64{"accuracy": 0.75},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, err := s.Finished(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no keys: %v, %v", got, err)
	}

	runs, err := runsOf(t, s, a.Key())
	if err != nil {
		t.Fatal(err)
	}
	var order []Status
	for _, r := range runs {
		order = append(order, r.Status)
	}
	if d := cmp.Diff([]Status{StatusPanic, StatusOK, StatusOK, StatusTimeout}, order); d != "" {
		t.Errorf("attempts (-want +got):\n%s", d)
	}

	// At the same instant the smaller uid is current, in whatever order they came.
	x, y := newRun(start), newRun(start)
	x.UID, y.UID = "01", "02"
	record(t, s, b, y)
	record(t, s, b, x)
	if got, err := s.Finished(t.Context(), []string{b.Key()}); err != nil || got[b.Key()].UID != "01" {
		t.Errorf("tie: %v, %v", got[b.Key()].UID, err)
	}
	if n := count(t, s, "SELECT count(*) FROM results"); n != 1+2 {
		t.Errorf("view results has %d lines", n)
	}

	// A run that was replaced is no longer current, whatever the clock said; it is still there.
	again := newRun(start.Add(-time.Hour))
	again.Replaces = first.UID
	record(t, s, a, again)
	third := newRun(start.Add(-2 * time.Hour))
	third.Replaces = again.UID
	record(t, s, a, third)
	if got, err := s.Finished(t.Context(), []string{a.Key()}); err != nil || got[a.Key()].UID != third.UID {
		t.Errorf("after two replacements: %v, %v, want %s", got[a.Key()].UID, err, third.UID)
	}
	if _, _, err := s.RunByUID(t.Context(), first.UID); err != nil {
		t.Errorf("the replaced run: %v", err)
	}
	worse := failed(newRun(start), StatusError, "singular")
	worse.Replaces = third.UID
	wantError(t, s.Record(t.Context(), a, worse), "only a run that is ok replaces another")
}

// runsOf returns all attempts at a job, the earliest first.
func runsOf(t *testing.T, s *Store, key string) (runs []Run, err error) {
	t.Helper()
	err = s.Each(t.Context(), []string{key}, func(r RunRecord) error {
		runs = append(runs, r.Run)
		return nil
	})
	return runs, err
}

func TestState(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	done, fails, fresh := newJob("done", 1, 1), newJob("fails", 1, 1), newJob("fresh", 1, 1)
	ok := newRun(start)
	record(t, s, done, ok)
	doneFailed := failed(newRun(start.Add(time.Hour)), StatusInterrupted, "stopped by the user")
	record(t, s, done, doneFailed)
	late := failed(newRun(start.Add(time.Hour)), StatusPanic, "late")
	record(t, s, fails, late)
	record(t, s, fails, failed(newRun(start), StatusError, "early"))

	got, err := s.State(t.Context(), []string{fresh.Key(), done.Key(), fails.Key(), fresh.Key()})
	if err != nil {
		t.Fatal(err)
	}
	want := []State{
		{},
		{UID: ok.UID, Failed: 1, LastStatus: StatusInterrupted, LastError: "stopped by the user", LastUID: doneFailed.UID, LastCode: ok.Code},
		{Failed: 2, LastStatus: StatusPanic, LastError: "late", LastUID: late.UID, LastCode: ok.Code},
		{},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, err := s.State(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no jobs: %v, %v", got, err)
	}
}

// Earlier finds results of the same computation with other versions or other data, the latest last.
func TestEarlier(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	record(t, s, newJob("m", 1, 2), newRun(start.Add(2*time.Hour)))
	record(t, s, newJob("m", 1, 1), newRun(start.Add(time.Hour)))
	record(t, s, newJob("m", 1, 4), failed(newRun(start.Add(3*time.Hour)), StatusError, "x"))
	other := newJob("m", 1, 1)
	other.Pretext.Params = map[string]any{"p": 1.8}
	record(t, s, other, newRun(start.Add(4*time.Hour)))
	record(t, s, newJob("m", 2, 1), newRun(start))

	got, err := s.Earlier(t.Context(), []Job{newJob("m", 1, 3), newJob("new", 1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]job.Job{{newJob("m", 1, 1).Job, newJob("m", 1, 2).Job}, nil}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A name stands for what was registered under it last.
func TestNames(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	if _, err := s.DatasetNamed(t.Context(), "nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown name: %v", err)
	}
	second := dataset
	second.Hash = "d1"
	moved := split
	moved.Hash, moved.Train = "51", 1000
	for _, c := range []struct {
		dataset    Dataset
		split      NamedSplit
		want       string
		wantSplits map[Asked]string
	}{
		{second, NamedSplit{Split{Hash: "52", Dataset: "d1", Kind: "class", Train: 1, Test: 1}, split.Asked}, "d1", map[Asked]string{split.Asked: "50"}},
		{dataset, moved, "d0", map[Asked]string{split.Asked: "51"}},
		{dataset, NamedSplit{Split{Hash: "53", Dataset: "d0", Kind: "file", Train: 1, Test: 1}, Asked{"file x.json", 7}}, "d0", map[Asked]string{split.Asked: "51", {"file x.json", 7}: "53"}},
	} {
		if err := s.Register(t.Context(), []Dataset{c.dataset}, []NamedSplit{c.split}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.DatasetNamed(t.Context(), "sports8"); err != nil || got.Hash != c.want {
			t.Errorf("sports8 stands for %s (%v), want %s", got.Hash, err, c.want)
		}
		got, err := s.SplitsOf(t.Context(), "d0")
		if d := cmp.Diff(c.wantSplits, got); err != nil || d != "" {
			t.Errorf("splits of d0 (-want +got): %v\n%s", err, d)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	known := newRun(start)
	record(t, s, newJob("m", 7, 1), known)
	rows := func() int {
		return count(t, s, `SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM runs) + (SELECT count(*) FROM envs)
			+ (SELECT count(*) FROM metrics) + (SELECT count(*) FROM series) + (SELECT count(*) FROM predictions)`)
	}
	before := rows()

	for _, c := range []struct {
		name string
		edit func(j *Job, r *Run)
		want string
	}{
		{"NaN metric", func(_ *Job, r *Run) { r.Metrics["loss"] = math.NaN() }, `metric "loss" is NaN`},
		{"infinite metric", func(_ *Job, r *Run) { r.Metrics["loss"] = math.Inf(-1) }, `metric "loss" is -Inf`},
		{"NaN in a series", func(_ *Job, r *Run) { r.Series[1].Value = math.NaN() }, `series "objective" is NaN at iteration 1`},
		{"repeated iteration", func(_ *Job, r *Run) { r.Series[2].Iteration = 1 }, `series "objective" has two values at iteration 1`},
		{"negative class", func(_ *Job, r *Run) { r.Predictions[3] = -1 }, "prediction or true class 3 is -1"},
		{"fewer true classes", func(_ *Job, r *Run) { r.Truth = r.Truth[1:] }, "6 predictions of 5 samples"},
		{"replaces of another job", func(_ *Job, r *Run) { r.Replaces = known.UID }, "of another job"},
		{"no uid", func(_ *Job, r *Run) { r.UID = "" }, "no uid"},
		{"known uid", func(_ *Job, r *Run) { r.UID = known.UID }, "there already"},
		{"no start", func(_ *Job, r *Run) { r.Started = time.Time{} }, "no start time"},
		{"negative time", func(_ *Job, r *Run) { r.CPU = -1 }, "negative"},
		{"unknown status", func(_ *Job, r *Run) { r.Status = "fine" }, `"fine" is none of`},
		{"ok with an error", func(_ *Job, r *Run) { r.Error = "boom" }, "boom"},
		{"error without text", func(_ *Job, r *Run) { r.Status = StatusPanic }, "does not say why"},
		{"another job", func(_ *Job, r *Run) { r.JobKey = "k" }, "belongs to job k"},
		{"unknown data set", func(j *Job, _ *Run) { j.DatasetHash = "d1" }, "d1"},
		{"unknown split", func(j *Job, _ *Run) { j.SplitHash = "s1" }, "s1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			job, run := newJob("method", 1003, 1), newRun(start)
			c.edit(&job, &run)
			wantError(t, s.Record(t.Context(), job, run), c.want, "runs.db", "pahl+method on sports8, seed 1003")
			if after := rows(); after != before {
				t.Errorf("%d rows were written", after-before)
			}
		})
	}
	wantError(t, s.Register(t.Context(), nil, []NamedSplit{{Split{Hash: "s9", Dataset: "d9", Train: 1}, Asked{"class", 1}}}), "s9", "d9, which is not registered")

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Record(cancelled, newJob("method", 1, 1), newRun(start)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestChangedPredictionsAreNoticed(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	run := newRun(start)
	record(t, s, newJob("m", 1, 1), run)
	if _, err := s.w.Exec("UPDATE predictions SET classes = X'01020304'"); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.RunByUID(t.Context(), run.UID)
	wantError(t, err, run.UID, "the file was changed")
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		n    int
		want string
	}{
		{[]byte{1, 2}, 3, "2 predictions instead of 3"},
		{[]byte{1, 0x80}, 2, "break off after 1 of 2"},
		{encode([]int{math.MaxInt}), 1, "break off after 0 of 1"},
	} {
		_, err := decode(c.b, c.n)
		wantError(t, err, c.want)
	}
}

// TestConcurrentWritersAndReaders is of use under -race. A reader must see a run with all
// of its parts or not at all.
func TestConcurrentWritersAndReaders(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	const writers, each = 8, 20
	var keys []string
	for w := range writers {
		for i := range each {
			keys = append(keys, newJob(fmt.Sprint("w", w), uint64(i), 1).Key())
		}
	}
	var all, writing sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				job := newJob(fmt.Sprint("w", w), uint64(i), 1)
				if err := s.Record(t.Context(), job, newRun(start)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for {
				got, err := s.Finished(t.Context(), keys)
				if err != nil {
					t.Error(err)
					return
				}
				for key, r := range got {
					if len(r.Metrics) != 2 {
						t.Errorf("run of %s has %d metrics", key, len(r.Metrics))
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(done)
	all.Wait()
	if got, err := s.Finished(t.Context(), keys); err != nil || len(got) != len(keys) {
		t.Errorf("%d of %d are there, %v", len(got), len(keys), err)
	}
}

func TestNewUID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		uid := NewUID()
		if b, err := hex.DecodeString(uid); err != nil || len(b) != 16 || seen[uid] {
			t.Fatalf("uid %q", uid)
		}
		seen[uid] = true
	}
}
