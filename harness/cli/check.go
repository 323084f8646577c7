package cli

import (
	"fmt"
	"runtime"

	"ssdl/harness/run"
)

type checkCmd struct {
	Spec        string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	Determinism bool   `required:"" help:"Compute finished runs again with other numbers of workers, and compare predictions, metrics and traces bit by bit."`
	Sample      int    `default:"12" placeholder:"N" help:"How many runs (default: 12, of as many methods as there are)."`
}

// Help is printed below the flags.
func (checkCmd) Help() string {
	return "Nothing is recorded. Runs of other code than the program has now are left out: they may differ. Status 3 if a run came out otherwise."
}

// Validate refuses a sample of nothing.
func (c *checkCmd) Validate() error {
	if c.Sample < 1 {
		return fmt.Errorf("--sample: %d runs are no sample; give 1 or more", c.Sample)
	}
	return nil
}

func (c *checkCmd) Run(e *env) error {
	p, err := e.plan(c.Spec)
	if err != nil {
		return err
	}
	tasks := p.Sample(c.Sample)
	if len(tasks) == 0 {
		return fail(exitNoData, "%s has no finished runs of this code on the data at hand; `ssdl run %s` makes them", p.Spec.Name, c.Spec)
	}
	st, err := e.look()
	if err != nil {
		return err
	}
	defer st.Close()
	differ, failed := 0, 0
	was := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(was)
	for _, workers := range []int{1, was + 1} { // one, and more than any run had
		runtime.GOMAXPROCS(workers)
		r := run.Runner{Store: st, Library: e.common.library()}
		for _, t := range tasks {
			if stopping(e.stop) {
				return fail(exitInterrupted, "stopped before everything was checked")
			}
			verdict := "same bits"
			switch differs, err := r.Repeat(e.ctx, p, t); {
			case e.ctx.Err() != nil:
				return e.ctx.Err()
			case err != nil:
				verdict, failed = "FAILED: "+err.Error(), failed+1
			case differs != "":
				verdict, differ = "DIFFERS in "+differs, differ+1
			}
			fmt.Fprintf(e.stdout, "%d workers  %s: %s\n", workers, t.Describe(), verdict)
		}
	}
	fmt.Fprintf(e.stdout, "%d runs computed again with 1 and with %d workers: %d differ, %d failed\n", len(tasks), was+1, differ, failed)
	switch {
	case differ > 0:
		return fail(exitMismatch, "%d of %d repetitions differ", differ, 2*len(tasks))
	case failed > 0:
		return fail(exitFailedRuns, "%d of %d repetitions failed", failed, 2*len(tasks))
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
