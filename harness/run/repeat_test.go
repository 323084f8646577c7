package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// A repetition that differs names the first difference, and whether the builds differ.
func TestRepeat(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p, _ := b.run(t)
	task := &p.Cells[0].Final[0]
	repeat := func() string {
		t.Helper()
		r, err := b.runner.Repeat(t.Context(), p, task, false)
		if err != nil {
			t.Fatal(err)
		}
		return r.Differs
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

// A sample has every cell before a cell twice, begins with every method, is drawn by its seed, and prefers
// runs without repetitions.
func TestSample(t *testing.T) {
	b := newBench(t, threeRows)
	p, _ := b.run(t)
	uids := func(n int, seed uint64) (list []string, cells map[*Cell]int) {
		cells = map[*Cell]int{}
		for _, s := range Sample([]*Plan{p}, n, seed, false) {
			list, cells[s.Cell] = append(list, s.Task.Result.UID), cells[s.Cell]+1
		}
		return list, cells
	}
	all, _ := uids(1000, 1)
	total := 0
	for _, c := range p.Cells {
		total += len(c.Final)
	}
	if len(all) != total || len(slices.Compact(slices.Sorted(slices.Values(all)))) != total {
		t.Fatalf("%d of %d runs", len(all), total)
	}
	one, cells := uids(len(p.Cells), 1)
	if len(cells) != len(p.Cells) {
		t.Errorf("%d cells in a sample of %d", len(cells), len(p.Cells))
	}
	if again, _ := uids(len(p.Cells), 1); !slices.Equal(one, again) {
		t.Errorf("the same seed draws %v and %v", one, again)
	}
	differs := false
	for seed := range uint64(5) {
		other, _ := uids(len(p.Cells), 10+seed)
		differs = differs || !slices.Equal(one, other)
	}
	if !differs {
		t.Error("every seed draws the same")
	}
	methods := map[string]bool{}
	for _, s := range Sample([]*Plan{p}, 3, 7, false) {
		methods[s.Task.Job.Name()] = true
	}
	if len(methods) != 3 {
		t.Errorf("a sample of three runs has the methods %v", methods)
	}
	if usual, _ := uids(0, 7); len(usual) != min(total, usualSample) {
		t.Errorf("the usual sample has %d runs", len(usual))
	}
	for _, s := range Sample([]*Plan{p}, 3, 7, false) {
		if r, err := b.runner.Repeat(t.Context(), s.Plan, s.Task, true); err != nil || r.Differs != "" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	p, _ = b.run(t)
	if got := p.Provenance(p.Cells...); got.Repeated != 3 || got.Differ != 0 {
		t.Errorf("%+v, want 3 repeated runs", got)
	}
	for _, s := range Sample([]*Plan{p}, total-3, 8, true) {
		if repeated, _ := p.repeated(s.Task); repeated {
			t.Errorf("run %s is drawn again before all were", s.Task.Result.UID)
		}
	}
}

// A run without the fingerprint of its code or its memory is incomplete.
func TestIncomplete(t *testing.T) {
	b := newBench(t, threeRows)
	p, _ := b.run(t)
	for _, c := range p.Cells {
		for _, t := range c.tasks() {
			t.Result.Peak, t.code = 1, job.Fingerprints{Method: "m", Pretext: "p", Protocol: "h"}
			t.Result.Code = t.code
		}
	}
	want := func(n int) {
		t.Helper()
		if got := p.Provenance(p.Cells...); got.Incomplete != n {
			t.Errorf("%d of %d runs are incomplete, want %d", got.Incomplete, got.Runs, n)
		}
	}
	want(0)
	p.Cells[0].Final[0].Result.Peak = 0
	want(1)
	p.Cells[1].Final[0].Result.Code.Protocol = ""
	want(2)
	p.Cells[1].Final[1].Result.Code.Method = ""
	want(3)
	p.Cells[1].Final[1].code.Method = "" // the job has no method
	want(2)
}

// The usual sample has every method, also if there are many and only one has repetitions.
func TestUsualSampleHasEveryMethod(t *testing.T) {
	p := &Plan{Spec: &spec.Spec{Name: "many"}, repetitions: map[string][]store.Repetition{}}
	for i := range 30 {
		name := fmt.Sprintf("method%02d", i)
		if i > 20 {
			name = "method00" // which has most cells
		}
		c := &Cell{}
		for seed := range uint64(2) {
			uid := fmt.Sprintf("%d-%d", i, seed)
			c.Final = append(c.Final, Task{
				Job: spec.Job{Job: job.Job{Method: job.Part{Name: name}, Seed: seed}}, Key: uid, State: Cached, local: true, here: true, finished: uid, Result: &store.Result{UID: uid},
			})
			if i == 5 {
				p.repetitions[uid] = []store.Repetition{{Run: uid}}
			}
		}
		p.Cells = append(p.Cells, c)
	}
	methods := map[string]bool{}
	sample := Sample([]*Plan{p}, 0, 1, false)
	for _, s := range sample {
		methods[s.Task.Job.Method.Name] = true
	}
	if len(sample) != 21 || len(methods) != 21 {
		t.Errorf("%d runs of %d methods, want 21 of 21", len(sample), len(methods))
	}
}
