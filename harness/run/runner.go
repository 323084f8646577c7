// Package run carries out what a spec asks for: it resolves the jobs against the store,
// runs the missing ones side by side within the memory at hand, and records each one as
// it ends. It computes no method and prints no table.
package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"ssdl/harness/data"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/methods"
	"ssdl/methods/catalog"
)

// Runner runs specs.
type Runner struct {
	Store   *store.Store
	Library *Library
	// Code tells the fingerprints of the methods, so that runs of other code are known; may be nil.
	Code *Code
	// Again says what is run although it ran before.
	Again Again
	// Jobs is how many runs are in flight at once; 0 means one per processor.
	Jobs int
	// Memory bounds the estimated bytes of the runs in flight; the stages kept come on top, with at
	// most half as many. 0 means half of the machine's memory.
	Memory int64
	// Timeout bounds one run; 0 means none.
	Timeout time.Duration
	// Stop, once closed, lets the runs in flight finish and starts no others.
	Stop <-chan struct{}
	// Stages are those of specs that were run before; nil begins with none. Run leaves its own.
	Stages *Stages
	// Progress is told of every job; nil is silent.
	Progress *Progress

	meter meter
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
	memory := r.Memory
	if memory <= 0 {
		memory = PhysicalMemory() / 2
	}
	if r.Stages == nil {
		r.Stages = NewStages(memory / 2)
	}
	built, reused := r.Stages.Counts()
	weights := semaphore.NewWeighted(memory)
	tried := map[string]bool{}
	// The first round tunes and runs what needs no tuning, the second runs what was chosen.
	for {
		p, err := Resolve(ctx, r.Library, r.Code, r.Store, s)
		if err != nil {
			return nil, sum, err
		}
		var todo []*Task
		for _, t := range p.Todo(r.Again) {
			if !tried[t.Record.Key] {
				tried[t.Record.Key] = true
				todo = append(todo, t)
			}
		}
		if len(todo) == 0 || sum.Stopped {
			sum.Built, sum.Reused = r.Stages.Counts()
			sum.Built -= built
			sum.Reused -= reused
			return p, sum, nil
		}
		if err := r.register(ctx, p); err != nil {
			return nil, sum, err
		}
		if err := r.round(ctx, p, todo, weights, memory, &sum); err != nil {
			return nil, sum, err
		}
	}
}

// register records the data sets and splits that the plan's runs refer to.
func (r *Runner) register(ctx context.Context, p *Plan) error {
	for _, name := range p.Spec.Datasets {
		set, ok := p.Sets[name]
		if !ok {
			continue
		}
		dim, n := set.X.Dims()
		err := r.Store.PutDataset(ctx, store.Dataset{
			Hash: set.Hash, Name: set.Name, Samples: n, Dim: dim,
			Classes: len(set.Classes), Source: set.Source, Synthetic: set.Synthetic, ClassNames: set.Classes,
		})
		if err != nil {
			return err
		}
		for _, at := range splitsOf(p, name) {
			seed := at.seed
			sp, err := r.Library.Split(set, at.Split, seed)
			if err != nil {
				return err
			}
			labelled := 0
			for _, l := range sp.Labelled {
				if l {
					labelled++
				}
			}
			err = r.Store.PutSplit(ctx, store.Split{
				Hash: sp.Hash, Dataset: set.Hash, Kind: p.Spec.Split.Kind, Seed: drawnUnder(at.Split, seed).seed,
				Train: len(sp.Train), Test: len(sp.Test), Labeled: labelled,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// seeded is a split under a seed.
type seeded struct {
	spec.Split
	seed uint64
}

// splitsOf lists the splits of a data set that the plan's cells use.
func splitsOf(p *Plan, dataset string) []seeded {
	var out []seeded
	for _, c := range p.Cells {
		seeds := p.Spec.Seeds
		if len(c.Tuning) > 0 {
			seeds = slices.Concat(seeds, c.TuneSeeds)
		}
		for _, seed := range seeds {
			if at := (seeded{c.Split, seed}); c.Dataset == dataset && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// round runs the tasks and records them as they end. What another process has claimed comes last:
// mostly it is in the store by then.
func (r *Runner) round(ctx context.Context, p *Plan, todo []*Task, weights *semaphore.Weighted, memory int64, sum *Summary) error {
	jobs := r.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	env := Environment(ctx)
	r.Progress.begin(len(todo))
	defer r.Progress.end()
	var mu sync.Mutex // guards sum and busy
	var busy []*Task
	attempt := func(ctx context.Context, t *Task) error {
		if stopped(r.Stop) {
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
		weight := min(estimate(set, split, t.Job), memory)
		if err := weights.Acquire(ctx, weight); err != nil {
			return err
		}
		defer weights.Release(weight)
		release, ours, err := r.Store.Claim(t.Record.Key)
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
		if done, err := r.elsewhere(ctx, t); err != nil {
			return err
		} else if done {
			r.Progress.skip()
			return nil
		}
		run := r.one(ctx, set, split, t.Job, env)
		t.explain(&run)
		// A cancelled run is recorded all the same, so that the record is complete.
		if err := r.Store.Record(context.WithoutCancel(ctx), t.Record, run); err != nil {
			return err
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
	for {
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(jobs)
		for _, t := range todo {
			g.Go(func() error { return attempt(gctx, t) })
		}
		if err := g.Wait(); err != nil || len(busy) == 0 || sum.Stopped {
			return err
		}
		todo, busy = busy, nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(claimPause):
		}
	}
}

// claimPause is how long a process waits before it asks again for what others have claimed.
const claimPause = 200 * time.Millisecond

// elsewhere reports whether another process has finished the task since the plan was made, or has
// failed at it with the same code.
func (r *Runner) elsewhere(ctx context.Context, t *Task) (bool, error) {
	states, err := r.Store.State(ctx, []store.Job{t.Record})
	if err != nil {
		return false, err
	}
	is := states[0]
	if is.UID != "" && t.finished != is.UID {
		return true, nil
	}
	failed := is.LastUID != t.last && is.LastStatus != store.StatusInterrupted
	return failed && t.code.since(fingerprints{is.LastMethodCode, is.LastPretextCode}) == "", nil
}

// explain notes the code of a run, and why a job that ran before was run again.
func (t *Task) explain(run *store.Run) {
	run.MethodCode, run.PretextCode = t.code.method, t.code.pretext
	if t.State == New {
		return
	}
	run.Reason = string(t.State) + ": " + t.Reason
	if run.Status == store.StatusOK {
		run.Replaces = t.finished
	}
}

func stopped(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// one runs a job and says how it ended.
func (r *Runner) one(ctx context.Context, set *data.Set, split *data.Split, job spec.Job, env map[string]string) store.Run {
	rctx, cancel := ctx, context.CancelFunc(func() {})
	if r.Timeout > 0 {
		rctx, cancel = context.WithTimeout(ctx, r.Timeout)
	}
	defer cancel()
	run := store.Run{UID: store.NewUID(), Started: time.Now(), Env: env}
	used := r.meter.begin()
	out, err := guard(func() (*outcome, error) { return execute(rctx, r.Stages, set, split, job) })
	run.Wall = time.Since(run.Started)
	r.meter.end(used)
	run.CPU, run.Peak = used.cpu, used.peak
	if err == nil {
		err = out.finite()
	}
	if err == nil {
		run.Status, run.Metrics, run.Series, run.Predictions = store.StatusOK, out.Metrics, out.Series, out.Predictions
		run.Truth = out.Truth
		return run
	}
	run.Error = fmt.Sprintf("%s: %v", describe(job), err)
	var p *PanicError
	switch {
	case errors.As(err, &p):
		run.Status = store.StatusPanic
	case ctx.Err() != nil:
		run.Status = store.StatusInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		run.Status, run.Error = store.StatusTimeout, fmt.Sprintf("%s: did not finish within %v", describe(job), r.Timeout)
	default:
		run.Status = store.StatusError
	}
	return run
}

// estimate is the memory a run needs beyond the data set: its own copy of the columns,
// and what the method says of itself.
func estimate(set *data.Set, split *data.Split, job spec.Job) int64 {
	dim, _ := set.X.Dims()
	n, m := len(split.Train), len(split.Test)
	bytes := int64(8 * dim * (n + m))
	for _, part := range []struct {
		name   string
		params catalog.Values
	}{{job.Method, job.Params}, {job.Pretext, job.PretextParams}} {
		if part.name == "" {
			continue
		}
		if e, err := catalog.Lookup(part.name); err == nil {
			if built, err := e.Build(part.params); err == nil {
				if s, ok := built.(methods.Sizer); ok {
					bytes += s.Bytes(dim, n, m, len(set.Classes))
				}
			}
		}
	}
	return bytes
}
