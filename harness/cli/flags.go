package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ssdl/experiments"
	"ssdl/harness/executor"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

// rootFlags name the folders of data sets. Each verb embeds the flags that it has.
type rootFlags struct {
	Data []string `placeholder:"DIR" sep:"none" help:"Folders with data sets, separated by commas or as in $$PATH. Default: $$SSDL_DATA, then ./data."`
}

// AfterApply splits --data into folders, and checks that each folder of --data or SSDL_DATA exists.
func (f *rootFlags) AfterApply() error {
	var folders []string
	for _, list := range f.Data {
		for _, folder := range splitFolders(list) {
			folders = append(folders, kong.ExpandPath(folder))
		}
	}
	f.Data = folders
	given, by := f.Data, "--data"
	if len(given) == 0 {
		given, by = splitFolders(os.Getenv("SSDL_DATA")), "SSDL_DATA"
	}
	for _, folder := range given {
		switch info, err := os.Stat(folder); {
		case errors.Is(err, fs.ErrNotExist):
			return fail(exitNoData, "%s: there is no folder %s", by, folder)
		case err != nil:
			return fail(exitNoData, "%s: %w", by, err)
		case !info.IsDir():
			return fail(exitNoData, "%s: %s is a file. Give the folder that it lies in, and its name with -d", by, folder)
		}
	}
	return nil
}

// splitFolders splits a list of folders at commas and at the separator of $PATH.
func splitFolders(list string) []string {
	folders := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == os.PathListSeparator })
	return slices.DeleteFunc(folders, func(f string) bool { return strings.TrimSpace(f) == "" })
}

// roots lists the folders that data sets are searched in.
func (f rootFlags) roots() []string {
	if len(f.Data) > 0 {
		return f.Data
	}
	roots := splitFolders(os.Getenv("SSDL_DATA"))
	if st, err := os.Stat("data"); err == nil && st.IsDir() {
		roots = append(roots, "data")
	}
	return roots
}

type dataFlags struct {
	rootFlags
	DropZero bool `help:"Leave out all-zero samples instead of refusing the data set."`
	recorded bool // see recordedFlag
}

func (f dataFlags) library() *executor.Library {
	return &executor.Library{Roots: f.roots(), DropZero: f.DropZero, RecordedOnly: f.recorded, Programs: programs()}
}

// recordedFlag is for verbs that only read.
type recordedFlag struct {
	Recorded bool `help:"Show results of the recorded data, even if local data of the same name differs."`
}

type resultsFlag struct {
	Results string `placeholder:"DIR" default:"results" type:"path" help:"Folder of runs.db, tables and figures (default: results)."`
}

func (f resultsFlag) dbPath() string { return filepath.Join(f.Results, "runs.db") }

type datasetsFlag struct {
	Datasets []string `short:"d" sep:"," placeholder:"NAME" help:"Data sets, in place of those of the spec."`
}

type seedsFlag struct {
	Seeds string `short:"s" placeholder:"SEEDS" help:"Seeds, e.g. 1000..1007 or 1000,1003. Default: the spec's; on built-in data its first two."`
}

type jobsFlag struct {
	Jobs int `short:"j" placeholder:"N" help:"How many run at once (default: one per processor)."`
}

// Validate refuses a negative number.
func (f jobsFlag) Validate() error {
	if f.Jobs < 0 {
		return fmt.Errorf("--jobs must be at least 0, got %d", f.Jobs)
	}
	return nil
}

// documentOutput is for verbs that print tables in every format.
type documentOutput struct {
	Format string `enum:"${formats}" default:"text" placeholder:"FORMAT" help:"Format of tables: ${formats}."`
}

func (f documentOutput) write(e *env, d report.Document) error { return d.Write(e.stdout, f.Format) }

// listOutput is for verbs that print text for people or JSON for programs.
type listOutput struct {
	Format string `enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

func (f listOutput) write(e *env, d report.Document) error { return d.Write(e.stdout, f.Format) }

// specSelection selects a part of a spec, and says where its data and results are.
type specSelection struct {
	dataFlags
	resultsFlag
	datasetsFlag
	Methods []string `short:"m" sep:"," placeholder:"NAME" help:"Only these rows, methods or compositions (pahl+ssdl)."`
	seedsFlag
}

// storedSelection is a specSelection for a verb that only reads the store.
type storedSelection struct {
	specSelection
	recordedFlag
}

// selection is the specSelection under --recorded.
func (s storedSelection) selection() specSelection {
	sel := s.specSelection
	sel.recorded = s.Recorded
	return sel
}

// narrows reports whether -d, -m or -s is given.
func (s specSelection) narrows() bool {
	return len(s.Datasets) > 0 || len(s.Methods) > 0 || s.Seeds != ""
}

// builtinSeeds is how many seeds the built-in sets get without -s. They only show that the program works.
const builtinSeeds = 2

// spec loads a spec and narrows it to the selection. Without -d it keeps those of the spec's data sets
// that has reports, or else their stand-ins.
func (e *env) spec(sel specSelection, name string, has func(string) bool) (*spec.Spec, error) {
	s, err := spec.Load(name)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	f := spec.Filter{Datasets: sel.Datasets, Methods: sel.Methods}
	if len(f.Datasets) == 0 {
		f.Datasets = experiments.Available(s.Datasets, has)
	}
	switch {
	case sel.Seeds != "":
		if f.Seeds, err = spec.ParseSeeds(sel.Seeds); err != nil {
			return nil, fail(exitUsage, "--seeds: %w", err)
		}
	case !slices.ContainsFunc(f.Datasets, func(d string) bool { return !results.ColumnOf(d).Synthetic }):
		f.Seeds = s.Seeds[:min(builtinSeeds, len(s.Seeds))]
	}
	narrowed, err := s.Select(f)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return narrowed, e.checkDatasets(sel, s.Datasets)
}

// specToRun is spec for a verb that computes: see refuseGenerated.
func (e *env) specToRun(sel specSelection, name string) (*spec.Spec, error) {
	s, err := e.spec(sel, name, sel.library().Has)
	if err != nil {
		return nil, err
	}
	return s, e.refuseGenerated(sel, name, s.Datasets)
}

// selectedSpec is a spec as the command line names it, with its selection.
type selectedSpec struct {
	name string
	specSelection
}

// selectSpecs lists the named specs, or else the usual ones of a verb. -m narrows the usual ones together:
// a spec that has none of the rows is left out, and a row that no spec has is an error.
func selectSpecs(sel specSelection, named, usual []string) ([]selectedSpec, error) {
	var out []selectedSpec
	if len(named) > 0 || len(sel.Methods) == 0 {
		if len(named) == 0 {
			named = usual
		}
		for _, name := range named {
			out = append(out, selectedSpec{name, sel})
		}
		return out, nil
	}
	var known, found []string
	for _, name := range usual {
		s, err := spec.Load(name)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		narrowed := sel
		narrowed.Methods = nil
		for _, m := range sel.Methods {
			if _, err := s.Select(spec.Filter{Methods: []string{m}}); err == nil {
				narrowed.Methods = append(narrowed.Methods, m)
			}
		}
		for _, r := range s.Rows {
			known = append(known, r.ID, r.Method, r.Name())
		}
		found = append(found, narrowed.Methods...)
		if len(narrowed.Methods) > 0 {
			out = append(out, selectedSpec{name, narrowed})
		}
	}
	for _, m := range sel.Methods {
		if !slices.Contains(found, m) {
			hint := ""
			if n := catalog.Nearest(m, known); n != "" {
				hint = fmt.Sprintf("; did you mean %q?", n)
			}
			return nil, fail(exitUsage, "no row or method %q in %s%s", m, strings.Join(usual, ", "), hint)
		}
	}
	return out, nil
}

// isolateFlag is for verbs that compute runs.
type isolateFlag struct {
	Isolate bool `help:"Run each job in a process of its own: jobs share neither memory nor stages."`
}
