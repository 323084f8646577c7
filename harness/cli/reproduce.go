package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/verdict"
)

type reproduceCmd struct {
	runFlags
	Spec []string `sep:"," placeholder:"NAME" help:"Specs to reproduce: built-in ones (${specs}) or paths of YAML files (default: table1,table2)."`
}

// Help is printed below the flags.
func (reproduceCmd) Help() string {
	return "Prints the tables without their notes, and one sentence for each claim. The results folder gets everything. Verdicts do not change the exit status; `ssdl verify` ends with 3 if a cell differs or a claim fails."
}

func (c *reproduceCmd) Run(e *env) error {
	start := time.Now()
	e.heading("Machine")
	doctor(e, c.rootFlags)
	specs, err := selectSpecs(c.specSelection, c.Spec, []string{"table1", "table2"})
	if err != nil {
		return err
	}
	r := reproduction{env: e, runFlags: c.runFlags, selected: specs}
	if err := r.read(); err != nil {
		return err
	}
	e.heading("Data")
	if err := r.checkData(); err != nil {
		return err
	}
	for i, s := range r.specs {
		if stopped, err := r.run(s, specs[i].name); err != nil {
			return err
		} else if stopped {
			break
		}
	}
	if err := r.judge(); err != nil {
		return err
	}
	if err := r.writeFiles(); err != nil {
		return err
	}
	return r.summarise(time.Since(start))
}

// reproduction is the state of a call of reproduce. If the call was stopped, it has tables and verdicts of
// the first specs alone.
type reproduction struct {
	*env
	runFlags
	selected   []selectedSpec
	specs      []*spec.Spec
	plans      []*run.Plan
	tables     []results.Table
	verdicts   []verdict.Verdicts
	claims     []verdict.Account
	total      run.Summary
	files      []string
	unfinished error // names failed runs; the other specs still run
}

// read reads the selected specs.
func (r *reproduction) read() error {
	for _, is := range r.selected {
		s, err := r.specToRun(is.specSelection, is.name)
		if err != nil {
			return err
		}
		r.specs = append(r.specs, s)
	}
	return nil
}

// checkData prints each data set of the specs, or that it is missing.
func (r *reproduction) checkData() error {
	var names []string
	for _, s := range r.specs {
		for _, d := range s.Datasets {
			if !slices.Contains(names, d) {
				names = append(names, d)
			}
		}
	}
	found := 0
	for _, name := range names {
		s, _, err := load(r.env, r.dataFlags, name)
		var missing *executor.NoDataError
		switch {
		case errors.As(err, &missing):
			fmt.Fprintf(r.stdout, "%s: missing. %v\n", name, err)
		case err != nil:
			return err // better now than after hours
		default:
			printSet(r.env, s)
			found++
		}
	}
	if found == 0 {
		return fail(exitNoData, "none of the data sets %v was found", names)
	}
	return nil
}

// run runs what is missing of a spec and makes its table. name is the spec as the command line names it.
func (r *reproduction) run(s *spec.Spec, name string) (stopped bool, err error) {
	p, sum, err := r.runFlags.run(r.env, s)
	if err != nil {
		return false, err
	}
	r.total.Ran += sum.Ran
	r.total.OK += sum.OK
	r.total.Failed += sum.Failed
	// What lacks data is listed at the end.
	var noData *executor.NoDataError
	var lacks *exitError
	if err := unfinishedError(r.env, p, sum, name); err != nil && !errors.As(err, &noData) && !(errors.As(err, &lacks) && lacks.code == exitNoData) {
		r.unfinished = errors.Join(r.unfinished, err)
	}
	t, err := results.TableOf(p, len(r.Methods) > 0)
	if err != nil {
		return false, err
	}
	r.tables, r.plans = append(r.tables, t), append(r.plans, p)
	return sum.Stopped, nil
}

// judge compares the tables with the paper.
func (r *reproduction) judge() error {
	st, done, err := r.quietStoreOrEmpty(r.resultsFlag)
	if err != nil {
		return err
	}
	defer done()
	for i, t := range r.tables {
		v, err := verdictsOf(t, r.plans[i])
		if err != nil {
			return err
		}
		claims, err := r.accounts(st, v, r.plans[i], r.selected[i].name)
		if err != nil {
			return err
		}
		r.verdicts, r.claims = append(r.verdicts, v), append(r.claims, claims...)
	}
	return nil
}

// writeFiles writes tables and verdicts, and the figures of specs that remake no table of the paper.
func (r *reproduction) writeFiles() (err error) {
	if r.files, err = writeTables(r.resultsFlag, r.tables, r.verdicts); err != nil {
		return err
	}
	for i, t := range r.tables {
		if r.specs[i].Table != "" {
			continue
		}
		drawn, _, err := drawFigures(r.resultsFlag, t, r.plans[i])
		if err != nil {
			return err
		}
		r.files = append(r.files, drawn...)
	}
	return nil
}

// summarise prints the tables, a sentence for each claim, and the folders of all files.
func (r *reproduction) summarise(took time.Duration) error {
	for _, t := range r.tables {
		fmt.Fprintln(r.stdout)
		if err := r.write(r.env, report.OfTableInBrief(t)); err != nil {
			return err
		}
	}
	if len(r.claims) > 0 {
		r.heading("Claims")
		if err := r.write(r.env, report.OfFindings(r.claims)); err != nil {
			return err
		}
	}
	r.heading("Summary")
	w := r.stdout
	if r.total.Ran == 0 {
		fmt.Fprintf(w, "nothing to compute: every run was in the store\n")
	} else {
		fmt.Fprintf(w, "%s (%d ok, %d failed) in %s\n", report.Count(r.total.Ran, "run", "runs"), r.total.OK, r.total.Failed, took.Round(time.Second))
	}
	var counts verdict.Summary
	for _, v := range r.verdicts {
		counts = counts.Add(v.Summary)
	}
	fmt.Fprintln(w, report.SummaryText(counts))
	fmt.Fprintf(w, "runs: %s; notes, all verdicts and every format: %s\n", r.dbPath(), report.Listed(folders(r.files), "and"))
	return r.unfinished
}

// folders counts files by their folder, as in "r/tables (26 files)".
func folders(files []string) []string {
	var dirs, out []string
	count := map[string]int{}
	for _, f := range files {
		dir := filepath.Dir(f)
		if count[dir] == 0 {
			dirs = append(dirs, dir)
		}
		count[dir]++
	}
	for _, dir := range dirs {
		out = append(out, fmt.Sprintf("%s (%d files)", dir, count[dir]))
	}
	return out
}

func (e *env) heading(text string) { fmt.Fprintf(e.stdout, "\n== %s\n", text) }

// writeTables writes each table with its verdicts and its bibliography into the results folder, in every format.
func writeTables(f resultsFlag, tables []results.Table, verdicts []verdict.Verdicts) (files []string, err error) {
	dir := filepath.Join(f.Results, "tables")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	put := func(name string, write func(io.Writer) error) error {
		path := filepath.Join(dir, name)
		files = append(files, path)
		return replaceFile(path, write)
	}
	for i, t := range tables {
		for _, file := range tableFiles(t) {
			if err := put(report.FileName(t.ID, t.Synthetic(), file.extension), file.write); err != nil {
				return nil, err
			}
		}
		for _, format := range report.Formats() {
			name := "verify-" + report.FileName(t.ID, t.Synthetic(), format.Extension)
			if err := put(name, func(w io.Writer) error { return report.OfVerdicts(verdicts[i]).Write(w, format.Name) }); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// tableFile is a file of a table.
type tableFile struct {
	extension string
	write     func(io.Writer) error
}

// tableFiles lists the files of a table: one for each format, and a bibliography for the LaTeX.
func tableFiles(t results.Table) []tableFile {
	d := report.OfTable(t)
	var files []tableFile
	for _, f := range report.Formats() {
		files = append(files, tableFile{f.Extension, func(w io.Writer) error { return d.Write(w, f.Name) }})
	}
	return append(files, tableFile{"bib", func(w io.Writer) error { return report.Bibliography(w, t) }})
}
