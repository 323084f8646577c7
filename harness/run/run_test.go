package run

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// writeSet writes a small three-class data set as NAME.csv: 90 samples of 12 features.
func writeSet(t testing.TB, dir, name string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range 90 {
		y := i % 3
		for f := range 12 {
			v := 1 + 0.8*r.Float64()
			if f%3 == y {
				v += 1.5 * r.Float64()
			}
			fmt.Fprintf(&b, "%.6f,", v)
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".csv"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

const threeRows = `
name: three
title: three rows
datasets: [tiny]
seeds: 1000..1002
split: {kind: class, train: 0.7, labels: 0.4}
metric: accuracy
select: val
rows:
  - method: crc
    tune: {lambda: {log2: [-6, 0, 2]}}
  - method: src
    select: paper
    params: {lambda: 2^-5}
  - method: ssdl
    pretext: hl
    select: paper
    params: {K: 10, iterations: 10, alpha: 2^-6, gamma: 2^-6}
    pretext_params: {k: 4}
`

type bench struct {
	runner *Runner
	spec   *spec.Spec
	path   string // of the store
}

func newBench(t *testing.T, src string) *bench {
	t.Helper()
	dir := t.TempDir()
	writeSet(t, dir, "tiny")
	path := filepath.Join(dir, "runs.db")
	st, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s, err := spec.Parse("test.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return &bench{&Runner{Store: st, Library: &executor.Library{Roots: []string{dir}}}, s, path}
}

func (b *bench) run(t *testing.T) (*Plan, Summary) {
	t.Helper()
	p, sum, err := b.runner.Run(t.Context(), b.spec)
	if err != nil {
		t.Fatal(err)
	}
	return p, sum
}

// resolve plans the spec of the bench with another library.
func (b *bench) resolve(t *testing.T, lib *executor.Library) *Plan {
	t.Helper()
	p, err := Resolve(t.Context(), lib, b.runner.Code, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reopened is the library of a later process: it reads files again.
func (b *bench) reopened() *executor.Library { return &executor.Library{Roots: b.runner.Library.Roots} }

// results maps every final job to its accuracy and predictions.
func (b *bench) results(t *testing.T, p *Plan) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, c := range p.Cells {
		for _, task := range c.Final {
			if task.Result == nil {
				t.Fatalf("%s has no result: %s %s", executor.Describe(task.Job), task.State, task.Reason())
			}
			_, run, err := b.runner.Store.RunByUID(t.Context(), task.Result.UID)
			if err != nil {
				t.Fatal(err)
			}
			out[executor.Describe(task.Job)] = fmt.Sprint(math.Float64bits(run.Metrics["accuracy"]), run.Predictions, run.Series)
		}
	}
	return out
}

func TestRunThenNothingToDo(t *testing.T) {
	b := newBench(t, threeRows)
	p, sum := b.run(t)
	// 4 candidates x 3 seeds, then 3 rows x 3 seeds.
	if sum.Ran != 21 || sum.OK != 21 {
		t.Fatalf("first call: %+v", sum)
	}
	first := b.results(t, p)
	if len(first) != 9 {
		t.Fatalf("%d results", len(first))
	}
	for job := range first {
		if !strings.Contains(job, "tiny") {
			t.Fatalf("job %q does not name its data", job)
		}
	}
	p, sum = b.run(t)
	if sum.Ran != 0 {
		t.Fatalf("second call ran %d", sum.Ran)
	}
	if !maps.Equal(first, b.results(t, p)) {
		t.Fatal("the second call shows other results")
	}
	for _, c := range p.Cells {
		for _, task := range c.Final {
			if acc := task.Result.Metrics["accuracy"]; acc < 0.6 {
				t.Errorf("%s: accuracy %.2f on an easy problem", executor.Describe(task.Job), acc)
			}
		}
	}
}

func TestSameBitsForAnyNumberOfJobs(t *testing.T) {
	var want map[string]string
	for _, jobs := range []int{1, 8} {
		b := newBench(t, threeRows)
		b.runner.Jobs = jobs
		p, _ := b.run(t)
		got := b.results(t, p)
		if want == nil {
			want = got
		} else if !maps.Equal(got, want) {
			t.Fatalf("-j %d differs from -j 1", jobs)
		}
	}
}

// A cache too small for any stage gives the results of one that keeps all stages.
func TestSameBitsWithoutStages(t *testing.T) {
	a, b := newBench(t, threeRows), newBench(t, threeRows)
	b.runner.Stages = executor.NewStages(1)
	pa, _ := a.run(t)
	pb, sum := b.run(t)
	if !maps.Equal(a.results(t, pa), b.results(t, pb)) {
		t.Fatal("results depend on the stage cache")
	}
	if sum.Reused != 0 {
		t.Fatalf("%d stages reused without memory for any", sum.Reused)
	}
}

func TestAddedSeedsKeepWhatIsThere(t *testing.T) {
	b := newBench(t, strings.Replace(threeRows, "1000..1002", "1000..1001", 1))
	b.run(t)
	more, err := spec.Parse("test.yaml", []byte(threeRows))
	if err != nil {
		t.Fatal(err)
	}
	b.spec = more
	p, err := Resolve(t.Context(), b.runner.Library, b.runner.Code, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	n := p.Counts()
	// crc: 4 tuning jobs of the new seed, and 3 cells wait for them; src, ssdl: one job each.
	if n[New] != 6 || n[Pending] != 3 || n[Cached] != 12 {
		t.Fatalf("%v", n)
	}
}

func TestTimeoutIsKept(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	b.runner.Timeout = time.Nanosecond
	p, sum := b.run(t)
	if sum.Failed != 3 || p.Counts()[Failed] != 3 {
		t.Fatalf("%+v, %v", sum, p.Counts())
	}
	task := p.Cells[0].Final[0]
	if task.Failure.Status != store.StatusTimeout || !strings.Contains(task.Failure.Message, "src on tiny, seed 1000") {
		t.Fatalf("%+v", task.Failure)
	}
}

func mustSelect(t *testing.T, s *spec.Spec, names ...string) *spec.Spec {
	t.Helper()
	out, err := s.Select(spec.Filter{Methods: names})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStopAndCancel(t *testing.T) {
	b := newBench(t, threeRows)
	stop := make(chan struct{})
	close(stop)
	b.runner.Stop = stop
	if _, sum := b.run(t); sum.Ran != 0 || !sum.Stopped {
		t.Fatalf("after stop: %+v", sum)
	}
	b.runner.Stop = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.runner.Run(ctx, b.spec); err == nil {
		t.Fatal("a cancelled call gave no error")
	}
	p, sum := b.run(t)
	if sum.OK != 21 || len(b.results(t, p)) != 9 {
		t.Fatalf("afterwards: %+v", sum)
	}
}

// A run that waits for memory does not start after a stop.
func TestStopWhileWaitingForMemory(t *testing.T) {
	b := newBench(t, threeRows)
	stop := make(chan struct{})
	b.runner.Stop, b.runner.Jobs = stop, 4
	b.spec = mustSelect(t, b.spec, "src")
	p := b.resolve(t, b.runner.Library)
	for _, task := range p.Todo(RetryPolicy{}) { // each run takes most of it
		split, err := b.runner.Library.Split(p.Sets["tiny"], task.Job.Split, task.Job.Seed)
		if err != nil {
			t.Fatal(err)
		}
		b.runner.Memory = max(b.runner.Memory, executor.Input{Job: task.Job, Set: p.Sets["tiny"], Split: split}.Bytes())
	}
	var started atomic.Int32
	b.runner.Execute = func(ctx context.Context, in executor.Input) store.Run {
		started.Add(1)
		time.Sleep(50 * time.Millisecond) // the others wait by then
		close(stop)
		return executor.Execute(ctx, in)
	}
	if _, sum := b.run(t); !sum.Stopped || started.Load() != 1 {
		t.Errorf("%d runs started, %+v", started.Load(), sum)
	}
}

func TestMissingDataShowsInItsCells(t *testing.T) {
	b := newBench(t, strings.Replace(threeRows, "[tiny]", "[tiny, nowhere]", 1))
	p, sum := b.run(t)
	if sum.OK != 21 {
		t.Fatalf("%+v", sum)
	}
	for _, c := range p.Cells {
		if missing := c.Err != nil; missing != (c.Dataset == "nowhere") {
			t.Errorf("%s on %s: %v", c.Row.ID, c.Dataset, c.Err)
		}
	}
}

func TestPretextAloneBothScores(t *testing.T) {
	for _, score := range []string{"oos", "transductive"} {
		b := newBench(t, `
name: pretexts
title: pretexts
datasets: [tiny]
seeds: [1000]
split: {kind: class, train: 0.7, labels: 0.4}
metric: bce
score: `+score+`
select: paper
rows:
  - pretext: hl
    pretext_params: {k: 4}
`)
		p, sum := b.run(t)
		if sum.OK != 1 {
			t.Fatalf("%s: %+v %s", score, sum, p.Cells[0].Final[0].Reason())
		}
		_, run, err := b.runner.Store.RunByUID(t.Context(), p.Cells[0].Final[0].Result.UID)
		if err != nil {
			t.Fatal(err)
		}
		m := run.Metrics
		for _, name := range []string{"bce", "ce_row", "ce_softmax", "accuracy", "unlabelled_bce", "unlabelled_accuracy"} {
			if _, ok := m[name]; !ok {
				t.Errorf("%s: no metric %s", score, name)
			}
		}
		if m["accuracy"] < 0.6 {
			t.Errorf("%s: accuracy %.2f", score, m["accuracy"])
		}
	}
}

func mustSeeds(t *testing.T, s *spec.Spec, seeds ...uint64) *spec.Spec {
	t.Helper()
	out, err := s.Select(spec.Filter{Datasets: s.Datasets, Seeds: seeds})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustSplit(t *testing.T, b *bench, j spec.Job) *data.Split {
	t.Helper()
	set, err := b.runner.Library.Set(t.Context(), j.Dataset)
	if err != nil {
		t.Fatal(err)
	}
	split, err := b.runner.Library.Split(set, j.Split, j.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return split
}
