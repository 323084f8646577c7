package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"ssdl/experiments"
	"ssdl/harness/report"
	"ssdl/harness/spec"
	"ssdl/harness/verify"
)

type verifyCmd struct {
	Specs      []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: table1 table2)."`
	ReportOnly bool     `help:"End with status 0 whatever the verdicts are."`
	JUnit      string   `name:"junit" type:"path" placeholder:"FILE" help:"Also write the verdicts as JUnit XML: a test case per cell and per claim."`
	GitHub     bool     `name:"github" help:"Also write annotations of GitHub Actions to standard error: errors for what is off or fails, warnings for what is close or undecided."`
	PaperCheck bool     `help:"Instead: which of the paper's accuracies can be means over one split, two and so on (GRIM). Needs no runs and no data."`
}

// Help is printed below the flags.
func (verifyCmd) Help() string {
	return "A cell matches if the published value, up to its rounding, lies in the 95 % interval over seeds; it is close within the tolerance of the table, and else off. " +
		"One seed has no interval: its cell is undecided.\n\n" +
		"A claim is judged by differences paired by seed, with 95 % intervals with the correction of Nadeau and Bengio (training part: the labelled samples). " +
		"It holds if all of them bear it out, and fails if one of them contradicts it, also after Holm's adjustment over the comparisons of the claim; else, or if results are missing that could turn it, it is undecided. " +
		"Differences that are all the same have no width to judge by: they decide from six seeds on.\n\n" +
		"Status 3 if a cell is off or a claim fails, else 4 if runs failed that a cell needs, else 5 if there is no result at all; missing cells and stand-ins change nothing."
}

func (c *verifyCmd) Run(e *env) error {
	if c.PaperCheck {
		return c.paperCheck(e)
	}
	parts, err := e.parts(c.Specs, []string{"table1", "table2"})
	if err != nil {
		return err
	}
	var names []string
	var results []verify.Result
	var total verify.Summary
	found := false
	for _, part := range parts {
		names = append(names, "`ssdl run "+word(part.name)+"`")
		p, err := part.env.resolve(part.name)
		if err != nil {
			return err
		}
		t, err := buildTable(p, len(e.common.Methods) > 0)
		if err != nil {
			return err
		}
		r, err := judge(t, p.Spec)
		if err != nil {
			return err
		}
		results, total, found = append(results, r), total.Add(r.Summary), found || hasResults(t)
	}
	if err := c.write(e, results); err != nil {
		return err
	}
	switch {
	case c.ReportOnly:
		return nil
	case total.Off+total.Fails > 0:
		return fail(exitMismatch, "%d cells are off and %d claims fail (%s)", total.Off, total.Fails, total)
	case total.Failed > 0:
		return fail(exitFailedRuns, "%d cells have no value since their runs failed or must not be averaged (%s)", total.Failed, total)
	case !found:
		return fail(exitNoData, "there are no results to verify yet; %s makes them", listWords(names, "or"))
	}
	return nil
}

// hasResults tells whether any cell of ours has a value.
func hasResults(t report.Table) bool {
	for _, r := range t.Rows() {
		for j, c := range r.Cells {
			if c.State == report.OK && !t.Columns[j].Published {
				return true
			}
		}
	}
	return false
}

// write prints the results, and writes the forms for machines that were asked for.
func (c *verifyCmd) write(e *env, results []verify.Result) error {
	var out bytes.Buffer
	if format := formats[e.common.Format]; format == "csv" { // one table, one head
		if err := verify.CSV(&out, results...); err != nil {
			return err
		}
	} else {
		for i, r := range results {
			if i > 0 && format != "json" {
				out.WriteString("\n")
			}
			if err := verify.Render(&out, r, format); err != nil {
				return err
			}
		}
	}
	if _, err := e.stdout.Write(out.Bytes()); err != nil {
		return err
	}
	if c.GitHub {
		if err := verify.Annotate(e.stderr, results...); err != nil {
			return err
		}
	}
	if c.JUnit == "" {
		return nil
	}
	if err := replaceFile(c.JUnit, func(w io.Writer) error { return verify.JUnit(w, results...) }); err != nil {
		return fail(exitUsage, "--junit: %s cannot be written: %w; the folder must exist and be writable", c.JUnit, err)
	}
	return nil
}

// paperCheck holds the paper's accuracies against counts of correct predictions, on test
// parts of 30 % of each class (section 3.1 of the paper).
func (c *verifyCmd) paperCheck(e *env) error {
	if len(c.Specs) > 0 || c.JUnit != "" || c.GitHub || c.ReportOnly || e.common.narrows() {
		return fail(exitUsage, "--paper-check is about the paper's own tables: it takes no specs and none of --junit, --github, --report-only, -d, -m and -s")
	}
	var sets []verify.DataSet
	for _, d := range experiments.Datasets() {
		sets = append(sets, verify.DataSet{Name: d.Name, Samples: d.Samples, Classes: d.Classes})
	}
	checks, err := verify.PaperCheck(sets, 0.3)
	if err != nil {
		return err
	}
	return verify.RenderPaperCheck(e.stdout, checks, formats[e.common.Format])
}

// judge holds a table against the paper. The corrected interval of paired differences
// needs the size of the test part over that of what is learned from.
func judge(t report.Table, s *spec.Spec) (verify.Result, error) {
	id := s.Table
	if id == "" { // the paper's figures go by the name of the spec that remakes them
		id = s.Name
	}
	ratio, err := testToTrain(s)
	if err != nil {
		return verify.Result{}, err
	}
	r, err := verify.Verify(t, id, ratio)
	if err != nil {
		return r, fmt.Errorf("verify %s: %w", s.Name, err)
	}
	return r, nil
}

// testToTrain is the size of the test part over that of the labelled training samples; 0 where
// seeds do not change the split. The methods of the baselines learn from the labelled samples
// alone, and what SSDL sees of the others has no labels: the smaller part is taken for all, which
// makes the intervals wider. Of a sweep of label rates it is the smallest.
func testToTrain(s *spec.Spec) (float64, error) {
	switch {
	case s.Split.PerSeed():
		return indexRatio(s)
	case s.Split.Kind != "class":
		return 0, nil
	}
	labels := s.Split.Labels
	if len(s.LabelRates) > 0 {
		labels = slices.Min(s.LabelRates)
	}
	return (1 - s.Split.Train) / (s.Split.Train * labels), nil
}
