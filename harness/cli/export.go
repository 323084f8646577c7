package cli

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"

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
	MLflow string `name:"mlflow" placeholder:"DIR" type:"path" help:"Write a new folder for 'mlflow migrate-filestore' instead."`
}

// Help is printed below the flags.
func (exportCmd) Help() string {
	return "One line for each run and metric: as CSV, or with --format json as JSON Lines. Failed runs have one line and no metric; the column current marks the runs that tables show. " +
		"With a spec, the columns spec, row and setting name the cell of a run, selection says how its parameters were chosen, and tried among how many candidates. A run that two rows report has a line for each. " +
		"Selection and tried are empty for tuning runs; without a spec, all five are.\n\n" +
		"--mlflow writes MLflow's file store, a folder. MLflow 3.10 and later makes a database of it: mlflow migrate-filestore --source DIR --target sqlite:///DIR.db"
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
		return fail(exitUsage, "--output and --mlflow do not go together: --mlflow names the folder to write")
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
		fmt.Fprintf(e.stdout, "%s in %s. To see them with MLflow 3.10 or later:\n", report.Count(n, "run", "runs"), c.MLflow)
		db := "sqlite:///" + filepath.ToSlash(c.MLflow) + ".db"
		fmt.Fprintln(e.stdout, "  "+report.Command("mlflow", "migrate-filestore", "--source", c.MLflow, "--target", db))
		fmt.Fprintln(e.stdout, "  "+report.Command("mlflow", "server", "--backend-store-uri", db))
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

// selection maps the keys of a plan's jobs to the rows that report them or tune on them.
func selection(p *run.Plan) archive.Selection {
	sel := archive.Selection{}
	for key, places := range results.Places(p) {
		for _, is := range places {
			at := archive.Place{Spec: p.Spec.Name, Row: is.Row, SettingText: is.Setting.String(), How: is.How, Candidates: is.Candidates}
			for _, v := range is.Setting {
				if at.Setting == nil {
					at.Setting = map[string]any{}
				}
				at.Setting[v.Name] = v.Value
			}
			sel[key] = append(sel[key], at)
		}
	}
	return sel
}
