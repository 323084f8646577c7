// Package executor runs one job, in this process or in one of its own. It decides nothing
// about results (package protocol does), and records nothing.
package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"ssdl/harness/command"
	"ssdl/harness/data"
	"ssdl/harness/job"
	"ssdl/harness/metric"
	"ssdl/harness/protocol"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/methods/catalog"
)

// Unconverged is the trace and the metric that count test codes whose duality gap is
// above the tolerance.
const Unconverged = "test_unconverged"

// Unconfined is the metric that is 1 if the external program of a run was not confined.
const Unconfined = "unconfined"

// PanicError is a caught panic of a method: its run fails, other runs go on.
type PanicError struct{ Value, Stack string }

func (e *PanicError) Error() string { return "panic: " + e.Value + "\n" + e.Stack }

// Input is a job with its data.
type Input struct {
	Job   spec.Job
	Set   *data.Set
	Split *data.Split
	// Stages caches the stages that jobs share; it never changes a result.
	Stages *Stages
	// Timeout bounds the run; 0 means none.
	Timeout time.Duration
	// Programs runs external programs.
	Programs command.Runner
}

// Executor runs one job and records nothing. The caller adds environment, code and reason to the run
// that it returns.
type Executor func(ctx context.Context, in Input) store.Run

// Execute is the Executor that works in this process. Metrics, traces and predictions depend on the
// job and its data alone.
func Execute(ctx context.Context, in Input) store.Run {
	rctx, cancel := ctx, context.CancelFunc(func() {})
	if in.Timeout > 0 {
		rctx, cancel = context.WithTimeout(ctx, in.Timeout)
	}
	defer cancel()
	run := store.Run{UID: store.NewUID(), Started: time.Now()}
	used := processMeter.begin()
	var program programs
	out, err := guard(func() (*protocol.Outcome, error) { return program.execute(rctx, in) })
	run.Wall = time.Since(run.Started)
	processMeter.end(used)
	run.CPU, run.Peak = used.cpu, used.peak
	program.record(&run)
	if err == nil {
		measure(&run, out, in)
		err = checkFinite(run)
	}
	if err == nil {
		run.Status = store.StatusOK
		return run
	}
	run.Metrics, run.Series, run.Predictions, run.Truth = nil, nil, nil, nil
	run.Error = fmt.Sprintf("%s: %v", Describe(in.Job), err)
	var p *PanicError
	var f *command.Fault
	switch {
	case errors.As(err, &p):
		run.Status = store.StatusPanic
	case ctx.Err() != nil:
		run.Status = store.StatusInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		run.Status, run.Error = store.StatusTimeout, fmt.Sprintf("%s: did not finish within %v", Describe(in.Job), in.Timeout)
	case errors.As(err, &f) && f.State == command.OutOfMemory:
		run.Status = store.StatusMemory
	default:
		run.Status = store.StatusError
	}
	return run
}

// scope names the data that a job sees, for shared stages. The seed is part of it: it draws the order of the
// samples, and the held-out samples.
func (in Input) scope() string {
	return fmt.Sprintf("%s/%s/%s/%d", in.Set.Hash, in.Split.Hash, in.Job.Eval, in.Job.Seed)
}

// data is the input of the protocol.
func (in Input) data() protocol.Input {
	return protocol.Input{
		X: in.Set.X, Labels: in.Set.Labels, Classes: len(in.Set.Classes),
		Train: in.Split.Train, Test: in.Split.Test, Labelled: in.Split.Labelled,
	}
}

// execute builds the methods of a job and runs it.
func (p *programs) execute(ctx context.Context, in Input) (*protocol.Outcome, error) {
	t := protocol.Trial{
		Seed: in.Job.Seed, Tunes: in.Job.Eval == job.EvalVal, Transductive: in.Job.Score == job.ScoreTransductive,
		Share: in.Stages.For(in.scope()),
	}
	if part := in.Job.Pretext; part.Command != nil {
		t.Pretext = p.asPretext(in)
		t.PseudoKey = "pseudo/" + store.NewUID() // never shared: asPretext shares the output of the program itself
	} else if part.Name != "" {
		entry, err := catalog.Lookup(part.Name)
		if err != nil {
			return nil, err
		}
		if t.Pretext, err = entry.Pretext(part.Params); err != nil {
			return nil, err
		}
		if t.PseudoKey, err = pseudoKey(in.Job.Job); err != nil {
			return nil, err
		}
	}
	switch m := in.Job.Method; {
	case m.Command != nil:
		t.Method = p.asMethod(in)
	case m.Predictions != nil:
		given, err := in.given()
		if err != nil {
			return nil, err
		}
		t.Method = given
	case m.Name != "":
		entry, err := catalog.Lookup(m.Name)
		if err != nil {
			return nil, err
		}
		if t.Pretext == nil {
			t.Method, err = entry.Method(m.Params)
		} else {
			t.Learner, err = entry.Learner(m.Params)
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := protocol.Execute(ctx, in.data(), t)
	if err == nil {
		p.addScores(in, out)
	}
	return out, err
}

// pseudoKey names the stage of the pseudo labels of a job. The seed is part of it: a pretext may draw
// random numbers, and seeds can share a split.
func pseudoKey(j job.Job) (string, error) {
	params, err := json.Marshal(j.Pretext.Params) // map keys come out sorted
	return fmt.Sprintf("pseudo/%s%s/%d", j.Pretext.Name, params, j.Seed), err
}

// measure writes the outcome of a job into its run.
func measure(run *store.Run, out *protocol.Outcome, in Input) {
	classes := len(in.Set.Classes)
	run.Predictions, run.Truth = out.Predicted, out.Truth
	run.Metrics = metric.Measure(metric.Outcome{Truth: out.Truth, Predicted: out.Predicted, Classes: classes, Scores: out.Scores})
	if out.HiddenF != nil {
		prefix := "pseudo_" // given to a learner
		if in.Job.Method.Name == "" {
			prefix = "unlabelled_"
		}
		for name, v := range metric.MeasureScores(out.HiddenF, out.HiddenTruth) {
			run.Metrics[prefix+name] = v
		}
	}
	if c := run.Command; c != nil && c.Confined == string(command.Unconfined) { // reports read metrics alone
		run.Metrics[Unconfined] = 1
	}
	for _, p := range out.Trace {
		run.Series = append(run.Series, store.Point(p))
		if p.Name == Unconverged { // reports read metrics alone
			run.Metrics[Unconverged] = p.Value
		}
	}
}

// checkFinite returns an error for the first metric or traced value that is not finite.
func checkFinite(run store.Run) error {
	for _, name := range slices.Sorted(maps.Keys(run.Metrics)) {
		if v := run.Metrics[name]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the metric %s is %v", name, v)
		}
	}
	for _, pt := range run.Series {
		if math.IsNaN(pt.Value) || math.IsInf(pt.Value, 0) {
			return fmt.Errorf("the traced %s is %v at iteration %d", pt.Name, pt.Value, pt.Iteration)
		}
	}
	return nil
}

// Describe names a job for messages.
func Describe(j spec.Job) string {
	s := fmt.Sprintf("%s on %s, seed %d", job.Compose(j.Pretext.String(), j.Method.String()), j.Dataset, j.Seed)
	if j.Eval == job.EvalVal {
		s += " (tuning)"
	}
	return s
}

// guard runs f and turns a panic into an error.
func guard(f func() (*protocol.Outcome, error)) (*protocol.Outcome, error) {
	v, _, err := guarded(func() (any, int64, error) {
		o, err := f()
		return o, 0, err
	})
	if err != nil {
		return nil, err
	}
	return v.(*protocol.Outcome), nil
}
