package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"ssdl/harness/compare"
	"ssdl/harness/report"
	"ssdl/harness/results"
)

type compareCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	storedSelection
	documentOutput
	Against string `placeholder:"ROW" help:"The row that all others are compared with (default: the best of each data set)."`
	Figure  bool   `help:"Also draw the critical-difference diagram of the mean ranks, as PNG and SVG in the results folder."`
}

// Help is printed below the flags.
func (compareCmd) Help() string {
	return "Differences are paired by seed: mean, 95 % interval and p of the t test with the correction of Nadeau and Bengio (training part: all training samples), Wilcoxon's signed ranks, both adjusted over the methods by Holm, and the seeds won, tied and lost. " +
		"Then Friedman's test over all seeds and data sets, with Nemenyi's critical difference."
}

func (c *compareCmd) Run(e *env) error {
	p, err := e.storedPlan(c.selection(), c.Spec)
	if err != nil {
		return err
	}
	t, err := results.TableOf(p, true)
	if err != nil {
		return err
	}
	if _, ok := t.Row(c.Against); !ok && c.Against != "" {
		var ids []string
		for _, r := range t.Rows() {
			ids = append(ids, r.ID)
		}
		return fail(exitUsage, "--against %q: %s has the rows %s", c.Against, t.ID, strings.Join(ids, ", "))
	}
	comparison, err := compare.Compare(t, c.Against, results.TestToTrain(p))
	if err != nil {
		return err
	}
	if len(comparison.Columns) == 0 {
		return noResultsError(t, "compare", c.Spec)
	}
	if err := c.write(e, report.OfComparison(comparison)); err != nil {
		return err
	}
	if !c.Figure {
		return nil
	}
	return drawDiagram(e, c.resultsFlag, t, comparison)
}

// drawDiagram writes the critical-difference diagram into the results folder. It names the files on
// standard error: standard output has the tables alone, for other programs.
func drawDiagram(e *env, f resultsFlag, t results.Table, comparison compare.Comparison) error {
	if comparison.Ranking.Lacks != "" {
		return fail(exitNoData, "no diagram: %s", report.LackText(comparison.Ranking))
	}
	d := report.Diagram(comparison, strings.TrimSuffix(t.Caption, ".")+": "+strings.Join(report.ColumnTitles(comparison), ", "))
	dir, err := f.figures()
	if err != nil {
		return err
	}
	name := t.ID
	for _, col := range comparison.Columns {
		name += "-" + col.Column.ID
	}
	for _, format := range []string{"png", "svg"} {
		path := filepath.Join(dir, report.FileName(name+"-ranks", t.Synthetic(), format))
		if err := replaceFile(path, func(w io.Writer) error { return d.Draw(w, format) }); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "figure: %s\n", path)
	}
	return nil
}
