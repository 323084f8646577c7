package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
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
	Local  bool
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
		is := recordedSet{Dataset: s, Column: results.ColumnOf(s.Name), Local: v.local(s.Name)}
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

// local reports whether a data set is in the data folders or built in.
func (x *Explorer) local(name string) bool {
	_, found := data.Find(name, x.Roots)
	return found || slices.Contains(data.Builtins(), name)
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
			d.Report, d.Picture = r.report, r.picture
			if r.err != nil {
				d.Why = r.err.Error()
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

// statistics starts to compute the statistics of a local data set, once; nil if it is not local. It does
// not wait: reading and comparing all samples takes seconds.
func (x *Explorer) statistics(ctx context.Context, name string) *dataReport {
	if !x.local(name) {
		return nil
	}
	x.data.mu.Lock()
	defer x.data.mu.Unlock()
	if r := x.data.sets[name]; r != nil {
		return r
	}
	if x.data.sets == nil {
		x.data.sets = map[string]*dataReport{}
	}
	r := &dataReport{done: make(chan struct{})}
	x.data.sets[name] = r
	go func() {
		defer close(r.done)
		r.err = r.compute(context.WithoutCancel(ctx), name, x.Roots)
	}()
	return r
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
