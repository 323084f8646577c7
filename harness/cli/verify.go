package cli

import (
	"bytes"
	"fmt"
	"io"

	"ssdl/experiments"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/harness/verdict"
)

type verifyCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: table1 table2)."`
	storedSelection
	documentOutput
	ReportOnly   bool   `help:"End with status 0 whatever the verdicts are."`
	RequireClean bool   `help:"Fail if a run behind a cell has modified or unknown sources, or no record of its code and memory."`
	JUnit        string `name:"junit" type:"path" placeholder:"FILE" help:"Also write the verdicts as JUnit XML: a test case per cell and per claim."`
	GitHub       bool   `name:"github" help:"Also write annotations of GitHub Actions to standard error: errors for what differs or fails, warnings for what is undecided."`
	PaperCheck   bool   `help:"Check instead which of the paper's accuracies can be means over 1, 2, ... splits (GRIM). Needs no runs and no data."`
}

// Help is printed below the flags.
func (verifyCmd) Help() string {
	return "A cell matches if its 95 % interval lies within the tolerance around the paper's value (2 points in Table 1, 0.05 in Table 2). It differs if the interval lies outside. " +
		"It is undecided otherwise, and always below three seeds. The interval covers the spread over seeds and, for accuracies, the binomial variance of the tested samples.\n\n" +
		"A claim is judged by differences paired by seed, with 95 % intervals after Nadeau and Bengio (training part: all training samples). " +
		"It holds if every difference supports it. It fails if one contradicts it, also after Holm correction over the comparisons of the claim. " +
		"It is undecided otherwise, and if rows without results could change the verdict. It is not tested without any difference, and left out with -m. " +
		"Differences that are equal on all seeds decide from six seeds on.\n\n" +
		"Status 3 if a cell differs or a claim fails, or a run is not as it was recorded, else 4 if runs failed that a cell needs, else 5 if there is no result at all. Missing cells and stand-ins do not change it."
}

func (c *verifyCmd) Run(e *env) error {
	if c.PaperCheck {
		return c.paperCheck(e)
	}
	specs, err := selectSpecs(c.selection(), c.Specs, []string{"table1", "table2"})
	if err != nil {
		return err
	}
	var commands []string
	var list []verdict.Verdicts
	var total verdict.Summary
	found := false
	var behind run.Provenance
	for _, s := range specs {
		commands = append(commands, "`"+report.Command("ssdl", "run", s.name)+"`")
		t, p, err := e.storedTable(s.specSelection, s.name)
		if err != nil {
			return err
		}
		v, err := verdictsOf(t, p)
		if err != nil {
			return err
		}
		if len(s.Methods) > 0 {
			v.LeaveOutNotTested()
		}
		behind.Runs += t.Provenance.Runs
		behind.Damaged += t.Provenance.Damaged
		behind.Modified += t.Provenance.Modified
		behind.Unknown += t.Provenance.Unknown
		behind.Incomplete += t.Provenance.Incomplete
		list, total, found = append(list, v), total.Add(v.Summary), found || t.HasResults()
	}
	if err := c.write(e, list); err != nil {
		return err
	}
	switch {
	case behind.Damaged > 0:
		return fail(exitMismatch, "runs that are not as recorded: %d of %d; `ssdl fsck` tells which, `ssdl run` computes them again", behind.Damaged, behind.Runs)
	case c.RequireClean && behind.Modified+behind.Unknown > 0:
		return fail(exitMismatch, "of %s, %d have modified sources and %d have no recorded commit", report.Count(behind.Runs, "run", "runs"), behind.Modified, behind.Unknown)
	case c.RequireClean && behind.Incomplete > 0:
		return fail(exitMismatch, "of %s, %d have no record of their code or memory", report.Count(behind.Runs, "run", "runs"), behind.Incomplete)
	case c.ReportOnly:
		return nil
	case total.Differs+total.Fails > 0:
		return fail(exitMismatch, "%s and %s (%s)", report.Count(total.Differs, "cell differs", "cells differ"), report.Count(total.Fails, "claim fails", "claims fail"), report.SummaryText(total))
	case total.Failed > 0:
		return fail(exitFailedRuns, "%s no value: runs failed or are inconsistent (%s)", report.Count(total.Failed, "cell has", "cells have"), report.SummaryText(total))
	case !found:
		return fail(exitNoData, "no results to verify yet; %s makes them", report.Listed(commands, "or"))
	}
	return nil
}

// write prints the verdicts, and writes them as --github and --junit ask.
func (c *verifyCmd) write(e *env, list []verdict.Verdicts) error {
	var out bytes.Buffer // all or nothing
	if err := report.OfVerdicts(list...).Write(&out, c.Format); err != nil {
		return err
	}
	if _, err := e.stdout.Write(out.Bytes()); err != nil {
		return err
	}
	if c.GitHub {
		if err := report.Annotate(e.stderr, list...); err != nil {
			return err
		}
	}
	if c.JUnit == "" {
		return nil
	}
	if err := replaceFile(c.JUnit, func(w io.Writer) error { return report.JUnit(w, list...) }); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

// paperCheck tests whether counts of correct predictions can give the paper's accuracies, on test
// parts of 30 % of each class (section 3.1 of the paper).
func (c *verifyCmd) paperCheck(e *env) error {
	if len(c.Specs) > 0 || c.JUnit != "" || c.GitHub || c.ReportOnly || c.RequireClean || c.Recorded || c.narrows() {
		return fail(exitUsage, "--paper-check is about the paper's own tables: it takes no specs and none of --junit, --github, --report-only, --require-clean, --recorded, -d, -m and -s")
	}
	var sets []verdict.DataSet
	for _, d := range experiments.Datasets() {
		sets = append(sets, verdict.DataSet{Name: d.Name, Samples: d.Samples, Classes: d.Classes})
	}
	checks, err := verdict.PaperCheck(sets, 0.3)
	if err != nil {
		return err
	}
	return report.OfPaperCheck(checks).Write(e.stdout, c.Format)
}

// storedTable makes the table of a spec from the store, and returns it with its plan.
func (e *env) storedTable(sel specSelection, name string) (results.Table, *run.Plan, error) {
	st, done, err := e.readStoreOrEmpty(sel.resultsFlag)
	if err != nil {
		return results.Table{}, nil, err
	}
	defer done()
	return e.tableOf(st, sel, name)
}

// tableOf is storedTable on an open store.
func (e *env) tableOf(st *store.Store, sel specSelection, name string) (results.Table, *run.Plan, error) {
	p, err := e.resolved(st, sel, name, run.ResolveFinished)
	if err != nil {
		return results.Table{}, nil, err
	}
	e.noteRecorded(p)
	t, err := results.TableOf(p, len(sel.Methods) > 0)
	return t, p, err
}

// verdictsOf compares a table with the paper.
func verdictsOf(t results.Table, p *run.Plan) (verdict.Verdicts, error) {
	return verdict.Of(t, results.PaperTable(p.Spec), results.TestToTrain(p))
}
