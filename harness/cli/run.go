package cli

import (
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"ssdl/harness/executor"
	"ssdl/harness/progress"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

type runFlags struct {
	specSelection
	jobsFlag
	documentOutput
	Timeout time.Duration `placeholder:"DURATION" help:"Time limit of one run, e.g. 30m (default: none)."`
	Memory  float64       `placeholder:"GIB" help:"Memory for the runs in flight, and for each of them (default: half of the machine's)."`
	isolateFlag
	rerunFlags
}

// rerunFlags select finished jobs to run again. A job that was interrupted, or failed with different code, is
// always run again.
type rerunFlags struct {
	Retry string `enum:",failed" default:"" placeholder:"failed" help:"failed: run again the jobs that ended in an error, a panic or at the time limit."`
	Rerun string `enum:",stale" default:"" placeholder:"stale" help:"stale: run again the jobs whose result is stale, i.e. computed by different code."`
}

// Validate refuses impossible limits.
func (f *runFlags) Validate() error {
	const most = 1 << 20 // a million GiB
	switch {
	case f.Timeout < 0:
		return fmt.Errorf("--timeout must be positive, got %v", f.Timeout)
	case !(f.Memory >= 0 && f.Memory <= most): // NaN too
		return fmt.Errorf("--memory must be a number of GiB from 0 to %d, got %v", most, f.Memory)
	}
	return f.jobsFlag.Validate()
}

func (f rerunFlags) retry() run.RetryPolicy {
	return run.RetryPolicy{Failed: f.Retry == "failed", Stale: f.Rerun == "stale"}
}

type runCmd struct {
	runFlags
	shardFlags
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
}

// Validate refuses flags that do not go together.
func (c *runCmd) Validate() error {
	if err := c.shardFlags.Validate(); err != nil {
		return err
	}
	return c.runFlags.Validate()
}

func (c *runCmd) Run(e *env, k *kong.Context) error {
	if c.Shard != "" {
		return c.runShard(e, k)
	}
	s, err := e.specToRun(c.specSelection, c.Spec)
	if err != nil {
		return err
	}
	p, sum, err := c.run(e, s)
	if err != nil {
		return err
	}
	t, err := results.TableOf(p, len(c.Methods) > 0)
	if err != nil {
		return err
	}
	if err := c.write(e, report.OfTable(t)); err != nil {
		return err
	}
	return unfinishedError(e, p, sum, c.Spec)
}

// runner makes a Runner from the flags, without a store.
func (f runFlags) runner(e *env) (*run.Runner, error) {
	r := &run.Runner{
		Library: f.library(), Code: e.code, Retry: f.retry(), Jobs: f.Jobs,
		Memory: int64(f.Memory * (1 << 30)), Timeout: f.Timeout, Stop: e.stop,
		Stages:   e.stages,
		Progress: progress.New(e.stderr, isTerminal(e.stderr)),
	}
	if f.Isolate {
		var err error
		if r.Execute, err = isolated(r.Library, r.Memory, 0); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// isolated returns an executor that runs each job in its own process, with at most memory bytes and processors; 0
// sets no limit.
func isolated(library *executor.Library, memory int64, processors int) (executor.Executor, error) {
	program, err := self()
	if err != nil {
		return nil, err
	}
	return executor.Isolation{Command: []string{program, "worker"}, Library: library, Memory: memory, Workers: processors}.Execute, nil
}

// run runs the jobs of the spec that the store lacks, and says on stderr what it did.
func (f runFlags) run(e *env, s *spec.Spec) (*run.Plan, run.Summary, error) {
	st, err := e.openStore(f.resultsFlag)
	if err != nil {
		return nil, run.Summary{}, err
	}
	defer st.Close()
	r, err := f.runner(e)
	if err != nil {
		return nil, run.Summary{}, err
	}
	r.Store = st
	start := time.Now()
	p, sum, err := r.Run(e.ctx, s)
	e.stages = r.Stages
	if err != nil && e.ctx.Err() != nil {
		return nil, sum, fail(exitInterrupted, "interrupted: finished runs are in the store; the same command continues")
	}
	if err != nil {
		return nil, sum, err
	}
	n := p.Counts()
	switch {
	case sum.Ran == 0 && n[run.NoData] > 0:
		fmt.Fprintf(e.stderr, "%s: nothing computed; %s local data\n", s.Name, report.Count(n[run.NoData], "run lacks", "runs lack"))
	case sum.Ran == 0 && sum.Stopped:
		fmt.Fprintf(e.stderr, "%s: nothing computed\n", s.Name)
	case sum.Ran == 0:
		fmt.Fprintf(e.stderr, "%s: nothing to compute, every run is in the store\n", s.Name)
	default:
		fmt.Fprintf(e.stderr, "%s: %s in %s, %d ok, %d failed; %s computed, reused %s\n",
			s.Name, report.Count(sum.Ran, "run", "runs"), time.Since(start).Round(time.Second/10), sum.OK, sum.Failed,
			report.Count(sum.Built, "stage", "stages"), report.Count(sum.Reused, "time", "times"))
	}
	return p, sum, nil
}

// unfinishedError says what is missing after a run, with its exit code. name is the spec as the command
// line names it.
func unfinishedError(e *env, p *run.Plan, sum run.Summary, name string) error {
	if sum.Stopped {
		return fail(exitInterrupted, "stopped before everything was run; the same command continues")
	}
	if n := p.Counts()[run.Failed] + p.Counts()[run.Retry]; n > 0 {
		return fail(exitFailedRuns, "%s failed; `%s` says why, --retry failed tries again", report.Count(n, "run", "runs"), report.Command("ssdl", "plan", name))
	}
	if n := p.Counts()[run.Damaged]; n > 0 {
		return fail(exitMismatch, "%s damaged in the store, and could not be computed again; `ssdl fsck` names them", report.Count(n, "run is", "runs are"))
	}
	if sum.Failed > 0 {
		return fail(exitFailedRuns, "%s failed; the earlier results stay in use. --rerun stale tries again", report.Count(sum.Failed, "rerun", "reruns"))
	}
	if n := p.Counts()[run.Stale]; n > 0 {
		fmt.Fprintf(e.stderr, "%s: %s stale, computed by different code. --rerun stale computes them again\n", p.Spec.Name, report.Count(n, "result is", "results are"))
	}
	for _, c := range p.Cells {
		if c.Err != nil {
			return c.Err
		}
	}
	if n := p.Counts()[run.NoData]; n > 0 {
		return fail(exitNoData, "%s local data or a file; `%s` names what is missing", report.Count(n, "run lacks", "runs lack"), report.Command("ssdl", "plan", name))
	}
	return nil
}
