package cli

import (
	"bytes"
	"fmt"
	"io"

	"ssdl/experiments"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/verdict"
)

type verifyCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: table1 table2)."`
	specSelection
	documentOutput
	ReportOnly bool   `help:"End with status 0 whatever the verdicts are."`
	JUnit      string `name:"junit" type:"path" placeholder:"FILE" help:"Also write the verdicts as JUnit XML: a test case per cell and per claim."`
	GitHub     bool   `name:"github" help:"Also write annotations of GitHub Actions to standard error: errors for what is off or fails, warnings for what is close or undecided."`
	PaperCheck bool   `help:"Instead: which of the paper's accuracies can be means over one split, two and so on (GRIM). Needs no runs and no data."`
}

// Help is printed below the flags.
func (verifyCmd) Help() string {
	return "A cell matches if the published value, up to its rounding, lies in the 95 % interval over seeds; it is close within the tolerance of the table, and else off. " +
		"One seed has no interval: its cell is undecided.\n\n" +
		"A claim is judged by differences paired by seed, with 95 % intervals after Nadeau and Bengio (training part: the labelled samples). " +
		"It holds if every difference supports it. It fails if one contradicts it, also after Holm correction over the comparisons of the claim. " +
		"Else, or if results are missing that could turn it, it is undecided. " +
		"Differences that are all the same decide from six seeds on.\n\n" +
		"Status 3 if a cell is off or a claim fails, else 4 if runs failed that a cell needs, else 5 if there is no result at all. Missing cells and stand-ins do not change it."
}

func (c *verifyCmd) Run(e *env) error {
	if c.PaperCheck {
		return c.paperCheck(e)
	}
	specs, err := selectSpecs(c.specSelection, c.Specs, []string{"table1", "table2"})
	if err != nil {
		return err
	}
	var commands []string
	var list []verdict.Verdicts
	var total verdict.Summary
	found := false
	for _, s := range specs {
		commands = append(commands, "`"+report.Command("ssdl", "run", s.name)+"`")
		t, p, err := e.storedTable(s.specSelection, s.name)
		if err != nil {
			return err
		}
		v, err := verdictsOf(t, p.Spec)
		if err != nil {
			return err
		}
		list, total, found = append(list, v), total.Add(v.Summary), found || t.HasResults()
	}
	if err := c.write(e, list); err != nil {
		return err
	}
	switch {
	case c.ReportOnly:
		return nil
	case total.Off+total.Fails > 0:
		return fail(exitMismatch, "%d cells are off and %d claims fail (%s)", total.Off, total.Fails, report.SummaryText(total))
	case total.Failed > 0:
		return fail(exitFailedRuns, "%d cells have no value: their runs failed or are inconsistent (%s)", total.Failed, report.SummaryText(total))
	case !found:
		return fail(exitNoData, "no results to verify yet; %s makes them", report.Listed(commands, "or"))
	}
	return nil
}

// write prints the verdicts, and writes them for other programs as the flags ask.
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
	if len(c.Specs) > 0 || c.JUnit != "" || c.GitHub || c.ReportOnly || c.narrows() {
		return fail(exitUsage, "--paper-check is about the paper's own tables: it takes no specs and none of --junit, --github, --report-only, -d, -m and -s")
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

// storedTable is the table of a spec from the store alone, and the plan that it is made of.
func (e *env) storedTable(sel specSelection, name string) (results.Table, *run.Plan, error) {
	p, err := e.plan(sel, name)
	if err != nil {
		return results.Table{}, nil, err
	}
	t, err := results.TableOf(p, len(sel.Methods) > 0)
	return t, p, err
}

// verdictsOf compares a table with the paper.
func verdictsOf(t results.Table, s *spec.Spec) (verdict.Verdicts, error) {
	ratio, err := results.TestToTrain(s)
	if err != nil {
		return verdict.Verdicts{}, err
	}
	return verdict.Of(t, results.PaperTable(s), ratio)
}
