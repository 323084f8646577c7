package run

import (
	"fmt"
	"strings"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// State is what a job needs.
type State string

// The states of a job.
const (
	New      State = "not run"
	Cached   State = "cached"
	Stale    State = "stale"    // has a result of other code; reports show it until it is run again
	Changed  State = "changed"  // an earlier version, or other data, has the result
	Damaged  State = "damaged"  // its result is not as it was recorded; runs again
	Retry    State = "retry"    // was interrupted, or failed with other code: runs again
	Failed   State = "failed"   // ran and failed
	Pending  State = "pending"  // its parameters are known once the tuning has run
	Excluded State = "excluded" // the spec leaves it out
	NoData   State = "no data"  // cannot be run: the data is not local
)

// Task is one job of a plan.
type Task struct {
	Job spec.Job
	// Key is that of the job; empty if its split, or the content of its predictions, is not known, since
	// they are not here.
	Key   string
	State State
	// Changes say what is not as it was when the result (Stale), the result that is no longer
	// current (Changed) or the failed attempt (Retry) was made.
	Changes []job.Change
	// Failure is the last failed attempt if State is Retry or Failed; nil if a run lacks the metric.
	Failure *Failure
	// Result is the current run, nil unless State is Cached or Stale. It has the metric that the
	// cell shows.
	Result *store.Result
	// Fault is what is wrong with the result if State is Damaged.
	Fault *store.Fault

	metric  string           // that the cell shows
	local   bool             // its data and its split are here
	here    bool             // what it takes from outside is, or there is nothing
	code    job.Fingerprints // of the program
	planned string           // why the job is run again, as the file of another plan says
	// When the plan was made: the uid of the finished run, also of one that lacks the metric, and that
	// of the latest attempt that failed.
	finished, last string
}

// Failure tells of the failed attempts at a job.
type Failure struct {
	Attempts int          `json:"attempts"`
	Status   store.Status `json:"status"` // of the last one
	Message  string       `json:"message"`
	Run      string       `json:"run"`
}

// runnable reports whether all that the job needs is here.
func (t *Task) runnable() bool { return t.local && t.here }

// Reason is what State alone does not say, on one line; empty if there is nothing to add.
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
		parts = append(parts, "its program or its predictions are not here")
	case t.State == NoData:
		parts = append(parts, "its data or its index file is not local")
	}
	return strings.Join(parts, ", ")
}

// Value is the metric that the cell of the task shows; false without a result.
func (t *Task) Value() (float64, bool) {
	if t.Result == nil {
		return 0, false
	}
	v, ok := t.Result.Metrics[t.metric]
	return v, ok
}

// setResult makes a finished run the result of the task. One without the metric, as an import can
// bring it, is none: a missing metric must not count as 0.
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

// record is the job as the store keeps it.
func (t *Task) record() store.Job { return store.Job{Job: t.Job.Job, Dataset: t.Job.Dataset} }

// Replaces is the uid of the run that a new result of the task supersedes; empty if there is none.
func (t *Task) Replaces() string { return t.finished }
