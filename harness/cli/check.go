package cli

import (
	"fmt"
	"runtime"

	"ssdl/harness/report"
	"ssdl/harness/run"
)

type checkCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	specSelection
	listOutput
	Determinism bool `required:"" help:"Compute finished runs again with other numbers of workers, and compare predictions, metrics and traces bit by bit."`
	Sample      int  `default:"12" placeholder:"N" help:"How many runs (default: 12, of as many methods as there are)."`
}

// Help is printed below the flags.
func (checkCmd) Help() string {
	return "Nothing is recorded. Stale runs are left out: other code computed them. Status 3 if a run differs."
}

// Validate refuses an empty sample.
func (c *checkCmd) Validate() error {
	if c.Sample < 1 {
		return fmt.Errorf("--sample must be at least 1, got %d", c.Sample)
	}
	return nil
}

// repetitions is what came of computing runs again.
type repetitions struct {
	Spec    string       `json:"spec"`
	Runs    int          `json:"runs"`
	Workers []int        `json:"workers"`
	Differ  int          `json:"differ"`
	Failed  int          `json:"failed"`
	List    []repetition `json:"repetitions"`
}

// repetition is a run that was computed again. Differs says in what, and Error why it could not be.
type repetition struct {
	Run     string `json:"run"`
	Job     string `json:"job"`
	Workers int    `json:"workers"`
	Differs string `json:"differs,omitempty"`
	Error   string `json:"error,omitempty"`
}

func (r repetition) text() string {
	s := "same bits"
	switch {
	case r.Error != "":
		s = "FAILED: " + r.Error
	case r.Differs != "":
		s = "DIFFERS in " + r.Differs
	}
	return fmt.Sprintf("%d workers  %s: %s\n", r.Workers, r.Job, s)
}

func (c *checkCmd) Run(e *env) error {
	p, err := e.plan(c.specSelection, c.Spec)
	if err != nil {
		return err
	}
	tasks := p.Sample(c.Sample)
	if len(tasks) == 0 {
		return fail(exitNoData, "%s has no current runs of this program on local data; `%s` makes them", p.Spec.Name, report.Command("ssdl", "run", c.Spec))
	}
	st, err := e.readStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer st.Close()
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	sum := repetitions{Spec: p.Spec.Name, Runs: len(tasks), Workers: []int{1, procs + 1}} // one, and more than any run had
	for _, workers := range sum.Workers {
		runtime.GOMAXPROCS(workers)
		r := run.Runner{Store: st, Library: c.library()}
		for _, t := range tasks {
			if stopping(e.stop) {
				return fail(exitInterrupted, "stopped before everything was checked")
			}
			is := repetition{Run: t.Result.UID, Job: t.Describe(), Workers: workers}
			is.Differs, err = r.Repeat(e.ctx, p, t)
			switch {
			case e.ctx.Err() != nil:
				return e.ctx.Err()
			case err != nil:
				is.Error = err.Error()
				sum.Failed++
			case is.Differs != "":
				sum.Differ++
			}
			if sum.List = append(sum.List, is); c.Format == "text" {
				fmt.Fprint(e.stdout, is.text())
			}
		}
	}
	if c.Format == "json" {
		err = c.write(e, report.Document{Value: sum})
	} else {
		_, err = fmt.Fprintf(e.stdout, "%d runs computed again with 1 and with %d workers: %d differ, %d failed\n", sum.Runs, procs+1, sum.Differ, sum.Failed)
	}
	switch {
	case err != nil:
		return err
	case sum.Differ > 0:
		return fail(exitMismatch, "%d of %d repetitions differ", sum.Differ, len(sum.List))
	case sum.Failed > 0:
		return fail(exitFailedRuns, "%d of %d repetitions failed", sum.Failed, len(sum.List))
	}
	return nil
}

func stopping(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
