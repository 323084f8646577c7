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
	Specs []string `arg:"" optional:"" name:"spec|claim" help:"Built-in specs (${specs}), paths of YAML files, or claims such as ssdl-best (default: all claims of the paper)."`
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
		"`ssdl verify` prints the same verdicts beside the cells, and all comparisons with --format json."
}

func (c *claimsCmd) Run(e *env) error {
	names, ids := claimedSpecs(c.Specs)
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
			if ids := ids[name]; ids != nil {
				bySpec[i] = slices.DeleteFunc(bySpec[i], func(a verdict.Account) bool { return !slices.Contains(ids, a.Claim) })
			}
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
	words := selectionWords(c.dataFlags, c.seedsFlag)
	if c.Brief {
		return c.write(e, report.OfFindings(list, words...))
	}
	return c.write(e, report.OfClaims(list, words...))
}

// claimedSpecs returns the specs that arguments name, each once: a claim names the spec that it is judged on. For a
// spec named only by claims, only lists these claims. Without arguments it returns the built-in specs that the
// paper has claims about, in the paper's order.
func claimedSpecs(args []string) (specs []string, only map[string][]string) {
	only = map[string][]string{}
	claims := paper.Claims()
	named := func(spec string) bool { return slices.Contains(specs, spec) }
	for _, arg := range args {
		name := arg
		if i := slices.IndexFunc(claims, func(c paper.Claim) bool { return c.ID == arg }); i >= 0 {
			name = claims[i].Table
			if !named(name) || only[name] != nil {
				only[name] = append(only[name], arg)
			}
		} else {
			delete(only, name)
		}
		if !named(name) {
			specs = append(specs, name)
		}
	}
	if len(args) == 0 {
		for _, c := range claims {
			if !named(c.Table) {
				specs = append(specs, c.Table)
			}
		}
	}
	return specs, only
}

// accounts joins the claims of v with what their runs cost. name is the spec as the command line names it.
func (e *env) accounts(st *store.Store, v verdict.Verdicts, p *run.Plan, name string) ([]verdict.Account, error) {
	return verdict.Accounts(v, name, func(column string, rows []string) (results.Work, error) {
		return results.WorkOf(e.ctx, st, p, column, rows)
	})
}
