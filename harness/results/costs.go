package results

import (
	"context"

	"ssdl/harness/run"
	"ssdl/harness/store"
)

// Costs is the cost of each row of a table.
type Costs struct {
	Spec string    `json:"spec"`
	Rows []CostRow `json:"rows"`
	// Total counts a run shared by rows once.
	Total run.Cost `json:"total"`
}

// CostRow is the cost of the runs of a cell, tuning runs and failed runs included.
type CostRow struct {
	Row    string   `json:"row"` // RowID
	Title  string   `json:"title"`
	Column Column   `json:"column"`
	Cost   run.Cost `json:"cost"`
}

// CostsOf sums up the runs of each cell of t, the table of plan p on store st. It omits cells without runs.
func CostsOf(ctx context.Context, st *store.Store, p *run.Plan, t Table) (Costs, error) {
	out := Costs{Spec: p.Spec.Name, Rows: []CostRow{}}
	for _, c := range p.Cells {
		id := RowID(c.Row.ID, settingOf(c.Setting))
		row, _, column := t.find(id, c.Dataset)
		if row == nil {
			continue
		}
		cost, err := p.CostWithFailed(ctx, st, c)
		if err != nil {
			return Costs{}, err
		}
		if cost.Runs > 0 {
			out.Rows = append(out.Rows, CostRow{id, row.FullTitle(), column, cost})
		}
	}
	var err error
	out.Total, err = p.CostWithFailed(ctx, st, p.Cells...)
	return out, err
}
