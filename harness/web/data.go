package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"ssdl/harness/chart"
	"ssdl/harness/data"
	"ssdl/harness/data/datastats"
	"ssdl/harness/results"
	"ssdl/harness/store"
)

// dataReports caches the statistics of local data sets.
type dataReports struct {
	mu   sync.Mutex
	sets map[string]*dataReport
}

// dataReport is the statistics of a data set, valid once done is closed.
type dataReport struct {
	of      string // state of its files, see stateOf
	done    chan struct{}
	report  *datastats.Report
	picture template.HTML
	err     error
}

// recordedSet is a data set as recorded in the store.
type recordedSet struct {
	store.Dataset
	Column results.Column
	Specs  []studyLink
}

// dataSetData is the page of a data set, with statistics if it is local.
type dataSetData struct {
	Name     string
	Column   results.Column
	Recorded []store.Dataset
	Report   *datastats.Report
	Waiting  bool
	Why      string // why there are no statistics
	Classes  template.HTML
	Picture  template.HTML
}

func (v view) dataPage(ctx context.Context) (page, error) {
	p := page{Title: "Data", Section: "/data", Template: "data"}
	st, err := v.open(ctx)
	if err != nil || st == nil {
		return p, err
	}
	sets, err := st.Datasets(ctx)
	if err != nil {
		return page{}, err
	}
	all, err := v.loadAll(ctx)
	if err != nil {
		return page{}, err
	}
	var list []recordedSet
	for _, s := range sets {
		is := recordedSet{Dataset: s, Column: results.ColumnOf(s.Name)}
		for _, k := range all {
			for _, d := range k.table.Data {
				if d.Hash == s.Hash {
					is.Specs = append(is.Specs, linkTo(k))
				}
			}
		}
		list = append(list, is)
	}
	p.Data = list
	return p, nil
}

func (v view) dataSetPage(ctx context.Context, name string) (page, error) {
	st, err := v.open(ctx)
	if err != nil {
		return page{}, err
	}
	d := dataSetData{Name: name, Column: results.ColumnOf(name)}
	if st != nil {
		sets, err := st.Datasets(ctx)
		if err != nil {
			return page{}, err
		}
		now, err := st.DatasetNamed(ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return page{}, err
		}
		for _, s := range sets {
			if s.Name == name || s.Hash == now.Hash {
				d.Recorded = append(d.Recorded, s)
			}
		}
	}
	if d.Recorded == nil {
		return page{}, notFound("no run is of a data set called %q", name)
	}
	p := page{Title: d.Column.Title, Section: "/data", Template: "dataset"}
	switch r := v.statistics(ctx, name); {
	case r == nil:
		d.Why = "The data set is in no data folder: the page shows only what was recorded."
	default:
		if v.file() {
			<-r.done
		}
		select {
		case <-r.done:
			switch {
			case r.err != nil:
				d.Why = r.err.Error()
			case !slices.ContainsFunc(d.Recorded, func(s store.Dataset) bool { return s.Hash == r.report.Hash }):
				d.Why = fmt.Sprintf("The local data set of this name has the hash %.12s, and no run is of it: the page shows only what was recorded.", r.report.Hash)
			default:
				d.Report, d.Picture = r.report, r.picture
			}
		default:
			d.Waiting, p.Refresh = true, 2
		}
	}
	if d.Report != nil {
		c := chart.Stack{Title: "class sizes", Axis: chart.Axis{Title: "samples"}, Width: chartWidth}
		for _, k := range d.Report.Classes {
			c.Rows = append(c.Rows, chart.StackRow{Name: k.Name, Counts: []int{k.Samples}, Title: fmt.Sprintf("%s: %d samples", k.Name, k.Samples)})
		}
		d.Classes = drawing(c.Draw())
	}
	p.Data = d
	return p, nil
}

// statistics starts to compute the statistics of a local data set, once for each state of its files; nil if it is
// not local. It does not wait: reading and comparing all samples takes seconds.
func (x *Explorer) statistics(ctx context.Context, name string) *dataReport {
	path, found := data.Find(name, x.Roots)
	if !found && !slices.Contains(data.Builtins(), name) {
		return nil
	}
	of := stateOf(path)
	x.data.mu.Lock()
	defer x.data.mu.Unlock()
	if r := x.data.sets[name]; r != nil && r.of == of {
		return r
	}
	if x.data.sets == nil {
		x.data.sets = map[string]*dataReport{}
	}
	r := &dataReport{of: of, done: make(chan struct{})}
	x.data.sets[name] = r
	go func() {
		defer close(r.done)
		r.err = r.compute(context.WithoutCancel(ctx), name, x.Roots)
	}()
	return r
}

// stateOf describes sizes and times of a file, or of the files of a folder, so that a change shows. It is empty
// without any.
func stateOf(path string) string {
	s := ""
	filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // reading the data set will say so
		}
		if info, err := d.Info(); err == nil {
			s += fmt.Sprintf("%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return s
}

func (r *dataReport) compute(ctx context.Context, name string, roots []string) error {
	set, ok := data.Builtin(name)
	var norms []float64
	if path, found := data.Find(name, roots); found {
		var err error
		if set, err = data.Load(ctx, path, data.Options{DropZero: true}); err != nil {
			return err
		}
		if norms, err = data.Norms(ctx, path); err != nil {
			return err
		}
	} else if !ok {
		return errors.New(name + " is in no data folder")
	}
	is, err := datastats.Compute(ctx, set, norms)
	if err != nil {
		return err
	}
	r.report, r.picture = is, drawing(is.Picture(set))
	return nil
}
