// Package run runs specs: it plans the jobs of a spec against the store, runs the missing ones
// concurrently within a bound of memory, and records each one when it ends. It computes no
// method and prints no table.
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
	"ssdl/harness/job"
	"ssdl/harness/progress"
	"ssdl/harness/provenance"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Runner runs specs.
type Runner struct {
	Store   *store.Store
	Library *executor.Library
	// Code computes the fingerprints of methods, to find stale runs; may be nil.
	Code *provenance.Code
	// Retry says which jobs run again.
	Retry RetryPolicy
	// Execute runs one job; nil is executor.Execute, in this process.
	Execute executor.Executor
	// Jobs is how many runs are in flight at once; 0 means one per processor.
	Jobs int
	// Memory bounds the estimated bytes of the runs in flight, and of each of them. Cached stages take at
	// most half as many bytes more. 0 means half of the machine's memory, and all of it for a single run.
	Memory int64
	// Timeout bounds one run; 0 means none.
	Timeout time.Duration
	// Stop, once closed, keeps further runs from starting. Those in flight finish.
	Stop <-chan struct{}
	// Stages caches stages across calls of Run; Run makes it if it is nil.
	Stages *executor.Stages
	// Progress shows the progress; nil is silent.
	Progress *progress.Display
	// Recorded is called after each recorded run, from several goroutines at once; may be nil.
	Recorded func()

	forecast *progress.Forecast
}

func (r *Runner) executor() executor.Executor {
	if r.Execute == nil {
		return executor.Execute
	}
	return r.Execute
}

// programs returns the runner of external programs, with the memory bound of a run.
func (r *Runner) programs() command.Runner {
	p := r.Library.Programs
	p.Memory = r.Memory
	return p
}

// Summary counts the work of a call of Run.
type Summary struct {
	Ran, OK, Failed int
	// Built and Reused count the stages that runs share.
	Built, Reused int
	// FailedBefore counts the jobs of RunPlanned that failed in an earlier attempt and were not repeated.
	FailedBefore int
	// Stopped says that Stop was closed before everything was run.
	Stopped bool
}

// Run runs the jobs of the spec that the store lacks, and returns the plan after them. A failed run
// is recorded and counted; it is not an error. An error means that the work could not go on: the
// store cannot be written, or ctx was cancelled.
func (r *Runner) Run(ctx context.Context, s *spec.Spec) (*Plan, Summary, error) {
	var sum Summary
	r.prepareStages()
	built, reused := r.Stages.Counts()
	tried := map[string]bool{}
	// The first batch has the tuning jobs and all jobs without tuning, the second the final jobs after tuning.
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

// memory is the memory bound of the runs in flight in bytes.
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

// runBatch runs the tasks and records each when it ends. Tasks that another process has claimed come last:
// mostly they are in the store by then.
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
		r.forecast = p.Forecast()
		r.forecast.RecallMeans(recorded)
	}
	todo = progress.KindsFirst(todo, func(t *Task) job.Job { return t.Job.Job })
	batch := make([]spec.Job, len(todo))
	for i, t := range todo {
		batch[i] = t.Job
	}
	r.Progress.Begin(batch, p.Waiting(), r.forecast, jobs)
	defer r.Progress.End()
	var mu sync.Mutex // guards sum and busy
	var busy []*Task
	stopped := func() bool {
		if !Stopped(r.Stop) {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		sum.Stopped = true
		return true
	}
	attempt := func(ctx context.Context, t *Task) error {
		if stopped() {
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
		if stopped() { // while it waited for memory
			return nil
		}
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
			r.Progress.Skip(t.Job)
			return nil
		}
		r.Progress.Started(t.Job)
		run := r.tooLarge(in, needs)
		if run.Status == "" {
			run = r.executor()(ctx, in)
		}
		run.Env = env
		t.complete(&run)
		// Cancelled runs are recorded too, so that the record is complete.
		if err := r.Store.Record(context.WithoutCancel(ctx), t.record(), run); err != nil {
			return err
		}
		if r.Recorded != nil {
			r.Recorded()
		}
		r.Progress.Done(t.Job, run, p.Spec.Metrics[0])
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
		if again { // most are done after the first pause
			r.reportWaits(busy)
		}
		todo, busy = busy, nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(claimPause):
		}
	}
}

// reportWaits reports the processes that this one waits for.
func (r *Runner) reportWaits(busy []*Task) {
	for _, t := range busy {
		by := "another process"
		if h, ok := r.Store.ClaimedBy(t.Key); ok {
			by = h.String()
		}
		r.Progress.Wait(t.Job, by)
	}
}

// claimPause is the time between two attempts to claim the jobs of other processes.
const claimPause = 200 * time.Millisecond

// doneByOtherProcess reports whether, since the plan was made, another process has finished the task or has
// failed at it with the same code.
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

// tooLarge returns the failed run of a job that needs more memory than its bound, or else a run without a
// status.
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

// complete adds to a run its code, the reason of a rerun, and the run that it replaces.
func (t *Task) complete(run *store.Run) {
	run.Code, run.Reason = t.code, t.rerunReason()
	if t.State == New {
		return
	}
	if run.Status == store.StatusOK {
		run.Replaces = t.finished
	}
}

// rerunReason is why a job is run again; empty for its first run.
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
