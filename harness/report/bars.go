package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"ssdl/harness/results"
	"ssdl/harness/sanitize"
)

// bars draws a bar for each row, with its value above it.
func (f Figure) bars(p *plot.Plot) error {
	values, names := make(plotter.Values, len(f.rows)), make([]string, len(f.rows))
	var spread struct { // of those with more than one seed
		plotter.XYs
		plotter.YErrors
	}
	var labels plotter.XYLabels
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range f.rows {
		if c := r.Cells[f.column]; c.State == results.OK {
			low, high = min(low, c.Mean-c.SD), max(high, c.Mean+c.SD)
		}
	}
	// Room for the numbers above, and below as much as the bars differ; where that is not down to 0
	// the label says so.
	room := max(high-low, 0.1*math.Abs(high), 1e-9)
	yMin, yMax := max(0, low-room), high+0.15*room
	for i, r := range f.rows {
		c := r.Cells[f.column]
		at, number := plotter.XY{X: float64(i), Y: yMin}, word(c.State)
		values[i], names[i] = yMin, daggered(sanitize.Line(r.FullTitle()), f.tunedOnTest(r))
		if c.State == results.OK {
			values[i], at.Y = c.Mean, c.Mean+c.SD
			number, _ = value(f.table.Metric, c)
		}
		if c.State == results.OK && c.N > 1 {
			spread.XYs = append(spread.XYs, plotter.XY{X: float64(i), Y: c.Mean})
			spread.YErrors = append(spread.YErrors, struct{ Low, High float64 }{c.SD, c.SD})
		}
		labels.XYs = append(labels.XYs, at)
		labels.Labels = append(labels.Labels, number)
	}
	chart, err := plotter.NewBarChart(values, vg.Points(28))
	if err != nil {
		return err
	}
	chart.Color, chart.LineStyle.Width = colours[5], vg.Points(0.5)
	bars, err := plotter.NewYErrorBars(spread)
	if err != nil {
		return err
	}
	numbers, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range numbers.TextStyle {
		numbers.TextStyle[i].XAlign, numbers.TextStyle[i].Font.Size = text.XCenter, vg.Points(9)
	}
	numbers.Offset.Y = vg.Points(3)
	p.Add(chart, bars, numbers)
	p.NominalX(names...)
	p.X.Tick.Label.Font.Size = vg.Points(9)
	p.Y.Min, p.Y.Max = yMin, yMax
	if p.Y.Min > 0 {
		p.Y.Label.Text += ", axis cut"
	}
	return nil
}
