package cli

import (
	"fmt"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

type runFlags struct {
	specSelection
	jobsFlag
	documentOutput
	Timeout time.Duration `placeholder:"DURATION" help:"Longest time of one run, e.g. 30m (default: none)."`
	Memory  float64       `placeholder:"GIB" help:"Memory for the runs in flight, and for each of them (default: half of the machine's)."`
	Isolate bool          `help:"Run each job in a process of its own: jobs share neither memory nor stages."`
	rerunFlags
}

// rerunFlags say what is run although it ran before. An interrupted run is always run again, and
// so is one that failed with other code than the program has now.
type rerunFlags struct {
	Retry string `enum:",failed" default:"" placeholder:"failed" help:"failed: run again what ended in an error, a panic or at the time limit."`
	Rerun string `enum:",stale" default:"" placeholder:"stale" help:"stale: run again what was computed by other code than the program has now."`
}

// Validate refuses limits that no run can keep.
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
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
}

func (c *runCmd) Run(e *env) error {
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

// run brings the store up to the spec and says on stderr what it did.
func (f runFlags) run(e *env, s *spec.Spec) (*run.Plan, run.Summary, error) {
	st, err := e.openStore(f.resultsFlag)
	if err != nil {
		return nil, run.Summary{}, err
	}
	defer st.Close()
	r := run.Runner{
		Store: st, Library: f.library(), Code: e.code, Retry: f.retry(), Jobs: f.Jobs,
		Memory: int64(f.Memory * (1 << 30)), Timeout: f.Timeout, Stop: e.stop,
		Stages:   e.stages,
		Progress: run.NewProgress(e.stderr, isTerminal(e.stderr)),
	}
	if f.Isolate {
		program, err := self()
		if err != nil {
			return nil, run.Summary{}, err
		}
		i := executor.Isolation{Command: []string{program, "worker"}, Library: r.Library, Memory: r.Memory}
		r.Execute = i.Execute
	}
	start := time.Now()
	p, sum, err := r.Run(e.ctx, s)
	e.stages = r.Stages
	if err != nil && e.ctx.Err() != nil {
		return nil, sum, fail(exitInterrupted, "interrupted: finished runs are in the store, the same command continues")
	}
	if err != nil {
		return nil, sum, err
	}
	n := p.Counts()
	switch {
	case sum.Ran == 0 && n[run.NoData] > 0:
		fmt.Fprintf(e.stderr, "%s: nothing computed; %d runs lack local data\n", s.Name, n[run.NoData])
	case sum.Ran == 0 && sum.Stopped:
		fmt.Fprintf(e.stderr, "%s: nothing computed\n", s.Name)
	case sum.Ran == 0:
		fmt.Fprintf(e.stderr, "%s: nothing to compute, every run is in the store\n", s.Name)
	default:
		fmt.Fprintf(e.stderr, "%s: %d runs in %s, %d ok, %d failed; %d stages computed, reused %d times\n",
			s.Name, sum.Ran, time.Since(start).Round(time.Second/10), sum.OK, sum.Failed, sum.Built, sum.Reused)
	}
	return p, sum, nil
}

// unfinishedError says what is missing after a run, with its exit code. name is what the spec
// was asked for by.
func unfinishedError(e *env, p *run.Plan, sum run.Summary, name string) error {
	if sum.Stopped {
		return fail(exitInterrupted, "stopped before everything was run; the same command continues")
	}
	if n := p.Counts()[run.Failed] + p.Counts()[run.Retry]; n > 0 {
		return fail(exitFailedRuns, "%d runs failed; `%s` says why, --retry failed tries them again", n, report.Command("ssdl", "plan", name))
	}
	if sum.Failed > 0 {
		return fail(exitFailedRuns, "%d reruns failed; the earlier results stay in use. --rerun stale tries them again", sum.Failed)
	}
	if n := p.Counts()[run.Stale]; n > 0 {
		fmt.Fprintf(e.stderr, "%s: %d results are stale: other code computed them. --rerun stale computes them anew\n", p.Spec.Name, n)
	}
	for _, c := range p.Cells {
		if c.Err != nil {
			return c.Err
		}
	}
	return nil
}
