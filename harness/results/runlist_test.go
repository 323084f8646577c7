package results

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
	"ssdl/harness/run"
	"ssdl/harness/store"
)

// predicted is a store with runs of two methods under two seeds, with predictions.
func predicted(t *testing.T) (*store.Store, map[string][]Run) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	var splits []store.NamedSplit
	for seed := range uint64(2) {
		splits = append(splits, store.NamedSplit{Split: store.Split{Hash: fmt.Sprint("s", seed), Dataset: "d", Kind: "class", Seed: seed, Train: 1, Labeled: 1, Test: 4}, Asked: store.Asked{How: "class", Seed: seed}})
	}
	sets := []store.Dataset{{Hash: "d", Name: "tiny", Samples: 5, Dim: 1, Classes: 2, Source: "a test", ClassNames: []string{"cat", "dog"}}}
	if err := st.Register(t.Context(), sets, splits); err != nil {
		t.Fatal(err)
	}
	truth := []int{0, 0, 1, 1}
	runs := map[string][]Run{}
	for i, m := range []struct {
		method string
		seed   uint64
		is     []int
	}{{"crc", 0, []int{0, 0, 1, 0}}, {"crc", 1, []int{0, 1, 1, 1}}, {"src", 0, []int{0, 1, 1, 0}}, {"src", 1, []int{1, 0, 1, 1}}} {
		j := store.Job{Job: job.Job{DatasetHash: "d", SplitHash: fmt.Sprint("s", m.seed), Seed: m.seed, Eval: job.EvalTest, Method: job.Part{Name: m.method, Params: map[string]any{"lambda": 0.5}}}, Dataset: "tiny"}
		r := store.Run{
			UID: fmt.Sprintf("%032d", i), Status: store.StatusOK, Started: time.Unix(int64(i), 0), Wall: time.Second,
			Metrics: map[string]float64{"accuracy": 0.75}, Predictions: m.is, Truth: truth,
		}
		if err := st.Record(t.Context(), j, r); err != nil {
			t.Fatal(err)
		}
		runs[m.method] = append(runs[m.method], Run{Seed: m.seed, UID: r.UID})
	}
	return st, runs
}

func TestAgreement(t *testing.T) {
	st, runs := predicted(t)
	a, b := Explanation{DataHash: "d", Runs: runs["crc"]}, Explanation{DataHash: "d", Runs: append(runs["src"], Run{Seed: 9})}
	got, err := AgreementOf(t.Context(), st, a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := &Agreement{
		Seeds: []uint64{0, 1}, Total: AgreementCount{4, 2, 1, 1},
		Classes: []ClassAgreement{{"cat", AgreementCount{1, 2, 1, 0}}, {"dog", AgreementCount{3, 0, 0, 1}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if none, err := AgreementOf(t.Context(), st, a, Explanation{}); none != nil || err != nil {
		t.Errorf("without a common seed: %v, %v", none, err)
	}
}

func TestListRuns(t *testing.T) {
	st, _ := predicted(t)
	list, err := ListRuns(t.Context(), st, store.Listing{Part: "src", Limit: 1})
	if err != nil || list.All != 2 || len(list.Runs) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	r := list.Runs[0]
	if r.Method != "src" || r.Seed != 1 || r.Purpose != Report || r.Metric.Name != "accuracy" || r.Value == nil || *r.Value != 75 {
		t.Errorf("%+v", r)
	}
}

func TestClassResults(t *testing.T) {
	d := RunDetails{Classes: []string{"cat", "dog"}, Confusion: [][]int{{3, 1, 2}, {0, 4, 0}, {0, 5, 0}}}
	want := []ClassResult{{"cat", 3, 6, []Mistake{{"2", 2}, {"dog", 1}}}, {"dog", 4, 4, nil}, {"2", 0, 5, []Mistake{{"dog", 5}}}}
	if diff := cmp.Diff(want, d.ClassResults()); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

// Progress counts each job once, and estimates the time left.
func TestProgress(t *testing.T) {
	p := planned(t, head+"rows:\n  - {id: a, method: crc, select: fixed}\n  - {id: b, method: crc, tune: {lambda: {grid: [0.1, 1]}}}\n  - {id: same, method: crc, select: fixed}\n"+
		"exclude: [{dataset: sports8, row: b, reason: why}]\n")
	keys := Keys(p)
	if is := ProgressOf(p, nil); is.Done != 0 || is.Failed != 0 || is.Left != 4+2*4+4 || is.Running != nil || is.Remaining != nil {
		t.Errorf("before the first run: %+v", is) // a, which both sets and its double share; the tuning of b, and b itself
	}
	first := &p.Cells[0].Final[0]
	first.Result = &store.Result{Wall: 3 * time.Second}
	p.Cells[0].Final[1].State = run.Failed
	is := ProgressOf(p, map[string]bool{p.Cells[0].Final[2].Key: true, p.Cells[0].Final[3].Key: true})
	if is.Done != 1 || is.Failed != 1 || is.Left != 14 || len(is.Running) != 2 || is.Running[0] != (RunningJob{"a", p.Cells[0].Row.Title(), "stanford40", 1002, Report}) {
		t.Errorf("%+v", is)
	}
	if is.Remaining == nil || *is.Remaining != 14*3/2 {
		t.Errorf("remaining %v, want 14 jobs of 3 s, two at a time", *is.Remaining)
	}
	if len(ProgressOf(p, map[string]bool{first.Key: true}).Running) != 1 {
		t.Error("a job with a result that runs again is not shown")
	}
	if len(keys) != 8+8+8 {
		t.Errorf("%d keys", len(keys))
	}
}
