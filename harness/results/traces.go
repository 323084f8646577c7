package results

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ssdl/harness/run"
	"ssdl/harness/store"
)

// Traces has, for each cell of a plan, the last values of traces of its runs.
type Traces struct {
	Spec    string   `json:"spec"`
	Caption string   `json:"caption"`
	Names   []string `json:"names"`
	// Rows has the cells without a value too; it is empty if no cell has one.
	Rows []TraceRow `json:"rows"`
}

// TraceRow is a cell of the table with its traces.
type TraceRow struct {
	Row    string `json:"row"` // RowID
	Title  string `json:"title"`
	Column Column `json:"column"`
	Metric Metric `json:"metric"`
	Cell   Cell   `json:"cell"`
	// Ends has a cell for each name, NotRun if no run has the trace. Values are as recorded.
	Ends []Cell `json:"ends"`
}

// UnknownTraceError reports that no run of a spec has a trace of this name.
type UnknownTraceError struct {
	Spec, Name string
	Known      []string
}

func (e UnknownTraceError) Error() string {
	return fmt.Sprintf("no run of %s has a trace %q; there are %s", e.Spec, e.Name, strings.Join(e.Known, ", "))
}

// TracesOf reads the last values of the traces of these names. The error is an UnknownTraceError if no run has
// one of them.
func TracesOf(ctx context.Context, st *store.Store, p *run.Plan, t Table, names []string) (Traces, error) {
	out := Traces{Spec: p.Spec.Name, Caption: t.Caption, Names: names}
	some := false // whether a cell has a value
	seen := map[string]bool{}
	for _, c := range p.Cells {
		id := RowID(c.Row.ID, settingOf(c.Setting))
		row, cell, column := t.find(id, c.Dataset)
		if row == nil {
			continue
		}
		some = some || cell.State == OK
		ends := make([]map[uint64]float64, len(names))
		for i := range ends {
			ends[i] = map[uint64]float64{}
		}
		for _, task := range c.Final {
			if task.Result == nil || cell.State != OK {
				continue
			}
			_, is, err := st.RunByUID(ctx, task.Result.UID)
			if err != nil {
				return Traces{}, err
			}
			for _, point := range is.Series { // in the order of iterations: the last one stays
				seen[point.Name] = true
				if i := slices.Index(names, point.Name); i >= 0 {
					ends[i][task.Job.Seed] = point.Value
				}
			}
		}
		r := TraceRow{Row: id, Title: row.FullTitle(), Column: column, Metric: t.RowMetric(*row), Cell: cell}
		for _, values := range ends {
			r.Ends = append(r.Ends, NewCell(values, len(p.Spec.Seeds)))
		}
		out.Rows = append(out.Rows, r)
	}
	if !some {
		out.Rows = nil
		return out, nil
	}
	for _, name := range names {
		if !seen[name] {
			return Traces{}, UnknownTraceError{p.Spec.Name, name, slices.Sorted(maps.Keys(seen))}
		}
	}
	return out, nil
}

// find returns a row by its id, with its cell and column of a data set; nil if there is none.
func (t Table) find(id, dataset string) (*Row, Cell, Column) {
	j := slices.IndexFunc(t.Columns, func(c Column) bool { return c.ID == dataset && !c.Published })
	for _, r := range t.Rows() {
		if r.ID == id && j >= 0 {
			return &r, r.Cells[j], t.Columns[j]
		}
	}
	return nil, Cell{}, Column{}
}
