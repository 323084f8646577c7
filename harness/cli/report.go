package cli

import (
	"errors"

	"ssdl/harness/report"
	"ssdl/harness/results"
)

type reportCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	storedSelection
	documentOutput
	Traces []string `placeholder:"NAME,..." help:"Print the last values of these traces beside the metric, instead of the table (ssdl show lists the traces of a run)." xor:"form"`
	Costs  bool     `help:"Print the cost of each row, instead of the table: runs, time, memory and disk." xor:"form"`
}

func (c *reportCmd) Run(e *env) error {
	st, done, err := e.readStoreOrEmpty(c.resultsFlag)
	if err != nil {
		return err
	}
	defer done()
	t, p, err := e.tableOf(st, c.selection(), c.Spec)
	if err != nil {
		return err
	}
	switch {
	case c.Costs:
		costs, err := results.CostsOf(e.ctx, st, p, t)
		if err != nil {
			return err
		}
		return c.write(e, report.OfCosts(costs))
	case len(c.Traces) == 0:
		return c.write(e, report.OfTable(t))
	}
	traces, err := results.TracesOf(e.ctx, st, p, t, c.Traces)
	if unknown := (results.UnknownTraceError{}); errors.As(err, &unknown) {
		return &exitError{exitUsage, err}
	}
	if err != nil {
		return err
	}
	if len(traces.Rows) == 0 {
		return noResultsError(t, "read traces of", c.Spec)
	}
	return c.write(e, report.OfTraces(traces))
}

// noResultsError says why a table has no value to compare or to draw: no results, or only inconsistent
// ones. name is the spec as the command line names it.
func noResultsError(t results.Table, todo, name string) error {
	for _, r := range t.Rows() {
		for _, c := range r.Cells {
			if c.State == results.Inconsistent {
				return fail(exitFailedRuns, "%s has no results to %s: the runs of %s are inconsistent; `%s` says how", t.ID, todo, r.Title, report.Command("ssdl", "explain", name, r.Base))
			}
		}
	}
	return fail(exitNoData, "%s has no results to %s yet; `%s` makes them", t.ID, todo, report.Command("ssdl", "run", name))
}
