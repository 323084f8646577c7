package run

import (
	"fmt"
	"strings"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// State is the state of a job in a plan.
type State string

// The states of a job.
const (
	New      State = "not run"
	Cached   State = "cached"
	Stale    State = "stale"    // its result is by different code; tables show it until a rerun
	Changed  State = "changed"  // only an earlier version, or other data, has a result
	Damaged  State = "damaged"  // its result is not as it was recorded; it runs again
	Retry    State = "retry"    // it was interrupted, or failed with different code; it runs again
	Failed   State = "failed"   // it ran and failed
	Pending  State = "pending"  // it waits for its tuning
	Excluded State = "excluded" // the spec leaves it out
	NoData   State = "no data"  // it cannot be run: its data is not local
)

// Task is one job of a plan.
type Task struct {
	Job spec.Job
	// Key is the key of the job; empty if its split or its file of predictions is not known.
	Key   string
	State State
	// Changes lists the changes since the result (Stale), the earlier result (Changed) or the failed attempt
	// (Retry).
	Changes []job.Change
	// Failure describes the failed attempts if State is Retry or Failed; nil if a run lacks the metric.
	Failure *Failure
	// Result is the current run, nil unless State is Cached or Stale. It has the metric of the cell.
	Result *store.Result
	// Fault is the fault of the result if State is Damaged.
	Fault *store.Fault

	metric  string           // metric of the cell
	local   bool             // its data and its split are local
	here    bool             // its external parts, if any, are on this machine
	code    job.Fingerprints // of this program
	planned string           // reason to run the job again, from a PlanFile
	// finished is the uid of the finished run, even without the metric, and last that of the latest failed
	// attempt, both when the plan was made.
	finished, last string
}

// Failure describes the failed attempts at a job.
type Failure struct {
	Attempts int          `json:"attempts"`
	Status   store.Status `json:"status"` // of the last one
	Message  string       `json:"message"`
	Run      string       `json:"run"`
}

// runnable reports whether this machine has all that the job needs.
func (t *Task) runnable() bool { return t.local && t.here }

// Reason explains State on one line; empty if there is nothing to add.
func (t *Task) Reason() string {
	var parts []string
	if t.Fault != nil {
		parts = append(parts, t.Fault.Error())
	}
	for _, c := range t.Changes {
		parts = append(parts, fmt.Sprintf("%s %.12s -> %.12s", c.What, c.Was, c.Is))
	}
	switch f := t.Failure; {
	case f != nil:
		first, _, _ := strings.Cut(f.Message, "\n")
		parts = append(parts, fmt.Sprintf("%s, %d×: %s", f.Status, f.Attempts, first))
	case t.State == Failed:
		parts = append(parts, fmt.Sprintf("run %s has no metric %s", t.finished, t.metric))
	case t.State == NoData && t.local:
		parts = append(parts, "its program or its predictions are missing")
	case t.State == NoData:
		parts = append(parts, "its data or its index file is missing")
	}
	return strings.Join(parts, ", ")
}

// Value is the metric of the cell; false without a result.
func (t *Task) Value() (float64, bool) {
	if t.Result == nil {
		return 0, false
	}
	v, ok := t.Result.Metrics[t.metric]
	return v, ok
}

// setResult makes a finished run the result of the task. A run without the metric, which an import may have,
// is not a result: it would be averaged as 0.
func (t *Task) setResult(r store.Result, sources []job.Change) {
	t.finished = r.UID
	if r.Fault != nil {
		t.State, t.Fault = Damaged, r.Fault
		return
	}
	if _, ok := r.Metrics[t.metric]; !ok {
		t.State = Failed
		return
	}
	t.State, t.Result = Cached, &r
	if t.Changes = append(t.code.ChangesSince(r.Code), sources...); len(t.Changes) > 0 {
		t.State = Stale
	}
}

// setState sets the state of a task that has no result.
func (t *Task) setState(is store.State) {
	if is.Failed == 0 {
		t.State = New
		return
	}
	t.State = Failed
	t.Failure = &Failure{is.Failed, is.LastStatus, is.LastError, is.LastUID}
	t.Changes = t.code.ChangesSince(is.LastCode)
	if is.LastStatus == store.StatusInterrupted || len(t.Changes) > 0 {
		t.State = Retry
	}
}

// record is the job for the store.
func (t *Task) record() store.Job { return store.Job{Job: t.Job.Job, Dataset: t.Job.Dataset} }

// Replaces is the uid of the run that a new result of the task would supersede; empty if there is none.
func (t *Task) Replaces() string { return t.finished }
