package cluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/methods/linalg"
)

func init() { linalg.Register() }

const specText = `name: small
datasets: [synth8]
seeds: 1000..1001
split: {kind: class, train: 0.7, labels: 0.4}
rows:
  - {id: crc, method: crc, params: {lambda: {log2: [-3, 0]}}}
`

func testSpec(t testing.TB) *spec.Spec {
	t.Helper()
	s, err := spec.Parse("small.yaml", []byte(specText))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// resolve plans a spec on an empty store.
func resolve(t testing.TB, s *spec.Spec) *run.Plan {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p, err := run.Resolve(t.Context(), &executor.Library{}, nil, st, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newFolder(t testing.TB) Folder {
	t.Helper()
	f, err := NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	return f
}

// counted is an executor that counts jobs.
func counted(n *int, after func()) executor.Executor {
	return func(ctx context.Context, in executor.Input) store.Run {
		*n++
		defer after()
		return executor.Execute(ctx, in)
	}
}

// A stopped shard finishes the run in flight and copies it into the folder; the next attempt runs the other.
func TestWorkerGoesOn(t *testing.T) {
	f, p := newFolder(t), newPlan(t)
	w := Worker{Folder: f, Plan: p, K: 2, N: 4, Scratch: t.TempDir(), Warn: &bytes.Buffer{}}
	stop, runs := make(chan struct{}), 0
	r := &run.Runner{Library: &executor.Library{}, Jobs: 1, Stop: stop, Execute: counted(&runs, func() { close(stop) })}
	sum, err := w.Run(t.Context(), r, testSpec(t))
	if err != nil || !sum.Stopped || sum.OK != 1 {
		t.Fatalf("stopped: %+v, %v", sum, err)
	}
	check := func(done int) {
		t.Helper()
		n, failed, err := count(t.Context(), f.store(1, 2), p.Shards[1].Jobs)
		if n != done || failed != 0 || err != nil {
			t.Errorf("%d done, %d failed, %v; want %d done", n, failed, err, done)
		}
	}
	check(1)
	r = &run.Runner{Library: &executor.Library{}, Execute: counted(&runs, func() {})}
	if sum, err = w.Run(t.Context(), r, testSpec(t)); err != nil || sum.OK != 1 || runs != 2 {
		t.Errorf("again: %+v, %v; %d runs in all", sum, err, runs)
	}
	check(2)
	left, err := os.ReadDir(w.Scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("%d files are left on the local disk, %v", len(left), err)
	}
	files, err := f.Stores()
	if err != nil || len(files) != 1 || filepath.Base(files[0].Path) != "001-0002.db" {
		t.Errorf("stores %+v, %v", files, err)
	}
	if n, err := f.Next(); n != 2 || err != nil {
		t.Errorf("the next submission is %d, %v", n, err)
	}
}

// Another spec, other data and an unknown shard are refused before anything runs.
func TestWorkerRefuses(t *testing.T) {
	f, p := newFolder(t), newPlan(t)
	other, err := spec.Parse("small.yaml", []byte(specText+"# another\n"))
	if err != nil {
		t.Fatal(err)
	}
	moved := newPlan(t)
	for i := range moved.Plan.Jobs {
		moved.Plan.Jobs[i].Job.DatasetHash = "00112233445566778899"
	}
	for _, tc := range []struct {
		plan Plan
		spec *spec.Spec
		k    int
		want string
	}{
		{p, other, 1, "changed after the plan was made"},
		{p, testSpec(t), 9, "from 1 to 4"},
		{moved, testSpec(t), 1, "in the plan"},
	} {
		runs := 0
		r := &run.Runner{Library: &executor.Library{}, Execute: counted(&runs, func() {})}
		_, err := Worker{Folder: f, Plan: tc.plan, K: tc.k, N: 4, Scratch: t.TempDir(), Warn: &bytes.Buffer{}}.Run(t.Context(), r, tc.spec)
		if err == nil || !strings.Contains(err.Error(), tc.want) || runs > 0 {
			t.Errorf("%v after %d runs, want an error that says %q", err, runs, tc.want)
		}
	}
	if files, err := f.Stores(); err != nil || len(files) > 0 {
		t.Errorf("stores %+v, %v", files, err)
	}
}

// A shard copies its finished runs into the folder while it runs on.
func TestWorkerCopiesNowAndThen(t *testing.T) {
	every := publishEvery
	t.Cleanup(func() { publishEvery = every })
	f, p := newFolder(t), newPlan(t)
	w := Worker{Folder: f, Plan: p, K: 1, N: 4, Scratch: t.TempDir(), Warn: &bytes.Buffer{}}
	for _, tc := range []struct {
		every time.Duration
		want  []int
	}{{time.Hour, []int{0, 0}}, {5 * time.Millisecond, []int{0, 1}}} {
		publishEvery = tc.every
		if err := os.RemoveAll(f.store(1, 1)); err != nil {
			t.Fatal(err)
		}
		var seen []int
		r := &run.Runner{Library: &executor.Library{}, Jobs: 1, Execute: func(ctx context.Context, in executor.Input) store.Run {
			n := 0
			for range 500 { // the first run is copied while the second one runs
				var err error
				if n, _, err = count(ctx, f.store(1, 1), p.Shards[0].Jobs); err != nil {
					t.Error(err)
				}
				if n == tc.want[len(seen)] {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			seen = append(seen, n)
			return executor.Execute(ctx, in)
		}}
		if _, err := w.Run(t.Context(), r, testSpec(t)); err != nil || !slices.Equal(seen, tc.want) {
			t.Errorf("every %v: %v runs are there, want %v; %v", tc.every, seen, tc.want, err)
		}
	}
}

func TestLock(t *testing.T) {
	f := newFolder(t)
	unlock, err := f.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Lock(); err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("a folder that is locked: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if unlock, err = f.Lock(); err != nil {
		t.Fatal(err)
	}
	unlock()
}
