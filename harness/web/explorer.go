// Package web shows results in a browser: as pages of a local server that follow a store, or as the same
// pages in one file. It lays out values of packages results, verdict and compare in the words of package
// report and the drawings of package chart. It computes no number and changes no store.
package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/harness/verdict"
)

// Explorer makes pages from a store. It is safe for concurrent use.
type Explorer struct {
	// Path is the file of the store. It may appear later.
	Path string
	// Specs are the names or files of the specs, in order.
	Specs []string
	// Plan plans one of Specs on a store, without local data.
	Plan func(ctx context.Context, st *store.Store, name string) (*run.Plan, error)
	// Roots are the data folders.
	Roots []string
	// Always includes specs without results.
	Always bool

	mu      sync.Mutex
	store   *store.Store // nil until the file exists
	file    os.FileInfo  // the file that store was opened from
	studies map[string]*study
	data    dataReports
}

// study is a spec with its results at one state of the store.
type study struct {
	name     string // as in Specs
	id       string // the name in the spec, used in addresses
	state    string // of the store, see Explorer.state
	plan     *run.Plan
	table    results.Table
	verdicts verdict.Verdicts
	ratio    float64 // test over training samples, for paired tests
	figures  []report.Figure
	finished bool // every job has a result
	// explained caches explanations of cells by row and data set.
	mu        sync.Mutex
	explained map[place]results.Explanation
}

// place identifies a cell of a table.
type place struct{ row, column string }

// errNotFound says that a page does not exist.
var errNotFound = errors.New("there is no such page")

func notFound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotFound, fmt.Sprintf(format, args...))
}

// Close closes the store.
func (x *Explorer) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.store == nil {
		return nil
	}
	return x.store.Close()
}

// open returns the store, nil if there is none yet.
func (x *Explorer) open(ctx context.Context) (*store.Store, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	info, err := os.Stat(x.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// Reopen the store if its file was replaced, as by an import.
	if x.store != nil && os.SameFile(x.file, info) {
		return x.store, nil
	}
	if x.store != nil {
		x.store.Close()
		x.store, x.studies = nil, nil
	}
	if x.store, err = store.OpenReadOnly(ctx, x.Path); err != nil {
		x.store = nil
		return nil, err
	}
	x.file = info
	return x.store, nil
}

// state identifies the state of the store without reading it.
func (x *Explorer) state() string {
	s := ""
	for _, name := range []string{x.Path, x.Path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			s += fmt.Sprintf("%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return s
}

// load reads the study of a spec, unless the store is unchanged since the last time.
func (x *Explorer) load(ctx context.Context, st *store.Store, name string) (*study, error) {
	state := x.state() // before reading, so that later writes are seen the next time
	x.mu.Lock()
	s := x.studies[name]
	x.mu.Unlock()
	if s != nil && s.state == state {
		return s, nil
	}
	p, err := x.Plan(ctx, st, name)
	if err != nil {
		return nil, err
	}
	s = &study{name: name, id: p.Spec.Name, state: state, plan: p, explained: map[place]results.Explanation{}}
	if s.table, err = results.TableOf(p, false); err != nil {
		return nil, err
	}
	s.ratio = results.TestToTrain(p)
	if s.verdicts, err = verdict.Of(s.table, results.PaperTable(p.Spec), s.ratio); err != nil {
		return nil, err
	}
	s.figures = report.Figures(&s.table, paper.OperatingPoint)
	now := results.ProgressOf(p, nil)
	s.finished = now.Left+now.Failed == 0
	x.mu.Lock()
	if x.studies == nil {
		x.studies = map[string]*study{}
	}
	x.studies[name] = s
	x.mu.Unlock()
	return s, nil
}

// loadAll reads the studies with results, the paper's tables first.
func (x *Explorer) loadAll(ctx context.Context) ([]*study, error) {
	st, err := x.open(ctx)
	if err != nil || st == nil {
		return nil, err
	}
	all := make([]*study, len(x.Specs))
	var g errgroup.Group
	g.SetLimit(4)
	for i, name := range x.Specs {
		g.Go(func() (err error) {
			all[i], err = x.load(ctx, st, name)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var shown []*study
	for _, s := range all {
		if x.Always || s.table.HasResults() {
			shown = append(shown, s)
		}
	}
	slices.SortStableFunc(shown, func(a, b *study) int { return rankOf(a) - rankOf(b) })
	return shown, nil
}

// rankOf orders the tables of the paper first, as in the paper.
func rankOf(s *study) int {
	for i, l := range paper.Tables() {
		if s.plan.Spec.Table == l.ID && s.id == l.ID {
			return i
		}
	}
	return len(paper.Tables())
}

// study returns the study of a spec by the name in the spec.
func (x *Explorer) study(ctx context.Context, id string) (*study, *store.Store, error) {
	st, err := x.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	if st == nil {
		return nil, nil, notFound("%s does not exist yet", x.Path)
	}
	x.mu.Lock()
	name := ""
	for n, s := range x.studies {
		if s.id == id {
			name = n
		}
	}
	x.mu.Unlock()
	if name != "" {
		s, err := x.load(ctx, st, name)
		return s, st, err
	}
	all, err := x.loadAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range all {
		if s.id == id {
			return s, st, nil
		}
	}
	return nil, nil, notFound("no spec is called %q", id)
}

// column returns the index of the measured column of a data set.
func (s *study) column(id string) (int, error) {
	j := slices.IndexFunc(s.table.Columns, func(c results.Column) bool { return c.ID == id && !c.Published })
	if j < 0 {
		return 0, notFound("%s has no data set %q", s.id, id)
	}
	return j, nil
}

// title is the title of a row with its setting.
func (s *study) title(row string) string {
	if r, ok := s.table.Row(row); ok {
		return r.FullTitle()
	}
	return row
}

// explain returns the explanation of a cell; false if the spec has no such cell.
func (s *study) explain(at place) (results.Explanation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.explained[at]; ok {
		return e, true
	}
	for _, c := range s.plan.Cells {
		if c.Dataset != at.column || results.RowOf(c) != at.row {
			continue
		}
		e := results.Explain(s.plan, c)
		e.Command = []string{"ssdl", "run", s.name, "-m", e.Base, "-d", e.Dataset}
		s.explained[at] = e
		return e, true
	}
	return results.Explanation{}, false
}

// verdictOf is the verdict on a cell; nil if the paper printed none.
func (s *study) verdictOf(at place) *verdict.Cell {
	for i, c := range s.verdicts.Cells {
		if c.Row == at.row && c.Column == at.column && c.State != verdict.NoColumn {
			return &s.verdicts.Cells[i]
		}
	}
	return nil
}

// seat is the cell that reports a run, with the index of the run there.
type seat struct {
	study  *study
	cell   results.Explanation
	number int // in cell.Runs
}

// seat returns the first cell that reports a run; nil for tuning runs and superseded runs.
func (x *Explorer) seat(ctx context.Context, uid string) (*seat, error) {
	all, err := x.loadAll(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		for _, c := range s.plan.Cells {
			for i := range c.Final {
				if r := c.Final[i].Result; r == nil || r.UID != uid {
					continue
				}
				e, _ := s.explain(place{results.RowOf(c), c.Dataset})
				if k := slices.IndexFunc(e.Runs, func(r results.Run) bool { return r.UID == uid }); k >= 0 {
					return &seat{s, e, k}, nil
				}
			}
		}
	}
	return nil, nil
}
