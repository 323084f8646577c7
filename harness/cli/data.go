package cli

import (
	"encoding/json"
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
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

type dataCmd struct {
	List  dataListCmd  `cmd:"" help:"List the data sets that are found, and the built-in ones."`
	Check dataCheckCmd `cmd:"" help:"Read a data set completely and say what it holds."`
	Hash  dataHashCmd  `cmd:"" help:"Print the content hash of data sets."`
	Split dataSplitCmd `cmd:"" help:"Export the splits of a data set as index files, or check such files."`
	Stats dataStatsCmd `cmd:"" help:"Describe a data set: classes, norms, duplicates, what simple classifiers reach, a picture."`
	Fetch dataFetchCmd `cmd:"" help:"Download the photographs of a data set from its authors and unpack them."`

	Croissant dataCroissantCmd `cmd:"" help:"Write croissant.json (Croissant 1.0 metadata) into the folder of a data set."`
}

type dataListCmd struct{}

func (dataListCmd) Run(e *env) error {
	list, err := data.List(e.common.roots())
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSAMPLES\tDIM\tCLASSES\tTYPE\tWHERE")
	for _, l := range list {
		if l.Err != nil {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\tunusable: %v\n", l.Name, l.Err)
			continue
		}
		classes := "?"
		if l.Classes > 0 {
			classes = fmt.Sprint(l.Classes)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s %s\t%s\n", l.Name, l.Samples, l.Dim, classes, l.Format, l.DType, l.Path)
	}
	for _, name := range data.Builtins() {
		col := column(name)
		fmt.Fprintf(w, "%s\t\t\t\t\tbuilt in, synthetic, in the shape of %s\n", name, col.StandsFor)
	}
	return w.Flush()
}

// named are the data sets a data verb works on: its arguments, else -d.
func named(e *env, args []string) ([]string, error) {
	names := slices.Concat(args, e.common.Datasets)
	if len(names) == 0 {
		return nil, fail(exitUsage, "name a data set, or give the path of one; `ssdl data list` lists them")
	}
	return names, nil
}

// dataPath is where the data set lies that is given by its name or path; false if nothing is
// known to lie anywhere under it. Names go first: they may have a dot, as files do.
func dataPath(e *env, name string) (path string, ok bool) {
	if path, ok := data.Find(name, e.common.roots()); ok {
		return path, true
	}
	return name, strings.ContainsRune(name, filepath.Separator) || filepath.Ext(name) != ""
}

// load loads a data set that is given by its name or path, and says where it lies: "" for a
// built-in one.
func load(e *env, name string, dropZero bool) (set *data.Set, path string, err error) {
	path, ok := dataPath(e, name)
	if !ok {
		if set, ok := data.Builtin(name); ok {
			return set, "", nil
		}
		return nil, "", e.noData(name)
	}
	set, err = data.Load(e.ctx, path, data.Options{DropZero: dropZero})
	if errors.Is(err, fs.ErrNotExist) {
		err = &exitError{exitNoData, err}
	}
	return set, path, err
}

type dataCheckCmd struct {
	Names []string `arg:"" optional:"" help:"Data sets: names or paths."`
}

func (c dataCheckCmd) Run(e *env) error {
	names, err := named(e, c.Names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := checkData(e, name); err != nil {
			return err
		}
	}
	return nil
}

func checkData(e *env, name string) error {
	s, _, err := load(e, name, e.common.DropZero)
	if err != nil {
		return err
	}
	r := s.Report()
	if e.common.Format == "json" {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	least, most := slices.Min(s.Counts()), slices.Max(s.Counts())
	fmt.Fprintf(e.stdout, "%s: %d samples x %d features (%s), %d classes of %d to %d samples", s.Name, s.Samples(), s.Dim(), s.DType, len(s.Classes), least, most)
	if n := len(s.Dropped); n > 0 {
		fmt.Fprintf(e.stdout, ", %d all-zero samples left out", n)
	}
	fmt.Fprintf(e.stdout, "\n  %s\n  %s\n", s.Source, s.Hash)
	return nil
}

type dataHashCmd struct {
	Names []string `arg:"" optional:"" help:"Data sets: names or paths."`
}

func (c dataHashCmd) Run(e *env) error {
	names, err := named(e, c.Names)
	if err != nil {
		return err
	}
	for _, name := range names {
		s, _, err := load(e, name, e.common.DropZero)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s  %s\n", s.Hash, s.Name)
	}
	return nil
}

type dataSplitCmd struct {
	Name   string  `arg:"" help:"Data set: name or path."`
	Kind   string  `enum:"class,official" default:"class" help:"class (per class at random) or official."`
	Train  float64 `default:"0.7" help:"Share of each class for training."`
	Labels float64 `default:"0.4" help:"Share of each class's training samples that keep their label."`
	Export string  `placeholder:"DIR" type:"path" help:"Write NAME-SEED.json for each seed into DIR; a spec takes them with {kind: file, file: 'DIR/NAME-{seed}.json'}."`
	Import string  `placeholder:"FILE" type:"path" help:"Read an index file and check it against the data set."`
}

func (c dataSplitCmd) Run(e *env) error {
	set, _, err := load(e, c.Name, e.common.DropZero)
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
	text := e.common.Seeds
	if text == "" {
		text = "1000..1007"
	}
	seeds, err := spec.ParseSeeds(text)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	lib := run.Library{}
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
