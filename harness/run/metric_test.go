package run

import (
	"math"
	"testing"

	"ssdl/harness/executor"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// A missing loss is not 0, which would be the best of all.
func TestNoMetricIsNotChosen(t *testing.T) {
	c := &Cell{Cell: spec.Cell{Metric: "bce", Candidates: make([]spec.Candidate, 2)}, Chosen: -1}
	for _, r := range []store.Result{{UID: "a", Metrics: map[string]float64{"bce": 0.5}}, {UID: "b", Metrics: map[string]float64{"ce_row": 0.5}}} {
		task := Task{metric: c.Metric}
		task.setResult(r, nil)
		c.Tuning = append(c.Tuning, []Task{task})
	}
	if !c.choose() || c.Chosen != 0 || c.Scores[0] != 0.5 || !math.IsNaN(c.Scores[1]) {
		t.Errorf("candidate %d was chosen by %v", c.Chosen, c.Scores)
	}
	if bad := c.Tuning[1][0]; bad.State != Failed || bad.Result != nil || bad.Reason() != "run b has no metric bce" {
		t.Errorf("%+v", bad)
	}
}

// Equal means whose sums are rounded differently are a tie: the first candidate is chosen.
func TestFirstOnTies(t *testing.T) {
	c := &Cell{Cell: spec.Cell{Metric: "accuracy", Candidates: make([]spec.Candidate, 2)}, Chosen: -1}
	for _, values := range [][]float64{{0.3, 0.2, 0.1}, {0.1, 0.2, 0.3}} {
		var tasks []Task
		for i, v := range values {
			task := Task{metric: c.Metric}
			task.setResult(store.Result{UID: string(rune('a' + i)), Metrics: map[string]float64{"accuracy": v}}, nil)
			tasks = append(tasks, task)
		}
		c.Tuning = append(c.Tuning, tasks)
	}
	if !c.choose() || c.Chosen != 0 || c.Scores[0] >= c.Scores[1] {
		t.Errorf("candidate %d was chosen by %v", c.Chosen, c.Scores)
	}
}

// A run without the metric, which an import may have, has failed: a table does not show 0, and the job can run
// again.
func TestNoMetric(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p, _ := b.run(t)
	task := &p.Cells[0].Final[1]
	_, run, err := b.runner.Store.RunByUID(t.Context(), task.Result.UID)
	if err != nil {
		t.Fatal(err)
	}
	bad := store.NewUID()
	run.Replaces, run.UID = run.UID, bad
	delete(run.Metrics, "accuracy")
	if err := b.runner.Store.Record(t.Context(), task.record(), run); err != nil {
		t.Fatal(err)
	}
	resolved, sum := b.run(t)
	if sum.Ran != 0 {
		t.Fatalf("unasked: %+v", sum)
	}
	for what, p := range map[string]*Plan{"with the data": resolved, "without": b.resolve(t, &executor.Library{})} {
		task := p.Cells[0].Final[1]
		if v, ok := task.Value(); ok || task.State != Failed || task.Reason() != "run "+bad+" has no metric accuracy" {
			t.Errorf("%s: %v, %s: %s", what, v, task.State, task.Reason())
		}
		if n := p.Counts(); n[Cached] != 2 || n[Failed] != 1 {
			t.Errorf("%s: %v", what, n)
		}
	}
	b.runner.Retry.Failed = true
	p, sum = b.run(t)
	if sum.OK != 1 || p.Counts()[Cached] != 3 {
		t.Fatalf("on request: %+v, %v", sum, p.Counts())
	}
	if by, err := b.runner.Store.ReplacedBy(t.Context(), bad); err != nil || by != p.Cells[0].Final[1].Result.UID {
		t.Errorf("run %s was replaced by %q, %v", bad, by, err)
	}
}
