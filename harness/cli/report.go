package cli

import (
	"ssdl/harness/report"
	"ssdl/harness/results"
)

type reportCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	storedSelection
	documentOutput
}

func (c *reportCmd) Run(e *env) error {
	t, _, err := e.storedTable(c.selection(), c.Spec)
	if err != nil {
		return err
	}
	return c.write(e, report.OfTable(t))
}

// noResultsError says why a table has no value to compare or to draw: it has no results, or only such
// as must not be averaged. name is what the spec was asked for by.
func noResultsError(t results.Table, todo, name string) error {
	for _, r := range t.Rows() {
		for _, c := range r.Cells {
			if c.State == results.Inconsistent {
				return fail(exitFailedRuns, "%s has no results to %s: the runs of %s are inconsistent; `%s` says in what", t.ID, todo, r.Title, report.Command("ssdl", "explain", name, r.Base))
			}
		}
	}
	return fail(exitNoData, "%s has no results to %s yet; `%s` makes them", t.ID, todo, report.Command("ssdl", "run", name))
}
