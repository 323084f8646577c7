// Package run carries out what a spec asks for: it resolves the jobs against the store,
// runs the missing ones side by side within the memory at hand, and records each one as
// it ends. It computes no method and prints no table.
package run

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"ssdl/harness/command"
	"ssdl/harness/executor"
	"ssdl/harness/provenance"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Runner runs specs.
type Runner struct {
	Store   *store.Store
	Library *executor.Library
	// Code tells the fingerprints of the methods, so that runs of other code are known; may be nil.
	Code *provenance.Code
	// Retry says what is run although it ran before.
	Retry RetryPolicy
	// Execute carries out one job; nil is executor.Execute, in this process.
	Execute executor.Executor
	// Jobs is how many runs are in flight at once; 0 means one per processor.
	Jobs int
	// Memory bounds the estimated bytes of the runs in flight, and of each of them; the stages kept
	// come on top, with at most half as many. 0 means half of the machine's memory, and for a
	// single run all of it.
	Memory int64
	// Timeout bounds one run; 0 means none.
	Timeout time.Duration
	// Stop, once closed, lets the runs in flight finish and starts no others.
	Stop <-chan struct{}
	// Stages are those of specs that were run before; nil begins with none. Run leaves its own.
	Stages *executor.Stages
	// Progress is told of every job; nil is silent.
	Progress *Progress
	// Recorded is called when a run is in the store, by several goroutines at once; may be nil.
	Recorded func()

	forecast *Forecast
}

func (r *Runner) executor() executor.Executor {
	if r.Execute == nil {
		return executor.Execute
	}
	return r.Execute
}

// programs runs programs from outside within the memory that each run may have.
func (r *Runner) programs() command.Runner {
	p := r.Library.Programs
	p.Memory = r.Memory
	return p
}

// Summary tells what a call of Run did.
type Summary struct {
	Ran, OK, Failed int
	// Built and Reused count the stages that runs share.
	Built, Reused int
	// Stopped says that Stop was closed before everything was run.
	Stopped bool
}

// Run brings the store up to the spec and returns the plan as it then stands. Failed
// runs are recorded and counted, they are no error; an error means that the work itself
// could not go on: the store cannot be written, or ctx was cancelled.
func (r *Runner) Run(ctx context.Context, s *spec.Spec) (*Plan, Summary, error) {
	var sum Summary
	r.prepareStages()
	built, reused := r.Stages.Counts()
	tried := map[string]bool{}
	// The first batch tunes and runs what needs no tuning, the second runs what was chosen.
	for {
		p, err := Resolve(ctx, r.Library, r.Code, r.Store, s)
		if err != nil {
			return nil, sum, err
		}
		if err := p.Unusable(); err != nil {
			return nil, sum, err
		}
		var todo []*Task
		for _, t := range p.Todo(r.Retry) {
			if !tried[t.Key] {
				tried[t.Key] = true
				todo = append(todo, t)
			}
		}
		if err := p.register(ctx, r.Library, r.Store); err != nil {
			return nil, sum, err
		}
		if len(todo) == 0 || sum.Stopped {
			sum.Built, sum.Reused = r.Stages.Counts()
			sum.Built -= built
			sum.Reused -= reused
			return p, sum, nil
		}
		if err := r.runBatch(ctx, p, todo, &sum); err != nil {
			return nil, sum, err
		}
	}
}

// memory is the bound of the runs in flight, in bytes.
func (r *Runner) memory() int64 {
	if r.Memory > 0 {
		return r.Memory
	}
	return provenance.PhysicalMemory() / 2
}

func (r *Runner) prepareStages() {
	if r.Stages == nil {
		r.Stages = executor.NewStages(r.memory() / 2)
	}
}

// runBatch runs the tasks and records them as they end. What another process has claimed comes last:
// mostly it is in the store by then.
func (r *Runner) runBatch(ctx context.Context, p *Plan, todo []*Task, sum *Summary) error {
	memory := r.memory()
	weights := semaphore.NewWeighted(memory)
	jobs := r.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	env := provenance.Environment()
	if r.forecast == nil {
		recorded, err := r.Store.WallTimes(ctx)
		if err != nil {
			return err
		}
		r.forecast = NewForecast()
		r.forecast.Recall(p)
		r.forecast.RecallMeans(recorded)
	}
	todo = inOrder(todo)
	r.Progress.begin(todo, p.Waiting(), r.forecast, jobs)
	defer r.Progress.end()
	var mu sync.Mutex // guards sum and busy
	var busy []*Task
	attempt := func(ctx context.Context, t *Task) error {
		if Stopped(r.Stop) {
			mu.Lock()
			defer mu.Unlock()
			sum.Stopped = true
			return nil
		}
		set := p.Sets[t.Job.Dataset]
		split, err := r.Library.Split(set, t.Job.Split, t.Job.Seed)
		if err != nil {
			return err
		}
		in := executor.Input{Job: t.Job, Set: set, Split: split, Stages: r.Stages, Timeout: r.Timeout, Programs: r.programs()}
		needs := in.Bytes()
		weight := min(needs, memory)
		if err := weights.Acquire(ctx, weight); err != nil {
			return err
		}
		defer weights.Release(weight)
		release, ours, err := r.Store.Claim(t.Key)
		if err != nil {
			return err
		}
		if !ours {
			mu.Lock()
			defer mu.Unlock()
			busy = append(busy, t)
			return nil
		}
		defer release()
		if done, err := r.doneByOtherProcess(ctx, t); err != nil {
			return err
		} else if done {
			r.Progress.skip(t.Job)
			return nil
		}
		r.Progress.started(t.Job)
		run := r.tooLarge(in, needs)
		if run.Status == "" {
			run = r.executor()(ctx, in)
		}
		run.Env = env
		t.complete(&run)
		// A cancelled run is recorded all the same, so that the record is complete.
		if err := r.Store.Record(context.WithoutCancel(ctx), t.record(), run); err != nil {
			return err
		}
		if r.Recorded != nil {
			r.Recorded()
		}
		r.Progress.done(t.Job, run, p.Spec.Metrics[0])
		mu.Lock()
		defer mu.Unlock()
		sum.Ran++
		if run.Status == store.StatusOK {
			sum.OK++
		} else {
			sum.Failed++
		}
		return ctx.Err()
	}
	for again := false; ; again = true {
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(jobs)
		for _, t := range todo {
			g.Go(func() error { return attempt(gctx, t) })
		}
		if err := g.Wait(); err != nil || len(busy) == 0 || sum.Stopped {
			return err
		}
		if again { // most are done at the second look
			r.tellOfWaiting(busy)
		}
		todo, busy = busy, nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(claimPause):
		}
	}
}

// tellOfWaiting says for which processes this one waits.
func (r *Runner) tellOfWaiting(busy []*Task) {
	for _, t := range busy {
		by := "another process"
		if h, ok := r.Store.ClaimedBy(t.Key); ok {
			by = h.String()
		}
		r.Progress.waits(t.Job, by)
	}
}

// claimPause is how long a process waits before it asks again for what others have claimed.
const claimPause = 200 * time.Millisecond

// doneByOtherProcess reports whether another process has finished the task since the plan was
// made, or has failed at it with the same code.
func (r *Runner) doneByOtherProcess(ctx context.Context, t *Task) (bool, error) {
	states, err := r.Store.State(ctx, []string{t.Key})
	if err != nil {
		return false, err
	}
	is := states[0]
	if is.UID != "" && t.finished != is.UID {
		return true, nil
	}
	failed := is.LastUID != t.last && is.LastStatus != store.StatusInterrupted
	return failed && len(t.code.ChangesSince(is.LastCode)) == 0, nil
}

// tooLarge is the run of a job that needs more memory than there may be; without a status if it
// does not.
func (r *Runner) tooLarge(in executor.Input, needs int64) store.Run {
	bound, which := provenance.PhysicalMemory(), "the machine has"
	if r.Memory > 0 {
		bound, which = r.Memory, "--memory allows"
	}
	if needs <= bound {
		return store.Run{}
	}
	const gib = 1 << 30
	return store.Run{
		UID: store.NewUID(), Started: time.Now(), Status: store.StatusMemory,
		Error: fmt.Sprintf("%s: needs about %.1f GiB, %s %.1f. Use smaller parameters, or more memory",
			executor.Describe(in.Job), float64(needs)/gib, which, float64(bound)/gib),
	}
}

// complete notes the code of a run, and why a job that ran before was run again.
func (t *Task) complete(run *store.Run) {
	run.Code, run.Reason = t.code, t.rerunReason()
	if t.State == New {
		return
	}
	if run.Status == store.StatusOK {
		run.Replaces = t.finished
	}
}

// rerunReason is why a job that ran before is run again; empty for its first run.
func (t *Task) rerunReason() string {
	if t.State == New {
		return t.planned
	}
	return string(t.State) + ": " + t.Reason()
}

// Stopped reports whether stop is closed; nil is not.
func Stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
