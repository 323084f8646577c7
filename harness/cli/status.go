package cli

import (
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/spec"
)

type statusCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: all built-in ones)."`
	storedSelection
	listOutput
}

func (c *statusCmd) Run(e *env) error {
	if c.missing() {
		if err := e.checkDatasets(c.selection(), nil); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s not found: nothing was run yet, or --results names another folder\n", c.dbPath())
		return c.write(e, report.OfStatus([]results.Status{}))
	}
	specs, err := selectSpecs(c.selection(), c.Specs, spec.Names())
	if err != nil {
		return err
	}
	// The specs share nothing: side by side they answer sooner, in the order they were asked for.
	list := make([]results.Status, len(specs))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range specs {
		g.Go(func() error {
			p, err := e.storedPlan(s.specSelection, s.name)
			if err == nil {
				list[i] = results.StatusOf(p)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return c.write(e, report.OfStatus(list))
}
