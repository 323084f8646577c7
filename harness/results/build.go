package results

import (
	"slices"

	"ssdl/experiments"
	"ssdl/experiments/paper"
	"ssdl/harness/executor"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/stats"
	"ssdl/harness/store"
	"ssdl/methods/catalog"
)

// TableOf joins a plan with the paper's layout of its table: the paper's rows in the paper's order, NotRun if
// the spec lacks a row, and each further row of the spec after the row that it varies. With only it leaves out
// rows that the plan lacks, and marks no cell as the best.
func TableOf(p *run.Plan, only bool) (Table, error) {
	s := p.Spec
	t := Table{
		ID: s.Name, Title: s.Name, Caption: s.Title, RowHead: "Methods\\Datasets", Metric: specMetric(s, s.Metrics[0]),
		Protocol: protocolOf(s), Data: dataOf(p), Tuning: tuningOf(p),
	}
	if s.Title == "" {
		t.Title, t.Caption = "", s.Name
	}
	layout, published := publishedLayout(s)
	if published {
		t.Title, t.Caption, t.Label, t.RowHead = layout.Title, layout.Caption, layout.Label, layout.RowHead
	}
	for _, name := range s.Datasets {
		t.Columns = append(t.Columns, columnOf(p, name))
	}
	provenance := p.Provenance(p.Cells...)
	t.Provenance = &provenance
	t.Groups = groupsOf(p, layout, only)
	if !only { // the best of the table may be a row that is left out
		t.MarkBest()
	}
	if published {
		t = WithPublished(t, layout)
	}
	return t, t.Check()
}

// groupsOf puts the rows of a plan into the groups of a layout, which may be empty. Rows without a row of the
// layout come last.
func groupsOf(p *run.Plan, layout paper.Layout, only bool) []Group {
	after := map[string][]Row{} // rows of the spec by layoutRow
	printed := layout.Rows()
	for i := range p.Spec.Rows {
		r := &p.Spec.Rows[i]
		at := layoutRow(r, printed)
		rows := specRows(p, r)
		for j := range rows {
			switch {
			case len(printed) > 0:
				rows[j].Role = roleOf(r, rows[j].ID, at, printed)
			case r.Role == spec.RoleStep:
				rows[j].Role = Step
			}
		}
		after[at] = append(after[at], rows...)
	}
	var groups []Group
	for _, g := range layout.Groups {
		var group Group
		for _, lr := range g {
			rows := after[lr.ID]
			i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == lr.ID })
			switch {
			case i >= 0 && rows[i].Role == Misnamed:
			case i >= 0:
				rows[i].Title, rows[i].Venue, rows[i].Year, rows[i].Cite, rows[i].Bold = lr.Title, lr.Venue, lr.Year, lr.Cite, lr.Bold
			case !only:
				missing := paperRow(lr)
				for range p.Spec.Datasets {
					missing.Cells = append(missing.Cells, Cell{State: NotRun})
				}
				rows = slices.Insert(rows, 0, missing)
			}
			group.Rows = append(group.Rows, rows...)
		}
		if len(group.Rows) > 0 {
			groups = append(groups, group)
		}
	}
	if rows := after[""]; len(rows) > 0 {
		groups = append(groups, Group{Rows: rows})
	}
	return groups
}

// layoutRow is the id of the layout's row that a row of the spec belongs to: the one of the same id, or of the
// same method; "" if there is none.
func layoutRow(r *spec.Row, printed []paper.Row) string {
	ids := []string{r.ID, r.Method}
	if r.Method == "" {
		ids = append(ids, r.Pretext)
	}
	for _, id := range ids {
		if id != "" && slices.ContainsFunc(printed, func(lr paper.Row) bool { return lr.ID == id }) {
			return id
		}
	}
	return ""
}

// roleOf is the role of a row of the spec; at is its layoutRow.
func roleOf(r *spec.Row, id, at string, printed []paper.Row) Role {
	i := slices.IndexFunc(printed, func(lr paper.Row) bool { return lr.ID == id })
	switch {
	case i >= 0 && printed[i].Composition() != r.Name():
		return Misnamed
	case i >= 0:
		return PaperRow
	case r.Role == spec.RoleControl:
		return Control
	case at != "":
		return Variant
	}
	return OtherMethod
}

// ColumnOf is the column of a data set.
func ColumnOf(name string) Column {
	for _, d := range experiments.Datasets() {
		if d.Name == name {
			return Column{ID: name, Title: d.Title, Synthetic: d.Synthetic, StandsFor: d.StandsFor}
		}
	}
	return Column{ID: name, Title: name}
}

// columnOf is the column of a data set of a plan. If the data differs from the known set of its name, the column
// does not get the title of that set.
func columnOf(p *run.Plan, name string) Column {
	c := ColumnOf(name)
	known, ok := experiments.Known(name)
	d, have := p.Datasets[name]
	if !ok || !have {
		return c
	}
	c.Differences = known.Differences(experiments.Facts{Samples: d.Samples + d.Dropped, Classes: d.Classes, Dim: d.Dim, Hash: d.Hash, Declared: d.Declared})
	if len(c.Differences) > 0 {
		c.Title = name
	}
	return c
}

// specRows makes the rows of a spec row: one for each of its settings.
func specRows(p *run.Plan, r *spec.Row) []Row {
	var rows []Row
	for _, c := range p.Cells {
		if c.Row.ID != r.ID {
			continue
		}
		setting := settingOf(c.Setting)
		id := RowID(r.ID, setting)
		i := slices.IndexFunc(rows, func(row Row) bool { return row.ID == id })
		if i < 0 {
			i = len(rows)
			rows = append(rows, Row{
				ID: id, Base: r.ID, Setting: setting, Method: r.Method, Pretext: r.Pretext, Title: r.Title(),
				Note: noteOf(r), Program: r.Exec, Predictions: r.Predictions.File, Cells: make([]Cell, len(p.Spec.Datasets)),
			})
			if len(p.Spec.Metrics) > 1 {
				m := MetricOf(c.Metric)
				rows[i].Metric = &m
			}
		}
		rows[i].Cells[slices.Index(p.Spec.Datasets, c.Dataset)] = cellOf(p, c)
	}
	return rows
}

// noteOf is the note of the row's pretext, or else of its method, in the catalog.
func noteOf(r *spec.Row) string {
	for _, name := range []string{r.Pretext, r.Method} {
		if e, err := catalog.Lookup(name); err == nil && e.Note != "" {
			return e.Note
		}
	}
	return ""
}

// cellOf makes the cell of a table from a cell of the plan.
func cellOf(p *run.Plan, c *run.Cell) Cell {
	cell := Cell{
		RequestedSeeds: len(p.Spec.Seeds), Selection: selectionOf(c), Candidates: len(c.Candidates),
		TunedOnTest: c.Select == spec.SelectTest,
	}
	switch {
	case c.NoData():
		return Cell{State: NoData, RequestedSeeds: cell.RequestedSeeds, Remarks: Remarks{NoData: c.Err.Error()}}
	case c.Excluded != "":
		return Cell{State: Excluded, RequestedSeeds: cell.RequestedSeeds, Remarks: Remarks{Excluded: c.Excluded}}
	}
	remarks := Remarks{FailedCandidates: failedCandidates(c), Unconfined: unconfined(c)}
	values := map[uint64]float64{}
	for _, t := range c.Final {
		v, ok := t.Value()
		if !ok {
			if remarks.Failure == nil {
				remarks.Failure = failureOf(&t)
			}
			continue
		}
		remarks.Unconverged = max(remarks.Unconverged, t.Result.Metrics[executor.Unconverged])
		values[t.Job.Seed] = MetricOf(c.Metric).Shown(v)
		cell.RunIDs = append(cell.RunIDs, t.Result.UID)
	}
	if c.Part && len(values) > 0 {
		remarks.TunedOn = c.TuneSeeds
	}
	filled := NewCell(values, cell.RequestedSeeds)
	cell.State, cell.Mean, cell.SD, cell.N, cell.Samples = filled.State, filled.Mean, filled.SD, filled.N, filled.Samples
	cell.Tested = testedOf(p, c, filled.N)
	remarks.Inconsistencies = p.Inconsistencies(c)
	behind := p.Provenance(c)
	remarks.Modified = behind.Modified
	for _, f := range behind.Imported {
		remarks.Imported += f.Runs
	}
	remarks.Fault = p.Fault(c)
	cell.Remarks = remarks
	switch {
	case remarks.Fault != nil:
		cell.State, cell.Mean, cell.SD, cell.N, cell.Samples = Damaged, 0, 0, 0, nil
	case c.Err != nil: // every candidate failed
		cell.State = Failed
	case len(remarks.Inconsistencies) > 0:
		cell.State, cell.Mean, cell.SD, cell.N, cell.Samples = Inconsistent, 0, 0, 0, nil
	case remarks.Failure != nil && len(values) == 0:
		cell.State = Failed
		switch remarks.Failure.Status {
		case store.StatusTimeout:
			cell.State = Timeout
		case store.StatusMemory:
			cell.State = OutOfMemory
		}
	}
	return cell
}

// failureOf says why a task has no value; nil if it has not failed.
func failureOf(t *run.Task) *Failure {
	if t.State != run.Retry && t.State != run.Failed {
		return nil
	}
	if t.Failure == nil {
		return &Failure{Message: t.Reason(), Seed: t.Job.Seed}
	}
	return &Failure{Status: t.Failure.Status, Message: t.Failure.Message, Seed: t.Job.Seed, Attempts: t.Failure.Attempts}
}

// unconfined counts the runs of a cell whose program was not confined, tuning included.
func unconfined(c *run.Cell) int {
	n := 0
	for _, tasks := range append(slices.Clone(c.Tuning), c.Final) {
		for _, t := range tasks {
			if t.Result != nil && t.Result.Metrics[executor.Unconfined] > 0 {
				n++
			}
		}
	}
	return n
}

// failedCandidates counts the candidates of a cell with a failed run, which tuning cannot choose.
func failedCandidates(c *run.Cell) int {
	n := 0
	for _, tasks := range c.Tuning {
		if _, failed := tuningRuns(tasks); failed > 0 {
			n++
		}
	}
	return n
}

// tuningRuns counts the finished and the failed runs of a candidate.
func tuningRuns(tasks []run.Task) (finished, failed int) {
	for _, t := range tasks {
		switch {
		case t.Result != nil:
			finished++
		case t.State == run.Failed:
			failed++
		}
	}
	return finished, failed
}

// dataOf describes the data of each column of a plan that has results.
func dataOf(p *run.Plan) []DataVersion {
	var out []DataVersion
	for _, name := range p.Spec.Datasets {
		for _, c := range p.Cells {
			t := firstResult(c)
			if c.Dataset != name || t == nil {
				continue
			}
			d := DataVersion{Column: name, Hash: t.Job.DatasetHash, Samples: p.Datasets[name].Samples}
			if s, ok := p.SplitOf(t); ok {
				d.Train, d.Labelled, d.Test = s.Train, s.Labeled, s.Test
				d.Unused = d.Samples - s.Train - s.Test
			}
			out = append(out, d)
			break
		}
	}
	return out
}

// testedOf is the number of different test samples over the n seeds of a cell that have a value.
func testedOf(p *run.Plan, c *run.Cell, n int) int {
	t := firstResult(c)
	if t == nil {
		return 0
	}
	s, ok := p.SplitOf(t)
	if !ok || c.Split.SameTest() {
		return s.Test
	}
	return stats.Distinct(p.Datasets[c.Dataset].Samples, s.Test, n)
}

// firstResult is the first final task of a cell with a result; nil if there is none.
func firstResult(c *run.Cell) *run.Task {
	for i := range c.Final {
		if c.Final[i].Result != nil {
			return &c.Final[i]
		}
	}
	return nil
}
