package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"ssdl/harness/results"
)

// cells is the grid of a heat map.
type cells struct {
	x, y []float64
	z    [][]float64 // by y, then x; NaN where there is none
}

func (c cells) Dims() (columns, rows int)  { return len(c.x), len(c.y) }
func (c cells) Z(column, row int) float64  { return c.z[row][column] }
func (c cells) X(column int) float64       { return float64(column) }
func (c cells) Y(row int) float64          { return float64(row) }
func (c cells) at(x, y float64) (int, int) { return slices.Index(c.x, x), slices.Index(c.y, y) }

// blues runs from white to dark blue, light enough in its lower half for black numbers.
type blues struct{}

func (blues) Colors() []color.Color {
	anchors := []color.RGBA{{247, 251, 255, 255}, {158, 202, 225, 255}, {49, 130, 189, 255}, {8, 48, 107, 255}}
	const steps = 64
	var out []color.Color
	for i := range len(anchors) - 1 {
		a, b := anchors[i], anchors[i+1]
		for s := range steps {
			mix := func(x, y uint8) uint8 { return uint8((int(x)*(steps-s) + int(y)*s) / steps) }
			out = append(out, color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255})
		}
	}
	return out
}

func (f Figure) heatMap(p *plot.Plot) error {
	xName, yName := f.Settings[0], f.Settings[1]
	g := cells{x: distinct(f.rows, xName), y: distinct(f.rows, yName)}
	for range g.y {
		row := make([]float64, len(g.x))
		for i := range row {
			row[i] = math.NaN()
		}
		g.z = append(g.z, row)
	}
	var labels plotter.XYLabels
	var dark []bool
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range f.rows {
		if c := r.Cells[f.column]; c.State == results.OK {
			low, high = min(low, c.Mean), max(high, c.Mean)
		}
	}
	for _, r := range f.rows {
		i, j := g.at(at(r, xName), at(r, yName))
		c := r.Cells[f.column]
		number := word(c.State)
		if c.State == results.OK {
			g.z[j][i] = c.Mean
			number, _ = value(f.table.Metric, c)
		}
		labels.XYs = append(labels.XYs, plotter.XY{X: float64(i), Y: float64(j)})
		labels.Labels = append(labels.Labels, number)
		dark = append(dark, c.State == results.OK && c.Mean > low+0.6*(high-low))
	}
	chart := plotter.NewHeatMap(g, blues{})
	chart.NaN = color.White
	if high == low { // one colour for one value
		chart.Min, chart.Max = low-1, high+1
	}
	numbers, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range numbers.TextStyle {
		s := &numbers.TextStyle[i]
		s.XAlign, s.YAlign, s.Font.Size = text.XCenter, text.YCenter, vg.Points(10)
		if dark[i] {
			s.Color = color.White
		}
	}
	p.Add(chart, numbers)
	p.X.Label.Text, p.Y.Label.Text = axisTitle(xName), axisTitle(yName)
	p.X.Tick.Marker, p.Y.Tick.Marker = places(g.x), places(g.y)
	markX, hasX := f.Mark[xName]
	markY, hasY := f.Mark[yName]
	if i, j := g.at(markX, markY); hasX && hasY && i >= 0 && j >= 0 {
		x, y := float64(i), float64(j)
		frame, err := plotter.NewLine(plotter.XYs{
			{X: x - 0.48, Y: y - 0.48}, {X: x + 0.48, Y: y - 0.48}, {X: x + 0.48, Y: y + 0.48}, {X: x - 0.48, Y: y + 0.48}, {X: x - 0.48, Y: y - 0.48},
		})
		if err != nil {
			return err
		}
		frame.Color, frame.Width = colours[1], vg.Points(2.5)
		p.Add(frame)
		p.Title.Text += "\nframed: the paper's setting"
	}
	return nil
}

// places labels the cells of an axis with their values.
func places(values []float64) plot.ConstantTicks {
	out := make(plot.ConstantTicks, len(values))
	for i, v := range values {
		out[i] = plot.Tick{Value: float64(i), Label: settingValue(v)}
	}
	return out
}
