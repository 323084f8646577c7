package results

// CellChange is a cell of a table that an import changes.
type CellChange struct {
	Table  string `json:"table"`
	Row    string `json:"row"`
	Title  string `json:"title"`
	Column string `json:"column"`
	Metric Metric `json:"metric"`
	Was    Cell   `json:"was"`
	Is     Cell   `json:"is"`
}

// HadValue reports whether the cell had a value before.
func (c CellChange) HadValue() bool { return c.Was.State == OK }

// Changes lists the measured cells in which two tables of one spec differ, in the order of the table.
func Changes(was, is Table) []CellChange {
	var out []CellChange
	for _, row := range is.Rows() {
		before, _ := was.Row(row.ID)
		for j, c := range is.Columns {
			if c.Published {
				continue
			}
			a, b := Cell{State: NotRun}, row.Cells[j]
			for k, d := range was.Columns {
				if d.ID == c.ID && !d.Published && k < len(before.Cells) {
					a = before.Cells[k]
				}
			}
			if a.State != b.State || a.Mean != b.Mean || a.SD != b.SD || a.N != b.N {
				out = append(out, CellChange{was.ID, row.ID, row.FullTitle(), c.ID, is.RowMetric(row), a, b})
			}
		}
	}
	return out
}
