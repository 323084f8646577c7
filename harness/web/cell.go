package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"ssdl/harness/chart"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/harness/verdict"
)

// cellData is the page of a cell.
type cellData struct {
	results.Explanation
	Source   string // title of its table
	Column   results.Column
	Text     string // mean and deviation
	Interval string
	Printed  string // with the paper's data set, if it is another one
	Verdict  *verdict.Cell
	Diff     string
	Remarks  string
	Protocol string
	Chosen   string
	Atoms    string
	Chips    []chip
	Chart    template.HTML // of the seeds
	Parts    []partData
	Tuning   []candidateData
	Map      template.HTML // of the candidates
	Runs     []cellRun
	Todo     string // the heading of Command
	Command  string
	Compare  []compareLink
	Position string
	Previous string // address of the row above
	Next     string
}

// partData is a method or a pretext with its parameters.
type partData struct {
	What, Name string
	Params     []param
}

type param struct{ Name, Value string }

// candidateData is a candidate of the tuning.
type candidateData struct {
	Setting, Score, State string
	Chosen                bool
}

// cellRun is the run of a seed.
type cellRun struct {
	Seed       uint64
	Text, Path string
	Seconds    string
	State      string
	Message    string
}

// compareLink leads to a comparison with another row.
type compareLink struct{ Title, Path string }

func (v view) cellPage(ctx context.Context, id string, at place) (page, error) {
	s, st, err := v.study(ctx, id)
	if err != nil {
		return page{}, err
	}
	j, err := s.column(at.column)
	if err != nil {
		return page{}, err
	}
	e, ok := s.explain(at)
	if !ok {
		return page{}, notFound("%s has no row %q", id, at.row)
	}
	if err := e.ReadRecords(ctx, st); err != nil {
		return page{}, err
	}
	m, c := e.Metric, e.Cell
	d := cellData{
		Explanation: e, Source: tableTitle(s), Column: s.table.Columns[j], Remarks: report.Remarks(c.Remarks, c.State),
		Chips: chipsOf(c), Atoms: report.DictionariesText(e.Runs), Verdict: s.verdictOf(at),
	}
	if e.Protocol != nil {
		d.Protocol = report.ProtocolText(e.Protocol)
	}
	if c.State != results.NoData && c.State != results.Excluded {
		d.Chosen = report.SelectionText(e)
	}
	if c.State == results.OK {
		d.Text = number(m, c.Mean, false)
		if c.N > 1 {
			d.Text += " ± " + number(m, c.SD, false)
		}
		if i := c.Interval(m); i != nil {
			d.Interval = fmt.Sprintf("%s … %s", number(m, i.Low, false), number(m, i.High, false))
		}
	}
	if d.Verdict != nil {
		d.Printed = number(m, d.Verdict.Published, false)
		if d.Verdict.StandsFor != "" {
			d.Printed += " on " + results.ColumnOf(d.Verdict.StandsFor).Title + ": not compared with " + d.Column.Title
		}
		if d.Verdict.Difference != nil {
			d.Diff = number(m, *d.Verdict.Difference, true)
		}
	}
	what, command := report.NextCommand(e)
	d.Todo, d.Command = strings.ToUpper(what[:1])+what[1:], command
	d.Chart = v.seedChart(e, m, d.Verdict)
	d.Parts = explainedParts(e)
	v.tuning(&d, m)
	for _, r := range e.Runs {
		is := cellRun{Seed: r.Seed, State: string(r.State)}
		switch {
		case r.Value != nil:
			is.Text, is.Path, is.Seconds = number(m, m.Shown(*r.Value), false), runPath(r.UID), seconds(r.Wall)
			if r.State == run.Cached {
				is.State = string(store.StatusOK)
			}
		case r.State == run.NoData: // pages are planned without local data
			is.State = string(run.New)
		case r.Failure != nil:
			is.Message = r.Failure.Message
			if r.Failure.Status != "" {
				is.State = string(r.Failure.Status)
			}
		default:
			is.Message = r.Reason
		}
		d.Runs = append(d.Runs, is)
	}
	d.Compare = v.comparable(s, at, j)
	rows := s.table.Rows()
	for i, r := range rows {
		if r.ID != at.row {
			continue
		}
		d.Title = r.Title
		d.Position = fmt.Sprintf("row %d of %d", i+1, len(rows))
		d.Previous, d.Next = v.neighbour(s, rows[:i], at.column, true), v.neighbour(s, rows[i+1:], at.column, false)
	}
	return page{Title: d.Title + " " + e.Setting.String() + " on " + d.Column.Title, Section: "/tables", Template: "cell", Data: d}, nil
}

// neighbour is the address of the first of rows, or the last, that has the cell.
func (v view) neighbour(s *study, rows []results.Row, column string, last bool) string {
	at := ""
	for _, r := range rows {
		if _, ok := s.explain(place{r.ID, column}); ok {
			at = cellPath(s.id, r.ID, column)
			if !last {
				break
			}
		}
	}
	return at
}

// seedChart draws the values of the seeds; empty without a value.
func (v view) seedChart(e results.Explanation, m results.Metric, printed *verdict.Cell) template.HTML {
	c := e.Cell
	if c.State != results.OK {
		return ""
	}
	out := chart.Strip{
		Title: m.Title + " of each seed", Axis: chart.Axis{Title: report.Quantity(m)}, Mean: c.Mean, Low: c.Mean, High: c.Mean, Width: chartWidth,
	}
	if i := c.Interval(m); i != nil {
		out.Low, out.High = i.Low, i.High
	}
	for _, s := range c.Samples {
		seed := chart.Seed{Seed: s.Seed, Value: s.Value, Text: number(m, s.Value, false)}
		if i := slices.IndexFunc(e.Runs, func(r results.Run) bool { return r.Seed == s.Seed }); i >= 0 {
			seed.Link = v.href(runPath(e.Runs[i].UID))
		}
		out.Seeds = append(out.Seeds, seed)
	}
	if printed != nil && printed.StandsFor == "" { // the paper has no number for a stand-in
		out.Lines = []chart.Reference{{Value: printed.Published, Text: "paper " + number(m, printed.Published, false), Ink: chart.Printed}}
	}
	return drawing(out.Draw())
}

// explainedParts returns the pretext and the method of a cell.
func explainedParts(e results.Explanation) []partData {
	var pretext, method partData
	if e.Pretext != nil {
		pretext = part("pretext", e.Pretext.Name, e.Pretext.Params, e.Notations())
	}
	if e.Method != nil {
		method = part("method", e.Method.Name, e.Method.Params, e.Notations())
	}
	return partsOf(pretext, method)
}

// tuning lists the candidates, and draws them if they differ in one or two numbers.
func (v view) tuning(d *cellData, m results.Metric) {
	var names []string
	notations := d.Notations()
	numeric, scored := true, false
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range d.Candidates {
		is := candidateData{Setting: c.Setting.In(notations), Chosen: c.Chosen}
		switch {
		case c.Failed > 0:
			is.State = fmt.Sprintf("%d of %d runs failed", c.Failed, c.Requested)
		case c.Score == nil:
			is.State = fmt.Sprintf("%d of %d runs", c.Finished, c.Requested)
		default:
			score := m.Shown(*c.Score)
			is.Score, scored = number(m, score, false), true
			low, high = min(low, score), max(high, score)
		}
		d.Tuning = append(d.Tuning, is)
		numeric = numeric && c.Setting.Numeric()
		names = nil
		for _, x := range c.Setting {
			names = append(names, x.Name)
		}
	}
	if !numeric || !scored || len(names) < 1 || len(names) > 2 {
		return
	}
	axis := chart.Axis{Title: "held-out " + report.Quantity(m)}
	if len(names) == 1 {
		curve := chart.Curve{Name: "candidates"}
		c := chart.Curves{Title: "score of each candidate", X: chart.Axis{Title: names[0]}, Y: axis, Width: chartWidth, Height: 240}
		least, most := math.Inf(1), math.Inf(-1)
		for _, k := range d.Candidates {
			if k.Score == nil {
				continue
			}
			x, _ := k.Setting.Number(names[0])
			least, most = min(least, x), max(most, x)
			y := m.Shown(*k.Score)
			curve.Points = append(curve.Points, chart.Sample{X: x, Y: y, Low: y, High: y, Title: k.Setting.In(notations) + ": " + number(m, y, false)})
			c.X.Ticks = append(c.X.Ticks, chart.Tick{Value: x, Text: notations[names[0]].Format(x)})
			if k.Chosen {
				c.Mark = &chart.Reference{Value: x, Text: "chosen", Ink: chart.Bad}
			}
		}
		slices.SortFunc(curve.Points, func(a, b chart.Sample) int { return cmp.Compare(a.X, b.X) })
		slices.SortFunc(c.X.Ticks, func(a, b chart.Tick) int { return cmp.Compare(a.Value, b.Value) })
		c.X.Log = least > 0 && most >= 50*least
		c.Curves = []chart.Curve{curve}
		d.Map = drawing(c.Draw())
		return
	}
	var axes [2][]float64
	for i, name := range names {
		for _, k := range d.Candidates {
			if x, _ := k.Setting.Number(name); !slices.Contains(axes[i], x) {
				axes[i] = append(axes[i], x)
			}
		}
		slices.Sort(axes[i])
	}
	h := chart.Heat{Title: axis.Title + " of each candidate", Width: chartWidth, X: chart.Category{Title: names[0]}, Y: chart.Category{Title: names[1]}}
	for _, x := range axes[0] {
		h.X.Values = append(h.X.Values, notations[names[0]].Format(x))
	}
	panel := chart.Panel{}
	for _, y := range axes[1] {
		h.Y.Values = append(h.Y.Values, notations[names[1]].Format(y))
		row := make([]chart.HeatCell, len(axes[0]))
		for i := range row {
			row[i].Shade = math.NaN()
		}
		panel.Cells = append(panel.Cells, row)
	}
	for i, k := range d.Candidates {
		x, _ := k.Setting.Number(names[0])
		y, _ := k.Setting.Number(names[1])
		is := chart.HeatCell{Shade: math.NaN(), Text: "–", Framed: k.Chosen, Title: k.Setting.In(notations) + ": " + d.Tuning[i].Score + d.Tuning[i].State}
		if k.Score != nil {
			is.Text, is.Shade = d.Tuning[i].Score, 0.5
			if high > low {
				is.Shade = (m.Shown(*k.Score) - low) / (high - low)
			}
			if !m.HigherIsBetter {
				is.Shade = 1 - is.Shade
			}
		}
		panel.Cells[slices.Index(axes[1], y)][slices.Index(axes[0], x)] = is
	}
	h.Panels = []chart.Panel{panel}
	d.Map = drawing(h.Draw())
}

// comparable links the rows that a row can be compared with: those with a value whose setting is part of
// its own.
func (v view) comparable(s *study, at place, j int) []compareLink {
	row, ok := s.table.Row(at.row)
	if !ok || row.Cells[j].State != results.OK {
		return nil
	}
	var out []compareLink
	for _, other := range s.table.Rows() {
		if to := v.pairPath(s, row, other, j); v.href(to) != "" {
			out = append(out, compareLink{other.FullTitle(), to})
		}
	}
	return out
}

// pairPath is the address of the comparison of two rows; "" if there is none. Rows with the same setting
// have one address in either order.
func (v view) pairPath(s *study, a, b results.Row, j int) string {
	alike := b.Setting.Within(a.Setting) && (len(b.Setting) < len(a.Setting) || len(a.Setting) == len(b.Setting))
	if a.ID == b.ID || !alike || a.Cells[j].State != results.OK || b.Cells[j].State != results.OK {
		return ""
	}
	if len(a.Setting) == len(b.Setting) {
		for _, r := range s.table.Rows() {
			if r.ID == b.ID {
				a, b = b, a
			}
			if r.ID == a.ID || r.ID == b.ID {
				break
			}
		}
	}
	return comparePath(s.id, s.table.Columns[j].ID, a.ID, b.ID)
}
