package cli

import (
	"bufio"
	"fmt"
	"io"

	"ssdl/harness/archive"
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

type exportCmd struct {
	Spec   string `arg:"" optional:"" help:"Built-in spec (${specs}) or path of a YAML file: only the runs behind its cells (default: all runs)."`
	Output string `short:"o" placeholder:"FILE" type:"path" help:"Write to FILE (default: standard output)."`
	MLflow string `name:"mlflow" placeholder:"DIR" type:"path" help:"Write a new folder for 'mlflow ui --backend-store-uri DIR' instead."`
}

// Help is what ssdl export --help adds.
func (exportCmd) Help() string {
	return "One line for each run and metric, tidy: as CSV, or with --format json as JSON Lines. Failed runs have one line and no metric; the column counts marks the runs that reports show. " +
		"Of a spec, selection says how the parameters of a reported run were chosen, as the spec has it, and tried among how many settings; both are empty of runs that were made only to choose, and without a spec, since a run may stand in several."
}

func (c *exportCmd) Run(e *env) error {
	st, err := e.look()
	if err != nil {
		return err
	}
	defer st.Close()
	write := func(w io.Writer, sel archive.Selection) error { return archive.CSV(e.ctx, w, st, sel) }
	if e.common.Format == "json" {
		write = func(w io.Writer, sel archive.Selection) error { return archive.JSONLines(e.ctx, w, st, sel) }
	}
	if c.Spec == "" && e.common.narrows() {
		return fail(exitUsage, "--datasets, --methods and --seeds narrow a spec: name it")
	}
	if c.MLflow != "" && c.Output != "" {
		return fail(exitUsage, "--output is for CSV and JSON Lines: --mlflow has its folder")
	}
	var sel archive.Selection
	title := ""
	if c.Spec != "" {
		p, err := e.resolve(c.Spec)
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
		fmt.Fprintf(e.stdout, "%d runs in %s: mlflow ui --backend-store-uri %s\n", n, c.MLflow, c.MLflow)
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

// selection is what stands behind the cells of a plan. Of a run that several cells report it tells
// the choice among the most settings.
func selection(p *run.Plan) archive.Selection {
	sel := archive.Selection{}
	add := func(t run.Task, how string, tried int) {
		is := archive.Selected{How: how, Tried: tried}
		if t.Result != nil {
			is.Key = t.Record.Key
		}
		was, ok := sel[t.Record.NameKey]
		if !ok || tried > was.Tried || tried == was.Tried && how == spec.SelectTest {
			sel[t.Record.NameKey] = is
		}
	}
	for _, c := range p.Cells {
		for _, group := range c.Tuning {
			for _, t := range group {
				add(t, "", 0)
			}
		}
		for _, t := range c.Final {
			add(t, c.Select, len(c.Candidates))
		}
	}
	return sel
}
