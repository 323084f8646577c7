package run

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/executor"
	"ssdl/harness/provenance"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// The jobs of a PlanFile can be run, with the results of the plan.
func TestPlanFile(t *testing.T) {
	b := newBench(t, threeRows)
	b.runner.Code = &provenance.Code{Sources: sources(t, "", "", "")}
	p := b.resolve(t, b.runner.Library)
	text, err := json.Marshal(p.File(p.Todo(RetryPolicy{})))
	if err != nil {
		t.Fatal(err)
	}
	f, err := decodePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Todo(RetryPolicy{})); len(f.Jobs) != n || n != 12+6 {
		t.Fatalf("%d jobs in the file of %d", len(f.Jobs), n)
	}
	if names := len(f.Code); names != 4 { // crc, src, ssdl, hl
		t.Errorf("the file names the code of %d methods: %v", names, f.Code)
	}
	got := map[string]store.Run{}
	for _, j := range f.Jobs {
		job := spec.Job{Dataset: j.Dataset, Split: j.Split, Job: j.Job}
		got[j.Key] = executor.Execute(t.Context(), executor.Input{Job: job, Set: p.Sets[j.Dataset], Split: mustSplit(t, b, job)})
	}
	p, _ = b.run(t)
	for _, c := range p.Cells {
		for _, task := range c.results() {
			_, want, err := b.runner.Store.RunByUID(t.Context(), task.Result.UID)
			if err != nil {
				t.Fatal(err)
			}
			is, planned := got[task.Key]
			if planned && (!maps.Equal(is.Metrics, want.Metrics) || !cmp.Equal(is.Predictions, want.Predictions)) {
				t.Errorf("%s: %v, want %v", executor.Describe(task.Job), is.Metrics, want.Metrics)
			}
		}
	}
	if f := p.File(p.Todo(RetryPolicy{})); len(f.Jobs) != 0 {
		t.Errorf("%d jobs to run when all is done", len(f.Jobs))
	}

	for what, bad := range map[string]string{
		"the file was changed": strings.Replace(string(text), `"seed":1000`, `"seed":1009`, 1),
		"format":               strings.Replace(string(text), "ssdl plan 1", "ssdl plan 0", 1),
	} {
		if _, err := decodePlan([]byte(bad)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want an error that says %q", err, what)
		}
	}
}

func decodePlan(text []byte) (f PlanFile, err error) {
	if err := json.Unmarshal(text, &f); err != nil {
		return f, err
	}
	return f, f.Check()
}
