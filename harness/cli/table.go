package cli

import (
	"fmt"
	"io"
	"slices"

	"ssdl/experiments"
	"ssdl/experiments/paper"
	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/methods/catalog"
)

// formats maps the --format words to the renderers' names.
var formats = map[string]string{"text": "txt", "md": "md", "latex": "tex", "html": "html", "csv": "csv", "json": "json"}

func writeTable(w io.Writer, t report.Table, format string) error {
	return report.Render(w, t, formats[format])
}

// buildTable joins a plan with the paper's layout of its table: the paper's rows in the
// paper's order, `not yet` where a method does not exist yet, and further rows of the
// spec behind the row they vary. With only, rows that were not asked for are left out.
func buildTable(p *run.Plan, only bool) (report.Table, error) {
	s := p.Spec
	t := report.Table{ID: s.Name, Title: s.Name, Caption: s.Title, RowHead: "Methods\\Datasets", Decimals: 3, LowerIsBetter: s.Metrics[0] != "accuracy"}
	if s.Metrics[0] == "accuracy" {
		t.Unit, t.Decimals = "%", 1
	}
	if s.Title == "" {
		t.Title, t.Caption = "", s.Name
	}
	layout, known := layoutOf(s.Table)
	if known {
		t.Title, t.Caption, t.Label, t.RowHead, t.Decimals = layout.Title, layout.Caption, layout.Label, layout.RowHead, layout.Decimals
	}
	for _, name := range s.Datasets {
		t.Columns = append(t.Columns, column(name))
	}
	printed := layout.Rows()
	rows := map[string][]report.Row{} // by layout row; "" holds the rows of no layout row
	for i := range s.Rows {
		r := &s.Rows[i]
		home := homeOf(r, layout)
		made := specRows(p, r, t)
		for j := range made { // controls and further readings do not compete with the paper's rows
			made[j].Aside = known && !slices.ContainsFunc(printed, func(lr paper.Row) bool { return lr.ID == made[j].ID })
		}
		rows[home] = append(rows[home], made...)
	}
	for _, g := range layout.Groups {
		var group report.Group
		for _, lr := range g {
			made := rows[lr.ID]
			i := slices.IndexFunc(made, func(r report.Row) bool { return r.ID == lr.ID })
			switch {
			case i >= 0:
				made[i].Title, made[i].Venue, made[i].Year, made[i].Cite, made[i].Bold = lr.Title, lr.Venue, lr.Year, lr.Cite, lr.Bold
			case !only:
				made = append([]report.Row{notYet(lr, len(t.Columns))}, made...)
			}
			group.Rows = append(group.Rows, made...)
		}
		if len(group.Rows) > 0 {
			t.Groups = append(t.Groups, group)
		}
	}
	if len(rows[""]) > 0 {
		t.Groups = append(t.Groups, report.Group{Rows: rows[""]})
	}
	t.Notes = notes(p, t)
	t.MarkBest()
	if known {
		t = report.WithPublished(t, layout)
	}
	return t, t.Check()
}

func layoutOf(table string) (paper.Layout, bool) {
	for _, l := range paper.Tables() {
		if l.ID == table {
			return l, true
		}
	}
	return paper.Layout{}, false
}

// homeOf is the row of the layout behind which a row of the spec stands: the one of the
// same name, or of the same method.
func homeOf(r *spec.Row, l paper.Layout) string {
	ids := []string{r.ID, r.Method}
	if r.Method == "" {
		ids = append(ids, r.Pretext)
	}
	for _, id := range ids {
		for _, lr := range l.Rows() {
			if id != "" && lr.ID == id {
				return lr.ID
			}
		}
	}
	return ""
}

func notYet(lr paper.Row, columns int) report.Row {
	r := report.Row{ID: lr.ID, Title: lr.Title, Venue: lr.Venue, Year: lr.Year, Cite: lr.Cite, Bold: lr.Bold}
	for range columns {
		r.Cells = append(r.Cells, report.Cell{State: report.NotYet})
	}
	return r
}

func column(name string) report.Column {
	for _, d := range experiments.Datasets() {
		if d.Name == name {
			return report.Column{ID: name, Title: d.Title, Synthetic: d.Synthetic, StandsFor: d.StandsFor}
		}
	}
	return report.Column{ID: name, Title: name}
}

// specRows makes the rows of a spec row: one for each of its sweep points.
func specRows(p *run.Plan, r *spec.Row, t report.Table) []report.Row {
	var out []report.Row
	for _, c := range p.Cells {
		if c.Row.ID != r.ID {
			continue
		}
		id := r.ID
		if len(c.Setting) > 0 {
			id += "@" + c.Setting.String()
		}
		i := slices.IndexFunc(out, func(row report.Row) bool { return row.ID == id })
		if i < 0 {
			i = len(out)
			out = append(out, newRow(id, r, c, len(t.Columns)))
		}
		for j, col := range t.Columns {
			if col.ID == c.Dataset {
				out[i].Cells[j] = cellOf(p, c)
			}
		}
	}
	return out
}

func newRow(id string, r *spec.Row, c *run.Cell, columns int) report.Row {
	row := report.Row{ID: id, Title: r.Title(), Cells: make([]report.Cell, columns)}
	var noted []string
	for _, name := range []string{r.Pretext, r.Method} {
		e, err := catalog.Lookup(name)
		if name == "" || err != nil {
			continue
		}
		if e.Note != "" {
			noted = append(noted, e.Note)
		}
	}
	if len(noted) > 0 {
		row.Note = noted[0]
	}
	for _, a := range c.Setting {
		row.Title += " " + a.Name + "=" + spec.FormatValue(a.Value)
		if v, ok := a.Value.(float64); ok {
			if row.At == nil {
				row.At = map[string]float64{}
			}
			row.At[a.Name] = v
		}
	}
	for j := range row.Cells {
		row.Cells[j].State = report.Missing
	}
	return row
}

// nothing says why a table has no value to compare or to draw: it has no results, or only such as
// must not be averaged.
func nothing(t report.Table, todo, name string) error {
	for _, r := range t.Rows() {
		for _, c := range r.Cells {
			if c.State == report.Mixed {
				return fail(exitFailedRuns, "%s has no results to %s: the runs of %s must not be averaged: %s", t.ID, todo, r.Title, c.Detail)
			}
		}
	}
	return fail(exitNoData, "%s has no results to %s yet; `ssdl run %s` makes them", t.ID, todo, word(name))
}

// cellOf is a cell of the plan as the report shows it.
func cellOf(p *run.Plan, c *run.Cell) report.Cell {
	declared := len(p.Spec.Seeds)
	switch {
	case c.NoData():
		return report.Cell{State: report.Missing, Declared: declared, Detail: c.Err.Error()}
	case c.Err != nil: // every setting failed
		return report.Cell{State: report.Failed, Declared: declared, Detail: c.Err.Error()}
	case c.Excluded != "":
		return report.Cell{State: report.Excluded, Declared: declared, Detail: c.Cell.Excluded}
	}
	values := map[uint64]float64{}
	var uids []string
	var failure *run.Task
	open := 0.0
	for i, t := range c.Final {
		if (t.State == run.Retry || t.State == run.Failed) && failure == nil {
			failure = &c.Final[i]
		}
		v, ok := t.Value()
		if !ok {
			continue
		}
		if c.Metric == "accuracy" {
			v *= 100
		}
		open = max(open, t.Result.Metrics[run.Unconverged])
		values[t.Job.Seed] = v
		uids = append(uids, t.Result.UID)
	}
	cell := report.NewCell(values, declared)
	if open > 0 {
		cell.Detail = fmt.Sprintf("up to %g test codes of a run are not solved to the duality gap", open)
	}
	if n := failedSettings(c); n > 0 {
		if cell.Detail != "" {
			cell.Detail += "; "
		}
		cell.Detail += fmt.Sprintf("%d of %d settings failed in the tuning and could not be chosen", n, len(c.Candidates))
	}
	cell.RunIDs, cell.Selection, cell.Tried, cell.Dagger = uids, selectionOf(c), len(c.Candidates), c.Select == spec.SelectTest
	if why := p.Mixed(c); why != "" {
		return report.Cell{State: report.Mixed, Declared: declared, RunIDs: uids, Detail: why}
	}
	if failure != nil {
		cell.Detail = failure.Reason
		if len(values) == 0 {
			cell.State = report.Failed
			if failure.LastStatus == store.StatusTimeout {
				cell.State = report.Timeout
			}
		}
	}
	return cell
}

// failedSettings counts the candidates of a cell that were not chosen since a run of them failed.
func failedSettings(c *run.Cell) int {
	n := 0
	for _, tasks := range c.Tuning {
		if _, failed, _ := tuningRuns(tasks); failed > 0 {
			n++
		}
	}
	return n
}

// notes says what the numbers of a table are of: data, splits, and how parameters came about.
func notes(p *run.Plan, t report.Table) []string {
	var out []string
	if t.Synthetic() {
		out = append(out, "Built-in data is for a quick look: seeds, dictionaries, iterations and grids can be smaller than on real data (see the spec).")
	}
	return slices.Concat(out, splitNotes(p.Spec), dataNote(p), choiceNotes(p, t))
}
