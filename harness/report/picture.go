package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/chart"
	"ssdl/harness/results"
	"ssdl/harness/sanitize"
	"ssdl/harness/spec"
)

// figureDrawing is a figure with the options of one drawing.
type figureDrawing struct {
	Figure
	heading string
	notes   []string
	width   float64
	link    func(row string) string
}

// cellText is the mean, or why there is none.
func (p figureDrawing) cellText(c results.Cell) string {
	if c.State != results.OK {
		return stateText(c.State)
	}
	return withDeviation(shownValue(p.table.Metric, c))
}

// intervals draws a line for each row. If the spec has steps, they form a waterfall, and the other rows
// become reference lines.
func (p figureDrawing) intervals() chart.Intervals {
	c := chart.Intervals{Title: p.Title, Heading: p.heading, Notes: p.notes, Axis: chart.Axis{Title: Quantity(p.table.Metric)}, Width: p.width}
	above := math.NaN() // value of the previous step
	steps := slices.ContainsFunc(p.rows, func(r results.Row) bool { return r.Role == results.Step })
	var learners map[string]bool
	if !steps {
		learners = p.learners()
	}
	if len(learners) > 0 {
		c.Notes = append(slices.Clone(c.Notes), "grey: the learner alone, on labelled samples")
	}
	method := "" // of the row before
	for _, r := range p.rows {
		cell := r.Cells[p.column]
		if steps && r.Role != results.Step && cell.State == results.OK {
			ink := []chart.Ink{chart.Soft, chart.Foreground}[len(c.Lines)%2] // chart.Printed is for numbers of the paper
			mean, _ := shownValue(p.table.Metric, cell)
			c.Lines = append(c.Lines, chart.Reference{Value: cell.Mean, Text: sanitize.Line(r.FullTitle()) + p.signs(r) + " " + mean, Ink: ink})
			continue
		}
		row := chart.Row{Name: sanitize.Line(r.FullTitle()) + p.signs(r), Value: math.NaN(), Text: p.cellText(cell), Link: p.link(r.ID), Step: r.Role == results.Step}
		row.Low, row.High = math.NaN(), math.NaN()
		if len(learners) > 0 {
			row.Gap = method != "" && r.Method != method
			if method = r.Method; learners[method] && r.Pretext == "" {
				row.Ink = chart.Soft
			}
		}
		if cell.State == results.OK {
			row.Value, row.Low, row.High = cell.Mean, cell.Mean-cell.SD, cell.Mean+cell.SD
			if row.Step && !math.IsNaN(above) {
				switch m := p.table.Metric; {
				case m.Better(cell.Mean, above):
					row.Ink = chart.Good
				case m.Better(above, cell.Mean):
					row.Ink = chart.Bad
				}
				row.Text += " (" + Signed(cell.Mean-above, p.table.Metric.Decimals) + ")"
			}
			above = cell.Mean
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// learners are the methods with a row of their own and another behind a pretext task.
func (p figureDrawing) learners() map[string]bool {
	both := map[string]bool{}
	for _, a := range p.rows {
		for _, b := range p.rows {
			if a.Method != "" && a.Method == b.Method && a.Pretext == "" && b.Pretext != "" {
				both[a.Method] = true
			}
		}
	}
	return both
}

// series groups the rows of a sweep by method, in the order of the table. It omits methods without values.
// A missing value is NaN: the curve has a gap.
func (p figureDrawing) series() []chart.Curve {
	rows := slices.Clone(p.rows)
	slices.SortStableFunc(rows, func(a, b results.Row) int {
		return cmp.Compare(settingValue(a, p.Settings[0]), settingValue(b, p.Settings[0]))
	})
	var ids []string
	var out []chart.Curve
	signs := map[string]string{}
	for _, r := range p.rows {
		if !slices.Contains(ids, r.Base) {
			ids, out = append(ids, r.Base), append(out, chart.Curve{Name: sanitize.Line(r.Title)})
		}
	}
	for _, r := range rows {
		curve, cell := &out[slices.Index(ids, r.Base)], r.Cells[p.column]
		point := chart.Sample{X: settingValue(r, p.Settings[0]), Y: math.NaN(), Low: math.NaN(), High: math.NaN(), Link: p.link(r.ID)}
		if cell.State == results.OK {
			point.Y, point.Low, point.High = cell.Mean, cell.Mean-cell.SD, cell.Mean+cell.SD
			point.Title = sanitize.Line(r.FullTitle()) + ": " + p.cellText(cell)
			if s := p.signs(r); len(s) > len(signs[r.Base]) {
				signs[r.Base] = s
			}
		}
		curve.Points = append(curve.Points, point)
	}
	var kept []chart.Curve
	for i, curve := range out {
		if slices.ContainsFunc(curve.Points, func(s chart.Sample) bool { return !math.IsNaN(s.Y) }) {
			curve.Name += signs[ids[i]]
			kept = append(kept, curve)
		}
	}
	return kept
}

func (p figureDrawing) curves() chart.Drawing {
	name := p.Settings[0]
	values := distinct(p.rows, name)
	c := chart.Curves{
		Title: p.Title, Heading: p.heading, Notes: p.notes, Curves: p.series(), Width: p.width,
		X: chart.Axis{Title: axisTitle(name), Ticks: ticks(values), Log: needsLog(values)}, Y: chart.Axis{Title: Quantity(p.table.Metric)},
	}
	if at, ok := p.Mark[name]; ok && at >= values[0] && at <= values[len(values)-1] {
		c.Mark = &chart.Reference{Value: at, Text: "the paper's setting, " + notationOf(append(values, at)).Format(at), Ink: chart.Printed}
	}
	return c.Draw()
}

// marked reports whether a map has a cell at the paper's setting.
func (f Figure) marked() bool {
	return slices.ContainsFunc(f.rows, f.isMarked)
}

func (f Figure) isMarked(r results.Row) bool {
	for _, name := range f.Settings {
		if v, ok := f.Mark[name]; !ok || settingValue(r, name) != v {
			return false
		}
	}
	return true
}

// maps draws a row that sweeps two settings; a third becomes panels, one for each value of the setting with
// the fewest values.
func (p figureDrawing) maps() chart.Drawing {
	names := slices.Clone(p.Settings)
	panel, panels := "", []float64{0}
	if len(names) == 3 {
		panel = slices.MinFunc(names, func(a, b string) int { return len(distinct(p.rows, a)) - len(distinct(p.rows, b)) })
		names = slices.DeleteFunc(names, func(s string) bool { return s == panel })
		panels = distinct(p.rows, panel)
	}
	xs, ys := distinct(p.rows, names[0]), distinct(p.rows, names[1])
	c := chart.Heat{
		Title: p.Title, Heading: p.heading, Notes: p.notes, Width: p.width,
		X: chart.Category{Title: axisTitle(names[0]), Values: texts(xs)}, Y: chart.Category{Title: axisTitle(names[1]), Values: texts(ys)},
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range p.rows {
		if cell := r.Cells[p.column]; cell.State == results.OK {
			low, high = min(low, cell.Mean), max(high, cell.Mean)
		}
	}
	for _, v := range panels {
		m := chart.Panel{}
		if panel != "" {
			m.Name = axisTitle(panel) + " = " + notationOf(panels).Format(v)
		}
		for range ys {
			row := make([]chart.HeatCell, len(xs))
			for i := range row {
				row[i].Shade = math.NaN()
			}
			m.Cells = append(m.Cells, row)
		}
		for _, r := range p.rows {
			if panel != "" && settingValue(r, panel) != v {
				continue
			}
			cell := r.Cells[p.column]
			is := chart.HeatCell{Shade: math.NaN(), Text: stateText(cell.State), Framed: p.isMarked(r), Link: p.link(r.ID)}
			is.Title = sanitize.Line(r.FullTitle()) + ": " + p.cellText(cell)
			if cell.State == results.OK {
				is.Text, _ = shownValue(p.table.Metric, cell)
				is.Shade = 0.5
				if high > low {
					is.Shade = (cell.Mean - low) / (high - low)
				}
			}
			m.Cells[slices.Index(ys, settingValue(r, names[1]))][slices.Index(xs, settingValue(r, names[0]))] = is
		}
		c.Panels = append(c.Panels, m)
	}
	return c.Draw()
}

func texts(values []float64) []string {
	out := make([]string, len(values))
	n := notationOf(values)
	for i, v := range values {
		out[i] = n.Format(v)
	}
	return out
}

// notationOf is the notation of the values of an axis.
func notationOf(values []float64) spec.Notation {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return spec.NotationOf(list)
}

// readingCurve draws a specification curve.
func (p figureDrawing) readingCurve() chart.Drawing {
	r := p.Readings
	c := chart.Readings{Title: p.Title, Heading: p.heading, Notes: p.notes, Axis: chart.Axis{Title: Quantity(r.Metric)}, Shares: "median"}
	notations := p.table.Notations()
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', r.Metric.Decimals, 64) }
	for _, s := range r.Switches {
		sw := chart.Switch{Name: strings.TrimPrefix(s.Name, "pretext.")}
		for _, v := range s.Values {
			share := ""
			if v.N > 0 {
				share = number(v.Median)
				if v.Ahead != nil {
					c.Shares, share = "median, ahead", share+fmt.Sprintf(", %d/%d", *v.Ahead, v.N)
				}
			}
			sw.Values = append(sw.Values, chart.SwitchValue{Name: s.Notation().Format(v.Value), Share: share})
		}
		c.Switches = append(c.Switches, sw)
	}
	for i, b := range r.Baselines {
		c.Lines = append(c.Lines, chart.Reference{Value: *b.Mean, Text: sanitize.Line(b.Title) + " " + number(*b.Mean), Ink: []chart.Ink{chart.Foreground, chart.Bad}[i%2]})
	}
	for _, a := range r.Alike {
		c.Others = append(c.Others, sanitize.Line(a.Title))
	}
	for _, x := range r.Readings {
		is := chart.Reading{Value: x.Mean, Low: x.Mean, High: x.Mean, Choice: x.Choice, Link: p.link(x.Row), Title: number(x.Mean) + " " + r.Metric.Unit + ", " + x.Setting.In(notations)}
		if x.Interval != nil {
			is.Low, is.High = x.Interval.Low, x.Interval.High
		}
		for _, v := range x.Alike {
			if v == nil {
				is.Others = append(is.Others, math.NaN())
				continue
			}
			is.Others = append(is.Others, *v)
		}
		keys := make([]string, len(x.Choice))
		for i, k := range x.Choice {
			keys[i] = strconv.Itoa(k)
		}
		is.Key = strings.Join(keys, ".")
		c.Readings = append(c.Readings, is)
	}
	return c.Draw()
}

// readingsNote explains a specification curve.
func (f Figure) readingsNote() string {
	fewest, most, single := math.MaxInt, 0, false
	for _, x := range f.Readings.Readings {
		fewest, most, single = min(fewest, x.N), max(most, x.N), single || x.Interval == nil
	}
	s := fmt.Sprintf("%s: means over %s with their 95 %% intervals", f.Readings.Title, Count(most, "seed", "seeds"))
	if fewest < most {
		s = fmt.Sprintf("%s: means over %d to %d seeds with their 95 %% intervals", f.Readings.Title, fewest, most)
	}
	if single {
		s += "; one seed has none"
	}
	if n := f.Readings.Missing; n > 0 {
		s += "; " + Count(n, "reading has", "readings have") + " no value"
	}
	if len(f.Readings.Baselines)+len(f.Readings.Alike) > 0 {
		s += "; ahead: better than every line and every square of its column"
	}
	return s
}
