package cli

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"

	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
)

type checkCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: table1 table2)."`
	specSelection
	listOutput
	Sample  *int   `placeholder:"N" xor:"size" help:"How many runs (default: one of each method, and 12 at least)."`
	Until   *int   `placeholder:"N" xor:"size" help:"How many runs tables must show as verified again: those that earlier calls verified are left out."`
	Draw    uint64 `placeholder:"SEED" help:"Seed that draws the runs (default: a new one at each call, which is printed)."`
	Workers []int  `placeholder:"N,..." help:"Numbers of workers to compute each run with (default: one, and one more than there are processors)."`
	isolateFlag
}

// Help is printed below the flags.
func (checkCmd) Help() string {
	return "Draws some of the runs that tables show, computes them again with one worker and with one more than there are processors, and compares predictions, metrics and traces bit by bit. " +
		"The seed of --draw chooses the runs. The sample begins with one run of each method, has one run of every cell before a second one of any, and prefers the runs that were checked least often. The store records the outcome, and tables say how many of their runs were verified again.\n\n" +
		"Stale runs and runs without local data are left out. Status 3 if a run differs. An external program that differs is reported as not deterministic."
}

// Validate refuses an empty sample and runs without a worker.
func (c *checkCmd) Validate() error {
	if c.Sample != nil && *c.Sample < 1 {
		return fmt.Errorf("--sample must be at least 1, got %d", *c.Sample)
	}
	if c.Until != nil && *c.Until < 1 {
		return fmt.Errorf("--until must be at least 1, got %d", *c.Until)
	}
	for _, n := range c.Workers {
		if n < 1 {
			return fmt.Errorf("--workers must be at least 1, got %d", n)
		}
	}
	return nil
}

// repetitions is the outcome of computing runs again.
type repetitions struct {
	Draw    uint64 `json:"draw"`
	Runs    int    `json:"runs"`
	Workers []int  `json:"workers"`
	Differ  int    `json:"differ"`
	// NotDeterministic counts the repetitions of external programs that differ.
	NotDeterministic int          `json:"not_deterministic,omitempty"`
	Failed           int          `json:"failed"`
	List             []repetition `json:"repetitions"`
	// Earlier are runs that earlier calls verified.
	Earlier []repetition `json:"earlier,omitempty"`
}

// repetition is a run that was computed again. Differs names the first difference; Error says why it
// could not be computed.
type repetition struct {
	Run     string `json:"run"`
	Spec    string `json:"spec"`
	Row     string `json:"row"`
	Dataset string `json:"dataset"`
	Seed    uint64 `json:"seed"`
	Workers int    `json:"workers"`
	Differs string `json:"differs,omitempty"`
	// External says that the row has an external program, which need not be deterministic.
	External bool   `json:"external,omitempty"`
	Error    string `json:"error,omitempty"`
}

func repetitionOf(s run.Shown, workers int) repetition {
	return repetition{
		Run: s.Task.Result.UID, Spec: s.Plan.Spec.Name, Row: results.RowOf(s.Cell), Dataset: s.Cell.Dataset, Seed: s.Task.Job.Seed,
		Workers: workers, External: !s.Task.Job.AllFromCatalog(),
	}
}

func (r repetition) text() string {
	s := "same bits"
	switch {
	case r.Error != "":
		s = "FAILED: " + r.Error
	case r.Differs != "" && r.External:
		s = "not deterministic: " + r.Differs
	case r.Differs != "":
		s = "DIFFERS in " + r.Differs
	}
	return fmt.Sprintf("%s  %s, row %s on %s, seed %d, run %.12s: %s\n", report.Count(r.Workers, "worker", "workers"), r.Spec, r.Row, r.Dataset, r.Seed, r.Run, s)
}

func (c *checkCmd) Run(e *env) (err error) {
	specs, err := selectSpecs(c.specSelection, c.Specs, []string{"table1", "table2"})
	if err != nil {
		return err
	}
	var plans []*run.Plan
	for _, s := range specs {
		p, err := e.plan(s.specSelection, s.name)
		if err != nil {
			return err
		}
		plans = append(plans, p)
	}
	if c.Draw == 0 {
		c.Draw = rand.Uint64N(1e9) + 1
	}
	n := 0
	if c.Sample != nil {
		n = *c.Sample
	}
	var earlier []repetition // by earlier calls
	if c.Until != nil {
		verified, workers := run.Verified(plans)
		for i, s := range verified {
			earlier = append(earlier, repetitionOf(s, workers[i]))
		}
		if n = *c.Until - len(verified); n <= 0 {
			return c.nothingLeft(e, earlier)
		}
	}
	sample := run.Sample(plans, n, c.Draw, c.Until != nil)
	switch {
	case len(sample) > 0:
	case len(earlier) > 0:
		return c.nothingLeft(e, earlier)
	default:
		return nothingToCheck(plans)
	}
	e.noteMissingData(plans)
	st, err := e.openStore(c.resultsFlag)
	record := err == nil // a read-only store keeps no repetitions
	if err != nil {
		if st, err = e.readStore(c.resultsFlag); err != nil {
			return err
		}
	}
	defer closeStore(st, &err)
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	if c.Workers == nil {
		c.Workers = []int{1, procs + 1} // one, and more than any run had
	}
	sum := repetitions{Draw: c.Draw, Runs: len(sample), Workers: c.Workers, Earlier: earlier}
	if c.Format == "text" {
		listEarlier(e, earlier)
		fmt.Fprintf(e.stdout, "%s, drawn by --draw %d\n", report.Count(sum.Runs, "run", "runs"), sum.Draw)
	}
	for _, workers := range sum.Workers {
		runtime.GOMAXPROCS(workers)
		r := run.Runner{Store: st, Library: c.library()}
		if c.Isolate {
			if r.Execute, err = isolated(r.Library, 0, workers); err != nil {
				return err
			}
		}
		for _, s := range sample {
			if run.Stopped(e.stop) {
				return fail(exitInterrupted, "stopped before every run was checked; the store has the repetitions so far")
			}
			is := repetitionOf(s, workers)
			again, err := r.Repeat(e.ctx, s.Plan, s.Task, record)
			is.Differs = again.Differs
			switch {
			case e.ctx.Err() != nil:
				return e.ctx.Err()
			case err != nil:
				is.Error = err.Error()
				sum.Failed++
			case is.Differs != "" && is.External:
				sum.NotDeterministic++
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
		_, err = fmt.Fprintf(e.stdout, "%s computed again with %s: %s, %d failed\n", report.Count(sum.Runs, "run", "runs"), workersText(sum.Workers), report.Count(sum.Differ, "differs", "differ"), sum.Failed)
		if err == nil && sum.NotDeterministic > 0 {
			_, err = fmt.Fprintf(e.stdout, "not deterministic: %s of external programs\n", report.Count(sum.NotDeterministic, "repetition", "repetitions"))
		}
	}
	switch {
	case err != nil:
		return err
	case sum.Differ > 0:
		return fail(exitMismatch, "repetitions that differ: %d of %d", sum.Differ, len(sum.List))
	case sum.Failed > 0:
		return fail(exitFailedRuns, "repetitions that failed: %d of %d", sum.Failed, len(sum.List))
	}
	return nil
}

// nothingLeft lists the runs that earlier calls verified, since no further one has to be checked.
func (c *checkCmd) nothingLeft(e *env, earlier []repetition) error {
	if c.Format == "json" {
		return c.write(e, report.Document{Value: repetitions{Draw: c.Draw, Workers: []int{}, Earlier: earlier, List: []repetition{}}})
	}
	listEarlier(e, earlier)
	_, err := fmt.Fprintf(e.stdout, "nothing to check: %s verified again by this program, 0 differ\n", report.Count(len(earlier), "run is", "runs are"))
	return err
}

func listEarlier(e *env, list []repetition) {
	for _, r := range list {
		fmt.Fprint(e.stdout, r.text())
	}
}

// workersText is as in "1 and with 3 workers".
func workersText(workers []int) string {
	list := make([]string, len(workers))
	for i, n := range workers {
		list[i] = strconv.Itoa(n)
	}
	return strings.Join(list, " and with ") + " workers"
}

// noteMissingData says how many finished runs are left out because their data is missing.
func (e *env) noteMissingData(plans []*run.Plan) {
	var names []string
	runs := map[string]int{}
	for _, p := range plans {
		for _, c := range p.Cells {
			for _, t := range c.Final {
				if t.State != run.Cached || p.Sets[c.Dataset] != nil {
					continue
				}
				if runs[c.Dataset]++; runs[c.Dataset] == 1 {
					names = append(names, c.Dataset)
				}
			}
		}
	}
	for _, name := range names {
		fmt.Fprintf(e.stderr, "%s: the data is missing, %s left out; --data DIR or SSDL_DATA gives its folder\n", name, report.Count(runs[name], "finished run is", "finished runs are"))
	}
}

// nothingToCheck says why no run could be drawn.
func nothingToCheck(plans []*run.Plan) error {
	stale, withoutData := 0, 0
	var missing error
	for _, p := range plans {
		for _, c := range p.Cells {
			if missing == nil && c.NoData() {
				missing = c.Err
			}
			for _, t := range c.Final {
				switch t.State {
				case run.Stale:
					stale++
				case run.Cached: // with data it would have been drawn
					withoutData++
				}
			}
		}
	}
	name := plans[0].Spec.Name
	switch {
	case withoutData > 0:
		return fail(exitNoData, "%s finished, but the data is missing: give its folder with --data DIR or SSDL_DATA", report.Count(withoutData, "run is", "runs are"))
	case stale > 0:
		return fail(exitNoData, "%d finished runs, all stale; `%s` computes them again", stale, report.Command("ssdl", "run", name, "--rerun", "stale"))
	case missing != nil:
		return fail(exitNoData, "%s has no finished runs: %w", name, missing)
	}
	return fail(exitNoData, "%s has no finished runs; `%s` makes them", name, report.Command("ssdl", "run", name))
}
