package web

import (
	"context"
	"fmt"
	"html/template"
	"strconv"

	"ssdl/harness/chart"
	"ssdl/harness/compare"
	"ssdl/harness/report"
	"ssdl/harness/results"
)

// compareData is the page that compares two rows on a data set.
type compareData struct {
	Spec, Table string
	Column      results.Column
	Metric      results.Metric
	A, B        comparedRow
	// Seeds are the common seeds.
	Seeds      []pairedSeed
	Difference compare.Difference
	Gain       string // with a sign; positive if A is better
	Interval   string
	P          string
	Wilcoxon   string
	Slope      template.HTML
	Gains      template.HTML // the gains with their interval, against 0
	Agreement  *results.Agreement
	Classes    template.HTML
}

// comparedRow is one of the two rows.
type comparedRow struct{ ID, Title, Text, Path string }

// pairedSeed is a seed with both values.
type pairedSeed struct {
	Seed         uint64
	A, B, Gain   string
	PathA, PathB string
}

func (v view) comparePage(ctx context.Context, id, column, a, b string) (page, error) {
	s, st, err := v.study(ctx, id)
	if err != nil {
		return page{}, err
	}
	j, err := s.column(column)
	if err != nil {
		return page{}, err
	}
	var rows [2]results.Row
	var cells [2]results.Explanation
	for i, row := range []string{a, b} {
		var ok bool
		if rows[i], ok = s.table.Row(row); !ok || rows[i].Cells[j].State != results.OK {
			return page{}, notFound("%s has no result of %q on %s", id, row, column)
		}
		cells[i], _ = s.explain(place{row, column})
	}
	m := cells[0].Metric
	d := compareData{Spec: id, Table: tableTitle(s), Column: s.table.Columns[j], Metric: m}
	for i, to := range []*comparedRow{&d.A, &d.B} {
		c := rows[i].Cells[j]
		*to = comparedRow{rows[i].ID, rows[i].FullTitle(), number(m, c.Mean, false), cellPath(id, rows[i].ID, column)}
		if c.N > 1 {
			to.Text += " ± " + number(m, c.SD, false)
		}
	}
	pairs := compare.Pair(rows[0].Cells[j], rows[1].Cells[j], m)
	d.Difference = pairs.Difference(s.ratio)
	finer := m
	finer.Decimals++
	if d.Difference.N > 0 {
		d.Gain = number(finer, d.Difference.Gain, true)
	}
	if i := d.Difference.Interval; i != nil {
		d.Interval = number(finer, i.Low, true) + " … " + number(finer, i.High, true)
		d.P, d.Wilcoxon = probability(d.Difference.P), probability(d.Difference.Wilcoxon)
	}
	d.draw(v, rows, cells, pairs, j)
	if d.Agreement, err = results.AgreementOf(ctx, st, cells[0], cells[1]); err != nil {
		return page{}, err
	}
	d.drawClasses()
	return page{Title: d.A.Title + " against " + d.B.Title + " on " + d.Column.Title, Section: "/tables", Template: "compare", Data: d}, nil
}

func probability(p *float64) string {
	switch {
	case p == nil:
		return ""
	case *p < 0.0005:
		return "< 0.001"
	}
	return strconv.FormatFloat(*p, 'f', 3, 64)
}

// draw joins the values by seed, and draws the gain of each seed with the interval of the mean gain.
func (d *compareData) draw(v view, rows [2]results.Row, cells [2]results.Explanation, pairs compare.Pairs, j int) {
	m := d.Metric
	of := func(i int, seed uint64) (value float64, path string) {
		for _, s := range rows[i].Cells[j].Samples {
			if s.Seed == seed {
				value = s.Value
			}
		}
		for _, r := range cells[i].Runs {
			if r.Seed == seed && r.UID != "" {
				path = runPath(r.UID)
			}
		}
		return value, path
	}
	slope := chart.Slope{Title: "values of both rows, joined by seed", Axis: chart.Axis{Title: report.Quantity(m)}, Left: chart.Shorten(d.A.Title, 22), Right: chart.Shorten(d.B.Title, 22), Width: chartWidth, Height: 300}
	gains := chart.Intervals{
		Title: "gain of the first row under each seed", Width: chartWidth, Lines: []chart.Reference{{Text: "no difference", Ink: chart.Soft}},
		Axis: chart.Axis{Title: "gain of " + chart.Shorten(d.A.Title, 30) + unitOfGain(m)},
	}
	for i, seed := range pairs.Seeds {
		left, pathA := of(0, seed)
		right, pathB := of(1, seed)
		gain := pairs.X[i] - pairs.Y[i]
		is := pairedSeed{seed, number(m, left, false), number(m, right, false), number(m, gain, true), pathA, pathB}
		d.Seeds = append(d.Seeds, is)
		slope.Items = append(slope.Items, chart.SlopeItem{
			Name: strconv.FormatUint(seed, 10), Left: left, Right: right, LeftText: is.A, RightText: is.B, Link: v.href(pathA),
			Title: fmt.Sprintf("seed %d: %s and %s", seed, is.A, is.B), Strong: true,
		})
		gains.Rows = append(gains.Rows, chart.Row{Name: strconv.FormatUint(seed, 10), Value: gain, Low: gain, High: gain, Text: is.Gain})
	}
	if len(d.Seeds) == 0 {
		return
	}
	mean := chart.Row{Name: "mean", Value: d.Difference.Gain, Low: d.Difference.Gain, High: d.Difference.Gain, Text: d.Gain, Ink: chart.Foreground, Gap: true}
	if i := d.Difference.Interval; i != nil {
		mean.Low, mean.High = i.Low, i.High
	}
	gains.Rows = append(gains.Rows, mean)
	d.Slope, d.Gains = drawing(slope.Draw()), drawing(gains.Draw())
}

func unitOfGain(m results.Metric) string {
	if m.Unit == "%" {
		return " (points)"
	}
	return ""
}

// drawClasses draws, for each class, which row predicts the samples right.
func (d *compareData) drawClasses() {
	if d.Agreement == nil {
		return
	}
	c := chart.Stack{
		Title: "test samples of each class by which row gets them right", Width: chartWidth, Axis: chart.Axis{Title: "test samples, summed over seeds"},
		Parts: []chart.Part{
			{Name: "both right", Ink: chart.Faint},
			{Name: "only " + chart.Shorten(d.A.Title, 24), Ink: chart.Series(0)},
			{Name: "only " + chart.Shorten(d.B.Title, 24), Ink: chart.Series(4)},
			{Name: "neither", Ink: chart.Series(6)},
		},
	}
	for _, k := range d.Agreement.Classes {
		c.Rows = append(c.Rows, chart.StackRow{
			Name: k.Class, Counts: []int{k.Both, k.First, k.Second, k.Neither},
			Title: fmt.Sprintf("%s: both %d, only the first %d, only the second %d, neither %d", k.Class, k.Both, k.First, k.Second, k.Neither),
		})
	}
	d.Classes = drawing(c.Draw())
}
