package run

import (
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"ssdl/harness/store"
)

// A planned job gives the run that its plan would give, is run once, and only on the data of the plan.
func TestRunPlanned(t *testing.T) {
	b := newBench(t, threeRows)
	p := b.resolve(t, b.runner.Library)
	jobs := p.File(p.Todo(RetryPolicy{})).Jobs
	jobs[0].Reason = "retry: its node failed"
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "shard.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	recorded := make(chan struct{}, len(jobs))
	shard := &Runner{Store: st, Library: b.runner.Library, Recorded: func() { recorded <- struct{}{} }}
	for i, want := range []int{len(jobs), 0} {
		sum, err := shard.RunPlanned(t.Context(), b.spec, jobs)
		if err != nil || sum.Ran != want || sum.OK != want || len(recorded) != len(jobs) {
			t.Fatalf("call %d: %+v, %v; %d recorded", i, sum, err, len(recorded))
		}
	}
	keys := make([]string, len(jobs))
	for i, j := range jobs {
		keys[i] = j.Key
	}
	got, err := st.Finished(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	if _, r, err := st.RunByUID(t.Context(), got[keys[0]].UID); err != nil || r.Reason != jobs[0].Reason {
		t.Errorf("the reason is %q, %v; want %q", r.Reason, err, jobs[0].Reason)
	}
	b.run(t)
	want, err := b.runner.Store.Finished(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if !maps.Equal(got[j.Key].Metrics, want[j.Key].Metrics) {
			t.Errorf("%s: %v, want %v", j.Job.Name(), got[j.Key].Metrics, want[j.Key].Metrics)
		}
	}

	shard.Library = otherSet(t, "tiny")
	if _, err := shard.RunPlanned(t.Context(), b.spec, jobs); !errors.Is(err, ErrOtherInput) || !strings.Contains(err.Error(), "data set tiny") {
		t.Errorf("%v, want an error that names the data", err)
	}
}
