package cli

import (
	"bufio"
	"fmt"
	"io"

	"ssdl/harness/archive"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
)

type exportCmd struct {
	Spec string `arg:"" optional:"" help:"Built-in spec (${specs}) or path of a YAML file: only the runs behind its cells (default: all runs)."`
	specSelection
	Format string `enum:"csv,json" default:"csv" placeholder:"FORMAT" help:"csv, or json for JSON Lines."`
	Output string `short:"o" placeholder:"FILE" type:"path" help:"Write to FILE (default: standard output)."`
	MLflow string `name:"mlflow" placeholder:"DIR" type:"path" help:"Write a new folder for 'mlflow ui --backend-store-uri DIR' instead."`
}

// Help is what ssdl export --help adds.
func (exportCmd) Help() string {
	return "One line for each run and metric: as CSV, or with --format json as JSON Lines. Failed runs have one line and no metric; the column counts marks current runs. " +
		"With a spec, selection says how the parameters of a reported run were chosen, and tried among how many candidates. Both are empty for tuning runs, and without a spec, since a run may stand in several."
}

func (c *exportCmd) Run(e *env) error {
	st, err := e.readStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer st.Close()
	write := func(w io.Writer, sel archive.Selection) error { return archive.CSV(e.ctx, w, st, sel) }
	if c.Format == "json" {
		write = func(w io.Writer, sel archive.Selection) error { return archive.JSONLines(e.ctx, w, st, sel) }
	}
	if c.Spec == "" && c.narrows() {
		return fail(exitUsage, "-d, -m and -s narrow a spec: name it")
	}
	if c.MLflow != "" && c.Output != "" {
		return fail(exitUsage, "--output is for CSV and JSON Lines: --mlflow has its folder")
	}
	var sel archive.Selection
	title := ""
	if c.Spec != "" {
		p, err := e.plan(c.specSelection, c.Spec)
		if err != nil {
			return err
		}
		sel, title = selection(p), p.Spec.Name
	}
	if c.MLflow != "" {
		n, err := archive.MLflow(e.ctx, c.MLflow, st, title, sel)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s in %s: mlflow ui --backend-store-uri %s\n", report.Count(n, "run", "runs"), c.MLflow, c.MLflow)
		return nil
	}
	if c.Output == "" {
		out := bufio.NewWriter(e.stdout)
		if err := write(out, sel); err != nil {
			return err
		}
		return out.Flush()
	}
	return replaceFile(c.Output, func(w io.Writer) error { return write(w, sel) })
}

// selection is what stands behind the cells of a plan.
func selection(p *run.Plan) archive.Selection {
	sel := archive.Selection{}
	for key, s := range results.Selected(p) {
		sel[key] = archive.Selected(s)
	}
	return sel
}
