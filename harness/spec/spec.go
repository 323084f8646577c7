package spec

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ssdl/experiments"
	"ssdl/harness/job"
	"ssdl/methods/catalog"
)

// Spec is an experiment: methods, data sets, a split and seeds. Load or Parse make it; do not change it.
type Spec struct {
	// Name identifies the spec in the store; Title is the caption of its table.
	Name, Title string
	// Table is the layout of the report: "table1", "table2", or "" for a plain list.
	Table string
	// Metrics is the name of the metric to show (see package metric), or of several losses if the spec
	// sweeps them. Then each row has a cell for each.
	Metrics []string
	// Scores says how pseudo labels reach unseen samples: "oos", "transductive", or both if the spec
	// sweeps them; nil if every row has a method.
	Scores   []string
	Datasets []string
	Seeds    []uint64
	Split    Split
	// LabelRates are the shares of labelled samples if the spec sweeps them, else nil. Then each row has a
	// cell for each, and Split.Labels is 0.
	LabelRates []float64
	// TuneSeeds are the seeds of the tuning by data set; other data sets use Seeds.
	TuneSeeds map[string][]uint64
	Rows      []Row
	Excludes  []Exclude
	// Hash is the SHA-256 of the file, in hexadecimal. Jobs do not depend on it.
	Hash string
}

// Split says how the samples of a data set are divided.
type Split struct {
	// Kind is "class" (per class at random), "official" (the training and test part that
	// the data set comes with) or "file" (index files).
	Kind string `json:"kind"`
	// Train is the share of each class that is training data; 0 unless Kind is "class".
	Train float64 `json:"train,omitempty"`
	// Labels is the share of each class's training samples that keep their label; 0 if
	// Kind is "file".
	Labels float64 `json:"labels,omitempty"`
	// File is the path of the index file in the spec, maybe with {seed}; "" unless Kind is "file".
	// See Path.
	File string `json:"file,omitempty"`
}

// seedMark stands for the seed in the path of an index file.
const seedMark = "{seed}"

// PerSeed reports whether each seed has its own index file.
func (s Split) PerSeed() bool { return strings.Contains(s.File, seedMark) }

// Path is the path of the index file of a seed.
func (s Split) Path(seed uint64) string {
	return strings.ReplaceAll(s.File, seedMark, strconv.FormatUint(seed, 10))
}

// OneForAll reports whether all seeds have the same split.
func (s Split) OneForAll() bool {
	return s.Kind == "file" && !s.PerSeed() || s.Kind == "official" && s.Labels == 1
}

// SameTest reports whether all seeds test the same samples.
func (s Split) SameTest() bool {
	return s.Kind == "official" || s.Kind == "file" && !s.PerSeed()
}

// String describes the split as stores record it: "class train=0.7 labels=0.4".
func (s Split) String() string {
	switch s.Kind {
	case "class":
		return fmt.Sprintf("class train=%v labels=%v", s.Train, s.Labels)
	case "official":
		return fmt.Sprintf("official labels=%v", s.Labels)
	}
	return "file " + s.File
}

// ParseSplit is the inverse of Split.String.
func ParseSplit(s string) (Split, error) {
	kind, rest, _ := strings.Cut(s, " ")
	split := Split{Kind: kind}
	var err error
	switch kind {
	case "class":
		_, err = fmt.Sscanf(rest, "train=%g labels=%g", &split.Train, &split.Labels)
	case "official":
		_, err = fmt.Sscanf(rest, "labels=%g", &split.Labels)
	case "file":
		split.File = rest
	}
	if err != nil || split.String() != s {
		return Split{}, fmt.Errorf("%q is no split: expected one such as %q", s, Split{Kind: "class", Train: 0.7, Labels: 0.4})
	}
	return split, nil
}

// Exclude is a cell that the spec leaves out.
type Exclude struct{ Dataset, Row, Reason string }

// Row is one row of the table. It has a method, a pretext, or both: a learner trained on the pretext's
// pseudo labels. One of the two can be an external program, and the method a file of predictions.
type Row struct {
	// ID names the row in layouts and on the command line.
	ID string
	// Label is the title of the row; "" for that of the catalog.
	Label string
	// Role is RoleControl, RoleStep or "".
	Role string
	// Method and Pretext are names of the catalog; one of them may be "". The part that is an external
	// program is job.ExecName, a method of predictions is job.PredictionsName.
	Method, Pretext string
	// Exec is the external program with its arguments, Files the paths of its files; nil in other rows.
	Exec, Files []string
	// Predictions are the files of predictions; zero in other rows.
	Predictions Predictions
	// Select says how the candidate is chosen: see SelectPaper and the following.
	Select string

	method, pretext component
	given           []Assignment
	sweeps          []axis
	tunes           []axis
	whens           []when
}

// Roles of rows.
const (
	RoleControl = "control" // tests an explanation
	RoleStep    = "step"    // changes one thing of the step above it
)

// Name is the method, the pretext, or the composition of both, e.g. "pahl+ssdl".
func (r *Row) Name() string { return job.Compose(r.Pretext, r.Method) }

// Title is the title of the row in tables: its label, or the titles of its parts. A row of predictions says
// that it was not run here.
func (r *Row) Title() string {
	title := r.Label
	if title == "" {
		title = strings.TrimSpace(r.pretext.entry.Title + " " + r.method.entry.Title)
	}
	if r.Method == job.PredictionsName {
		title += " (not run here)"
	}
	return title
}

// component is the method or the pretext of a row; zero if the row has none.
type component struct {
	entry catalog.Entry
	// params are the entry's, defaults its complete values.
	params   []catalog.Param
	defaults catalog.Values
	// open says that the component is a program, whose parameters are those that the row names.
	open bool
}

// axis is one parameter that varies, or several that vary together (zip).
type axis struct {
	names  []string
	points [][]any // each of len(names)
}

// when overrides values and grids of a row on some data sets.
type when struct {
	datasets []string
	given    []Assignment
	tunes    []axis
}

// maxSize bounds the file of a spec in bytes: specs are written by hand and have a few kilobytes.
const maxSize = 1 << 20

// Load reads a built-in spec by its name (see Names) or a file by its path. A text with a slash, or
// that ends in .yaml or .yml, is a path.
func Load(nameOrPath string) (*Spec, error) {
	if ext := filepath.Ext(nameOrPath); ext != ".yaml" && ext != ".yml" && filepath.Base(nameOrPath) == nameOrPath {
		return loadBuiltIn(nameOrPath)
	}
	f, err := os.Open(nameOrPath)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return Parse(nameOrPath, src)
}

func loadBuiltIn(name string) (*Spec, error) {
	src, err := Source(name)
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", src)
}

// Source returns the file of a built-in spec.
func Source(name string) ([]byte, error) {
	src, err := experiments.Specs.ReadFile(name + ".yaml")
	if err != nil {
		hint := ""
		if s := catalog.Nearest(name, Names()); s != "" {
			hint = fmt.Sprintf("did you mean %q? ", s)
		}
		return nil, fmt.Errorf("no spec %q is built in; %sthere are %s; a file is given by its path, e.g. ./mine.yaml",
			name, hint, strings.Join(Names(), ", "))
	}
	return src, nil
}

// Names lists the built-in specs in alphabetical order.
func Names() []string {
	entries, err := experiments.Specs.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Filter narrows a spec; an empty list changes nothing.
type Filter struct {
	// Datasets replace those of the spec, so that a spec also runs on data that it does not name.
	Datasets []string
	// Methods select rows, each by a row id; if no row has it, by a method or a composition such as
	// "pahl+ledl" (all its rows); or else by the title in the table, in any case, such as "Euler-SRC".
	Methods []string
	// Seeds replace those of the spec, in ascending order.
	Seeds []uint64
}

// Select returns the spec narrowed by f, with rows in their order. The error joins all names that select
// nothing.
func (s *Spec) Select(f Filter) (*Spec, error) {
	out := *s
	var errs []error
	if len(f.Datasets) > 0 {
		out.Datasets = nil
		for _, d := range f.Datasets {
			switch {
			case !isName(d):
				errs = append(errs, fmt.Errorf("%q is not a name of a data set. Use letters, digits and . _ + -", d))
			case len(d) > maxName:
				errs = append(errs, fmt.Errorf("the data set name %.20q... has %d characters. Use at most %d: files are named after it", d, len(d), maxName))
			case !slices.Contains(out.Datasets, d):
				out.Datasets = append(out.Datasets, d)
			}
		}
	}
	if len(f.Methods) > 0 {
		keep := make([]bool, len(s.Rows))
		for _, name := range f.Methods {
			if err := s.markRows(name, keep); err != nil {
				errs = append(errs, err)
			}
		}
		out.Rows = nil
		for i, row := range s.Rows {
			if keep[i] {
				out.Rows = append(out.Rows, row)
			}
		}
	}
	if len(f.Seeds) > 0 {
		out.Seeds = slices.Compact(slices.Sorted(slices.Values(f.Seeds)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &out, nil
}

// markRows marks the rows that name selects: see Filter.Methods.
func (s *Spec) markRows(name string, keep []bool) error {
	found := false
	var known []string
	for i := range s.Rows {
		known = append(known, s.Rows[i].ID)
		if s.Rows[i].ID == name {
			keep[i], found = true, true
		}
	}
	if found {
		return nil
	}
	for i := range s.Rows {
		row := &s.Rows[i]
		if row.Method == name || row.Name() == name {
			keep[i], found = true, true
		}
		for _, n := range []string{row.Method, row.Name()} {
			if n != "" && !slices.Contains(known, n) {
				known = append(known, n)
			}
		}
	}
	if found {
		return nil
	}
	for i := range s.Rows { // by id or title in any case
		if row := &s.Rows[i]; strings.EqualFold(row.ID, name) || strings.EqualFold(row.Title(), name) {
			keep[i], found = true, true
		}
	}
	if found {
		return nil
	}
	if n := catalog.Nearest(name, known); n != "" {
		return fmt.Errorf("%s has no row or method %q; did you mean %q?", s.Name, name, n)
	}
	return fmt.Errorf("%s has no row or method %q; it has %s", s.Name, name, strings.Join(known, ", "))
}
