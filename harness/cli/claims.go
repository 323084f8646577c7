package cli

import (
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/harness/verdict"
)

type claimsCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: all that the paper has claims about)."`
	dataFlags
	resultsFlag
	datasetsFlag
	seedsFlag
	documentOutput
	Brief bool `help:"Print the reason of each verdict instead of the costs."`
}

// Help is printed below the flags.
func (claimsCmd) Help() string {
	return "Prints each claim of the paper with its verdict, the command that makes its results, and the recorded time, memory and disk. It reads only the store. " +
		"`ssdl verify` prints the same verdicts with all comparisons."
}

func (c *claimsCmd) Run(e *env) error {
	names := c.Specs
	if len(names) == 0 {
		names = claimedSpecs()
	}
	st, done, err := e.readStoreOrEmpty(c.resultsFlag)
	if err != nil {
		return err
	}
	defer done()
	sel := specSelection{dataFlags: c.dataFlags, resultsFlag: c.resultsFlag, datasetsFlag: c.datasetsFlag, seedsFlag: c.seedsFlag}
	bySpec := make([][]verdict.Account, len(names))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		g.Go(func() error {
			p, err := e.resolved(st, sel, name, run.ResolveFinished)
			if err != nil {
				return err
			}
			t, err := results.TableOf(p, false)
			if err != nil {
				return err
			}
			v, err := verdictsOf(t, p)
			if err != nil {
				return err
			}
			bySpec[i], err = e.accounts(st, v, p, name)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	list := slices.Concat(bySpec...)
	if list == nil {
		list = []verdict.Account{}
	}
	if c.Brief {
		return c.write(e, report.OfFindings(list))
	}
	return c.write(e, report.OfClaims(list))
}

// claimedSpecs are the built-in specs that the paper has claims about, in the paper's order.
func claimedSpecs() []string {
	var names []string
	for _, c := range paper.Claims() {
		if !slices.Contains(names, c.Table) {
			names = append(names, c.Table)
		}
	}
	return names
}

// accounts joins the claims of v with what their runs cost. name is the spec as the command line names it.
func (e *env) accounts(st *store.Store, v verdict.Verdicts, p *run.Plan, name string) ([]verdict.Account, error) {
	return verdict.Accounts(v, name, func(column string, rows []string) (results.Work, error) {
		return results.WorkOf(e.ctx, st, p, column, rows)
	})
}
