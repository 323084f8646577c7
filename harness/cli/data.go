package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/sanitize"
	"ssdl/harness/spec"
)

type dataCmd struct {
	List  dataListCmd  `cmd:"" help:"List the data sets that are found, and the built-in ones."`
	Check dataCheckCmd `cmd:"" help:"Read a data set completely and say what it holds."`
	Hash  dataHashCmd  `cmd:"" help:"Print the content hash of data sets."`
	Split dataSplitCmd `cmd:"" help:"Export the splits of a data set as index files, or check such files."`
	Stats dataStatsCmd `cmd:"" help:"Describe a data set: classes, norms, duplicates, accuracy of simple classifiers, a picture."`
	Fetch dataFetchCmd `cmd:"" help:"Download the photographs of a data set from its authors and unpack them."`

	Croissant dataCroissantCmd `cmd:"" help:"Print the metadata of a data set as Croissant 1.0."`
}

type dataListCmd struct {
	rootFlags
	listOutput
}

// listedSet is a data set that was found, or a built-in one.
type listedSet struct {
	Name    string `json:"name"`
	Samples int    `json:"samples,omitempty"`
	Dim     int    `json:"dim,omitempty"`
	Classes int    `json:"classes,omitempty"` // 0 if unknown until the set is read
	Format  string `json:"format,omitempty"`
	DType   string `json:"dtype,omitempty"`
	Path    string `json:"path,omitempty"`
	// Error says why the set cannot be used.
	Error string `json:"error,omitempty"`
	// Synthetic marks generated data, in the shape of StandsFor.
	Synthetic bool   `json:"synthetic,omitempty"`
	StandsFor string `json:"stands_for,omitempty"`
}

func (c dataListCmd) Run(e *env) error {
	list, err := c.list()
	if err != nil {
		return err
	}
	if c.Format == "json" {
		return c.write(e, report.Document{Value: list})
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSAMPLES\tDIM\tCLASSES\tTYPE\tWHERE")
	for _, l := range list {
		if l.Error != "" {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\tunusable: %s\n", sanitize.Line(l.Name), sanitize.Line(l.Error))
			continue
		}
		if l.Synthetic {
			fmt.Fprintf(w, "%s\t\t\t\t\tbuilt in, synthetic, in the shape of %s\n", l.Name, l.StandsFor)
			continue
		}
		classes := "?"
		if l.Classes > 0 {
			classes = fmt.Sprint(l.Classes)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s %s\t%s\n", sanitize.Line(l.Name), l.Samples, l.Dim, classes, l.Format, l.DType, sanitize.Line(l.Path))
	}
	return w.Flush()
}

func (c dataListCmd) list() ([]listedSet, error) {
	found, err := data.List(c.roots())
	if err != nil {
		return nil, err
	}
	list := []listedSet{}
	for _, l := range found {
		is := listedSet{Name: l.Name, Samples: l.Samples, Dim: l.Dim, Classes: l.Classes, Format: l.Format, DType: l.DType, Path: l.Path}
		if l.Err != nil {
			is = listedSet{Name: l.Name, Error: l.Err.Error()}
		}
		list = append(list, is)
	}
	for _, name := range data.Builtins() {
		list = append(list, listedSet{Name: name, Synthetic: true, StandsFor: results.ColumnOf(name).StandsFor})
	}
	return list, nil
}

// setNames are the data sets that a data verb works on.
type setNames struct {
	Names    []string `arg:"" optional:"" help:"Data sets: names or paths."`
	Datasets []string `short:"d" sep:"," placeholder:"NAME" help:"Further data sets, by name."`
}

func (n setNames) all() ([]string, error) {
	names := slices.Concat(n.Names, n.Datasets)
	if len(names) == 0 {
		return nil, fail(exitUsage, "name a data set, or give the path of one; `ssdl data list` lists them")
	}
	return names, nil
}

// dataPath is the path of a data set given by name or path; ok is false if name is neither found in the
// data folders nor looks like a path. Names go first: they may have a dot, as files do.
func dataPath(f rootFlags, name string) (path string, ok bool) {
	if path, ok := data.Find(name, f.roots()); ok {
		return path, true
	}
	return name, strings.ContainsRune(name, filepath.Separator) || filepath.Ext(name) != ""
}

// load loads a data set given by name or path, and returns its path: "" for a built-in one.
func load(e *env, f dataFlags, name string) (set *data.Set, path string, err error) {
	path, ok := dataPath(f.rootFlags, name)
	if !ok {
		if set, ok := data.Builtin(name); ok {
			return set, "", nil
		}
		return nil, "", noDataError(f.rootFlags, name)
	}
	set, err = data.Load(e.ctx, path, data.Options{DropZero: f.DropZero})
	if errors.Is(err, fs.ErrNotExist) {
		err = &exitError{exitNoData, err}
	}
	return set, path, err
}

type dataCheckCmd struct {
	setNames
	dataFlags
	listOutput
}

func (c dataCheckCmd) Run(e *env) error {
	names, err := c.all()
	if err != nil {
		return err
	}
	var reports []data.Report
	for _, name := range names {
		s, _, err := load(e, c.dataFlags, name)
		if err != nil {
			return err
		}
		if c.Format == "json" {
			reports = append(reports, s.Report())
			continue
		}
		printSet(e, s)
	}
	if c.Format == "json" {
		return c.write(e, oneDocument(reports))
	}
	return nil
}

// oneDocument is the document of a verb that takes several data sets: the report of a single one, or a list.
func oneDocument[T any](reports []T) report.Document {
	if len(reports) == 1 {
		return report.Document{Value: reports[0]}
	}
	return report.Document{Value: reports}
}

// printSet prints what a data set holds.
func printSet(e *env, s *data.Set) {
	least, most := slices.Min(s.Counts()), slices.Max(s.Counts())
	fmt.Fprintf(e.stdout, "%s: %d samples x %d features (%s), %d classes of %d to %d samples", sanitize.Line(s.Name), s.Samples(), s.Dim(), s.DType, len(s.Classes), least, most)
	if n := len(s.Dropped); n > 0 {
		fmt.Fprintf(e.stdout, ", %d all-zero samples left out", n)
	}
	fmt.Fprintf(e.stdout, "\n  %s\n  %s\n", sanitize.Line(s.Source), s.Hash)
}

type dataHashCmd struct {
	setNames
	dataFlags
}

func (c dataHashCmd) Run(e *env) error {
	names, err := c.all()
	if err != nil {
		return err
	}
	for _, name := range names {
		s, _, err := load(e, c.dataFlags, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s  %s\n", s.Hash, sanitize.Line(s.Name))
	}
	return nil
}

type dataSplitCmd struct {
	Name string `arg:"" help:"Data set: name or path."`
	dataFlags
	Seeds  string  `short:"s" default:"1000..1007" placeholder:"SEEDS" help:"Seeds of the splits (default: 1000..1007)."`
	Kind   string  `enum:"class,official" default:"class" placeholder:"KIND" help:"class (each class at random) or official (default: class)."`
	Train  float64 `default:"0.7" placeholder:"SHARE" help:"Share of each class for training (default: 0.7)."`
	Labels float64 `default:"0.4" placeholder:"SHARE" help:"Share of each class's training samples that keep their label (default: 0.4)."`
	Export string  `placeholder:"DIR" type:"path" help:"Write NAME-SEED.json for each seed into DIR; a spec takes them with {kind: file, file: 'DIR/NAME-{seed}.json'}."`
	Import string  `placeholder:"FILE" type:"path" help:"Read an index file and check it against the data set."`
}

// Validate refuses shares that leave a part empty; the splits of a spec take 0 for the default.
func (c dataSplitCmd) Validate() error {
	switch {
	case !(c.Train > 0 && c.Train < 1): // NaN too
		return fmt.Errorf("--train must be above 0 and below 1, got %v", c.Train)
	case !(c.Labels > 0 && c.Labels <= 1):
		return fmt.Errorf("--labels must be above 0 and at most 1, got %v", c.Labels)
	}
	return nil
}

func (c dataSplitCmd) Run(e *env) error {
	set, _, err := load(e, c.dataFlags, c.Name)
	if err != nil {
		return err
	}
	if c.Import != "" {
		sp, err := data.ReadSplit(c.Import, set)
		if err != nil {
			return err
		}
		printSplit(e, c.Import, sp)
		return nil
	}
	seeds, err := spec.ParseSeeds(c.Seeds)
	if err != nil {
		return fail(exitUsage, "--seeds: %w", err)
	}
	lib := executor.Library{}
	for _, seed := range seeds {
		sp, err := lib.Split(set, spec.Split{Kind: c.Kind, Train: c.Train, Labels: c.Labels}, seed)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		printSplit(e, fmt.Sprintf("seed %d", seed), sp)
		if c.Export == "" {
			continue
		}
		if err := exportSplit(filepath.Join(c.Export, fmt.Sprintf("%s-%d.json", set.Name, seed)), sp, set); err != nil {
			return err
		}
	}
	return nil
}

func printSplit(e *env, what string, sp *data.Split) {
	labelled := 0
	for _, l := range sp.Labelled {
		if l {
			labelled++
		}
	}
	fmt.Fprintf(e.stdout, "%s: %d training (%d labelled), %d test, %s\n", what, len(sp.Train), labelled, len(sp.Test), sp.Hash)
}

func exportSplit(path string, sp *data.Split, set *data.Set) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return replaceFile(path, func(w io.Writer) error { return sp.Write(w, set) })
}
