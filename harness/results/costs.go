package results

import (
	"context"

	"ssdl/harness/run"
	"ssdl/harness/store"
)

// Costs says what the rows of a table took.
type Costs struct {
	Spec string    `json:"spec"`
	Rows []CostRow `json:"rows"`
	// Total is that of all rows together: a run that two rows share is in it once.
	Total run.Cost `json:"total"`
}

// CostRow is what the runs behind a cell took, tuning included.
type CostRow struct {
	Row    string   `json:"row"` // RowID
	Title  string   `json:"title"`
	Column Column   `json:"column"`
	Cost   run.Cost `json:"cost"`
}

// CostsOf sums up the runs behind each cell of t, the table of a plan. A cell without runs is left out. st is the
// store of the plan.
func CostsOf(ctx context.Context, st *store.Store, p *run.Plan, t Table) (Costs, error) {
	out := Costs{Spec: p.Spec.Name}
	for _, c := range p.Cells {
		id := RowID(c.Row.ID, settingOf(c.Setting))
		row, _, column := t.find(id, c.Dataset)
		if row == nil {
			continue
		}
		cost, err := p.Cost(ctx, st, c)
		if err != nil {
			return Costs{}, err
		}
		if cost.Runs > 0 {
			out.Rows = append(out.Rows, CostRow{id, row.FullTitle(), column, cost})
		}
	}
	var err error
	out.Total, err = p.Cost(ctx, st, p.Cells...)
	return out, err
}
