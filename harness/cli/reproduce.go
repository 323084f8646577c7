package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/verify"
)

type reproduceCmd struct {
	runFlags
	Spec []string `sep:"," placeholder:"NAME" help:"Specs to reproduce: built-in ones (${specs}) or paths of YAML files (default: table1,table2)."`
}

// Help is printed below the flags.
func (reproduceCmd) Help() string {
	return "Verdicts are printed, and written into the results folder; they are findings and never change the status, so that it is not 3: ssdl verify ends with 3 where a cell is off or a claim fails."
}

func (c *reproduceCmd) Run(e *env) error {
	start := time.Now()
	e.heading("Machine")
	doctor(e)

	var specs []*spec.Spec
	var names []string
	parts, err := e.parts(c.Spec, []string{"table1", "table2"})
	if err != nil {
		return err
	}
	for _, part := range parts {
		s, err := part.env.spec(part.name, e.common.library().Has)
		if err != nil {
			return err
		}
		specs = append(specs, s)
		for _, d := range s.Datasets {
			if !slices.Contains(names, d) {
				names = append(names, d)
			}
		}
	}
	e.heading("Data")
	found := 0
	for _, name := range names {
		err := checkData(e, name)
		var missing *run.NoDataError
		switch {
		case errors.As(err, &missing):
			fmt.Fprintf(e.stdout, "%s: missing. %v\n", name, err)
		case err != nil:
			return err // unusable data is no reason to go on for hours
		default:
			found++
		}
	}
	if found == 0 {
		return fail(exitNoData, "none of the data sets %v was found", names)
	}

	var tables []report.Table
	var total run.Summary
	var unfinished error
	for i, s := range specs {
		e.heading(s.Name + ": " + s.Title)
		p, sum, err := c.run(e, s)
		if err != nil {
			return err
		}
		total.Ran += sum.Ran
		total.OK += sum.OK
		total.Failed += sum.Failed
		var noData *run.NoDataError
		if err := outcome(e, p, sum, parts[i].name); err != nil && !errors.As(err, &noData) {
			unfinished = errors.Join(unfinished, err)
		}
		t, err := buildTable(p, len(e.common.Methods) > 0)
		if err != nil {
			return err
		}
		if err := writeTable(e.stdout, t, e.common.Format); err != nil {
			return err
		}
		tables = append(tables, t)
		if sum.Stopped {
			break
		}
	}

	e.heading("Against the paper")
	var verdicts []verify.Result
	for i, t := range tables {
		r, err := judge(t, specs[i])
		if err != nil {
			return err
		}
		if err := verify.Render(e.stdout, r, formats[e.common.Format]); err != nil {
			return err
		}
		verdicts = append(verdicts, r)
	}
	files, err := write(e, tables, verdicts)
	if err != nil {
		return err
	}
	for i, t := range tables {
		if specs[i].Table != "" {
			continue
		}
		drawn, err := drawFigures(e, t, specs[i])
		if err != nil {
			return err
		}
		files = append(files, drawn...)
	}
	e.heading("Summary")
	if total.Ran == 0 {
		fmt.Fprintf(e.stdout, "nothing to compute: every run was in the store\n")
	} else {
		fmt.Fprintf(e.stdout, "%d runs (%d ok, %d failed) in %s\n", total.Ran, total.OK, total.Failed, time.Since(start).Round(time.Second))
	}
	var counts verify.Summary
	for _, r := range verdicts {
		counts = counts.Add(r.Summary)
	}
	fmt.Fprintln(e.stdout, counts)
	fmt.Fprintf(e.stdout, "runs:   %s\n", e.dbPath())
	for _, f := range files {
		fmt.Fprintf(e.stdout, "file:   %s\n", f)
	}
	return unfinished
}

func (e *env) heading(text string) { fmt.Fprintf(e.stdout, "\n== %s\n", text) }

// write puts every table and its verdicts into the results folder, in every format.
func write(e *env, tables []report.Table, verdicts []verify.Result) ([]string, error) {
	dir := filepath.Join(e.common.Results, "tables")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []string
	put := func(name string, render func(io.Writer) error) error {
		path := filepath.Join(dir, name)
		files = append(files, path)
		return replaceFile(path, render)
	}
	for i, t := range tables {
		for _, format := range report.Formats() {
			err := put(report.FileName(t, format), func(w io.Writer) error { return report.Render(w, t, format) })
			if err != nil {
				return nil, err
			}
		}
		for _, format := range verify.Formats() {
			name := "verify-" + report.FileName(t, format)
			if err := put(name, func(w io.Writer) error { return verify.Render(w, verdicts[i], format) }); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}
