package results

import (
	"context"
	"slices"

	"ssdl/harness/run"
	"ssdl/harness/store"
)

// Work is the cost of some rows of a spec on one data set.
type Work struct {
	// Rows are the ids of the spec's rows; nil for all of them.
	Rows []string `json:"rows,omitempty"`
	// Cost is the cost of the runs of these rows, tuning included.
	Cost run.Cost `json:"cost"`
}

// WorkOf sums up the cost of the rows of a plan that are in ids, on the data set of a column. st is the store of the
// plan.
func WorkOf(ctx context.Context, st *store.Store, p *run.Plan, column string, ids []string) (Work, error) {
	var w Work
	var cells []*run.Cell
	for _, c := range p.Cells {
		if c.Dataset == column && slices.Contains(ids, c.Row.ID) {
			cells = append(cells, c)
		}
	}
	for _, r := range p.Spec.Rows {
		if slices.Contains(ids, r.ID) {
			w.Rows = append(w.Rows, r.ID)
		}
	}
	if len(w.Rows) == len(p.Spec.Rows) {
		w.Rows = nil
	}
	var err error
	w.Cost, err = p.Cost(ctx, st, cells...)
	return w, err
}
