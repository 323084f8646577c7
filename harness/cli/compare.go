package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ssdl/harness/report"
	"ssdl/harness/verify"
)

type compareCmd struct {
	Spec    string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	Against string `placeholder:"ROW" help:"The row that all others are held against (default: the best of each data set)."`
	Figure  bool   `help:"Also draw the critical-difference diagram of the mean ranks, as PNG and SVG in the results folder."`
}

// Help is printed below the flags.
func (compareCmd) Help() string {
	return "Differences are paired by seed: mean, 95 % interval and p of the t test with the correction of Nadeau and Bengio (training part: the labelled samples), Wilcoxon's signed ranks, both adjusted over the methods by Holm, and the seeds won, tied and lost. " +
		"Then Friedman's test over all seeds and data sets, with Nemenyi's critical difference."
}

func (c *compareCmd) Run(e *env) error {
	p, err := e.resolve(c.Spec)
	if err != nil {
		return err
	}
	t, err := buildTable(p, true)
	if err != nil {
		return err
	}
	if c.Against != "" && !slices.ContainsFunc(t.Rows(), func(r report.Row) bool { return r.ID == c.Against }) {
		var ids []string
		for _, r := range t.Rows() {
			ids = append(ids, r.ID)
		}
		return fail(exitUsage, "--against %q: %s has the rows %s", c.Against, p.Spec.Name, strings.Join(ids, ", "))
	}
	ratio, err := testToTrain(p.Spec)
	if err != nil {
		return err
	}
	comparison, err := verify.Compare(t, c.Against, ratio)
	if err != nil {
		return err
	}
	if len(comparison.Columns) == 0 {
		return nothing(t, "compare", c.Spec)
	}
	if err := comparison.Render(e.stdout, formats[e.common.Format]); err != nil {
		return err
	}
	if !c.Figure {
		return nil
	}
	return c.draw(e, t, comparison)
}

// draw writes the critical-difference diagram into the results folder. What it says of
// itself goes to standard error, so that the tables stay whole for a program.
func (c *compareCmd) draw(e *env, t report.Table, comparison verify.Comparison) error {
	var titles []string
	name := t.ID
	for _, col := range comparison.Columns {
		titles, name = append(titles, col.DataSet()), name+"-"+col.Column
	}
	d, ok := comparison.Diagram(strings.TrimSuffix(t.Caption, ".") + ": " + strings.Join(titles, ", "))
	if !ok {
		return fail(exitNoData, "no diagram: %s", comparison.Ranking.Why)
	}
	d.Flattered = flattered(comparison)
	dir, err := e.figures()
	if err != nil {
		return err
	}
	t.ID = name + "-ranks"
	for _, format := range []string{"png", "svg"} {
		path := filepath.Join(dir, report.FileName(t, format))
		if err := replaceFile(path, func(w io.Writer) error { return d.Draw(w, format) }); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "figure: %s\n", path)
	}
	return nil
}

// flattered says of each ranked method whether it has parameters chosen on the test part, on any of the
// data sets.
func flattered(c verify.Comparison) []bool {
	out := make([]bool, len(c.Ranking.Methods))
	for i, m := range c.Ranking.Methods {
		for _, col := range c.Columns {
			out[i] = out[i] || slices.ContainsFunc(col.Rows, func(r verify.Rival) bool { return r.Row == m.Row && r.Dagger })
		}
	}
	return out
}
