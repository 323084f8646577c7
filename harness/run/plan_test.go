package run

import (
	"context"
	"testing"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/job"
	"ssdl/harness/store"
)

// A job that another process failed at after the plan was made is not tried again, unless it was
// interrupted or failed with different code.
func TestFailedInAnotherProcess(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p, err := Resolve(t.Context(), b.runner.Library, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.register(t.Context(), b.runner.Library, b.runner.Store); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for i, x := range []struct {
		status store.Status
		code   string
		want   bool
	}{
		{store.StatusTimeout, "a", true},
		{store.StatusInterrupted, "a", false},
		{store.StatusError, "b", false},
	} {
		task := &p.Cells[0].Final[i]
		task.code.Method = "a"
		if done, err := b.runner.doneByOtherProcess(t.Context(), task); done || err != nil {
			t.Fatalf("before: %v, %v", done, err)
		}
		run := store.Run{UID: store.NewUID(), Status: x.status, Error: "it " + string(x.status), Started: begun, Code: job.Fingerprints{Method: x.code}}
		if err := b.runner.Store.Record(t.Context(), task.record(), run); err != nil {
			t.Fatal(err)
		}
		if done, err := b.runner.doneByOtherProcess(t.Context(), task); done != x.want || err != nil {
			t.Errorf("%+v: %v, %v", x, done, err)
		}
	}
	again, err := Resolve(t.Context(), b.runner.Library, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := b.runner.doneByOtherProcess(t.Context(), &again.Cells[0].Final[0]); done || err != nil {
		t.Errorf("a failure that the plan knew, to be retried: %v, %v", done, err)
	}
}

// An interrupted run is not a failure: the choice waits for it, also without the data.
func TestChoiceWaitsForWhatWasInterrupted(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "crc")
	p, err := Resolve(t.Context(), b.runner.Library, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.register(t.Context(), b.runner.Library, b.runner.Store); err != nil {
		t.Fatal(err)
	}
	for i, tasks := range p.Cells[0].Tuning {
		for k := range tasks {
			run := store.Run{UID: store.NewUID(), Status: store.StatusOK, Started: time.Now(), Metrics: map[string]float64{"accuracy": 0.5}}
			if i == 3 && k == 0 {
				run.Status, run.Error, run.Metrics = store.StatusInterrupted, context.Canceled.Error(), nil
			}
			if err := b.runner.Store.Record(t.Context(), tasks[k].record(), run); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := Resolve(t.Context(), &executor.Library{}, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Counts(); got.Cells[0].Chosen != -1 || n[Retry] != 1 || n[Pending] != 3 {
		t.Errorf("candidate %d, %v", got.Cells[0].Chosen, n)
	}
}
