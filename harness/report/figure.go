package report

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"ssdl/harness/results"
	"ssdl/harness/sanitize"
)

// Figure is a picture of one column of a table: bars for rows without a setting, curves for
// rows that sweep one setting, a heat map for a row that sweeps two.
type Figure struct {
	// Name is that of its files, without the ending.
	Name string
	// Title stands above the picture.
	Title string
	// Column is the data set.
	Column results.Column
	// Settings are the swept settings: none, one or two.
	Settings []string
	rows     []results.Row // those without a value too
	column   int
	table    *results.Table
	// Mark is the value of each setting that the paper works at; the picture shows it.
	Mark map[string]float64
}

// Figures lists the pictures of a table: one for each column that has results and each set of
// settings that its rows sweep. mark says where the paper works, by data set and setting.
func Figures(t *results.Table, mark func(dataset, setting string) (float64, bool)) []Figure {
	var out []Figure
	for j, col := range t.Columns {
		if col.Published {
			continue
		}
		var done []string
		for _, r := range t.Rows() {
			if r.Cells[j].State != results.OK || len(r.Setting) > 2 || !r.Setting.Numeric() || slices.Contains(done, picture(r)) {
				continue
			}
			done = append(done, picture(r))
			out = append(out, newFigure(t, j, r, mark))
		}
	}
	return out
}

// newFigure is the picture of column j that row r is in.
func newFigure(t *results.Table, j int, r results.Row, mark func(dataset, setting string) (float64, bool)) Figure {
	col, settings := t.Columns[j], swept(r)
	f := Figure{Column: col, Settings: settings, Title: strings.TrimSuffix(t.Caption, ".") + ", " + head(t, j), column: j, table: t, Mark: map[string]float64{}}
	parts := []string{t.ID, col.ID}
	alone := true
	for _, o := range t.Rows() {
		switch {
		case !slices.Equal(swept(o), settings) || !o.Setting.Numeric():
		case picture(o) != picture(r):
			alone = false
		default:
			f.rows = append(f.rows, o)
		}
	}
	if !alone {
		parts = append(parts, r.Base)
		f.Title += ", " + r.Title
	}
	for _, name := range settings {
		parts = append(parts, strings.TrimPrefix(name, "pretext."))
		if v, ok := mark(col.PaperSet(), name); ok {
			f.Mark[name] = v
		}
	}
	if col.Synthetic {
		parts = append(parts, "synthetic")
	}
	f.Name, f.Title = strings.Join(parts, "-"), sanitize.Line(f.Title)
	return f
}

// swept are the names of what the row sweeps, in order.
func swept(r results.Row) []string {
	names := make([]string, len(r.Setting))
	for i, v := range r.Setting {
		names[i] = v.Name
	}
	slices.Sort(names)
	return names
}

// picture names what a row is drawn in: rows that sweep the same share a picture, but a map has room
// for one row.
func picture(r results.Row) string {
	key := strings.Join(swept(r), " ")
	if len(r.Setting) == 2 {
		key = r.Base + " " + key
	}
	return key
}

// at is the value of a swept setting.
func at(r results.Row, setting string) float64 {
	v, _ := r.Setting.Number(setting)
	return v
}

// Draw writes the picture as "png" or "svg".
func (f Figure) Draw(w io.Writer, format string) error {
	p := plot.New()
	p.Title.Text, p.Title.Padding = f.heading(), vg.Points(8)
	p.Y.Label.Text = f.quantity()
	width, height := vg.Points(480), vg.Points(320)
	var err error
	switch len(f.Settings) {
	case 0:
		width = vg.Points(float64(max(480, 160+60*len(f.rows)))) // the title takes as much
		err = f.bars(p)
	case 1:
		err = f.curves(p)
	default:
		width, height = vg.Points(520), vg.Points(440)
		err = f.heatMap(p)
	}
	if err != nil {
		return fmt.Errorf("figure %s: %w", f.Name, err)
	}
	canvas, err := p.WriterTo(width, height, format)
	if err != nil {
		return fmt.Errorf("figure %s: %w", f.Name, err)
	}
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return fmt.Errorf("figure %s: %w", f.Name, err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}

// heading is the title, with what the reader must know beside it.
func (f Figure) heading() string {
	tuned := len(f.TunedOnTest()) > 0
	// A heat map has no names that could bear the sign.
	s := daggered(f.Title, tuned && len(f.Settings) == 2) + "\n" + f.note()
	if tuned {
		s += "\n† " + TunedOnTestText
	}
	return s
}

// note says what the values are of, and how many there should be.
func (f Figure) note() string {
	fewest, most, missing := math.MaxInt, 0, 0
	for _, r := range f.rows {
		c := r.Cells[f.column]
		if c.State != results.OK {
			missing++
			continue
		}
		fewest, most = min(fewest, c.N), max(most, c.N)
	}
	s := "mean and standard deviation over "
	if len(f.Settings) == 2 {
		s = "mean over " // the map has no room for more
	}
	switch {
	case most == 1:
		s = "one seed"
	case fewest == most:
		s += fmt.Sprintf("%d seeds", most)
	default:
		s += fmt.Sprintf("%d to %d seeds", fewest, most)
	}
	if missing > 0 {
		s += fmt.Sprintf("; %d of %d values are missing", missing, len(f.rows))
	}
	return s
}

// tunedOnTest says that the value of a row has parameters chosen on the test part.
func (f Figure) tunedOnTest(r results.Row) bool {
	c := r.Cells[f.column]
	return c.State == results.OK && c.TunedOnTest
}

// TunedOnTest lists the rows in the picture with a value whose parameters were chosen on the
// test part, by their titles: those with †.
func (f Figure) TunedOnTest() (titles []string) {
	for _, r := range f.rows {
		if title := sanitize.Line(r.Title); f.tunedOnTest(r) && !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return titles
}

// daggered is a name with the sign, where it needs one.
func daggered(name string, tunedOnTest bool) string {
	if tunedOnTest {
		return name + "†"
	}
	return name
}

// quantity names what the cells hold.
func (f Figure) quantity() string {
	m := f.table.Metric
	if m.Unit != "" {
		return sanitize.Line(m.Title + " (" + m.Unit + ")")
	}
	return sanitize.Line(m.Title)
}

// series is a curve: a method over the values of a setting.
type series struct {
	id, title string
	plotter.XYs
	plotter.YErrors
	runs        []plotter.XYs // XYs, cut where a value is missing
	tunedOnTest bool
}

// series groups the rows by method, in the order of the table. A method without a value is left out.
func (f Figure) series() []*series {
	rows := slices.Clone(f.rows)
	slices.SortStableFunc(rows, func(a, b results.Row) int { return cmp.Compare(at(a, f.Settings[0]), at(b, f.Settings[0])) })
	var out []*series
	for _, r := range rows {
		i := slices.IndexFunc(out, func(s *series) bool { return s.id == r.Base })
		if i < 0 {
			i = len(out)
			out = append(out, &series{id: r.Base, title: sanitize.Line(r.Title)})
		}
		c, s := r.Cells[f.column], out[i]
		if c.State != results.OK {
			s.runs = append(s.runs, nil)
			continue
		}
		s.tunedOnTest = s.tunedOnTest || f.tunedOnTest(r)
		point := plotter.XY{X: at(r, f.Settings[0]), Y: c.Mean}
		s.XYs = append(s.XYs, point)
		s.YErrors = append(s.YErrors, struct{ Low, High float64 }{c.SD, c.SD})
		if len(s.runs) == 0 {
			s.runs = append(s.runs, nil)
		}
		last := &s.runs[len(s.runs)-1]
		*last = append(*last, point)
	}
	return slices.DeleteFunc(out, func(s *series) bool { return len(s.XYs) == 0 })
}

// colours tell curves apart in print and for most colour-blind readers (Okabe and Ito).
var colours = []color.RGBA{
	{0, 114, 178, 255},
	{213, 94, 0, 255},
	{0, 158, 115, 255},
	{204, 121, 167, 255},
	{230, 159, 0, 255},
	{86, 180, 233, 255},
	{0, 0, 0, 255},
}

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{}, draw.PyramidGlyph{},
}

func (f Figure) curves(p *plot.Plot) error {
	name := f.Settings[0]
	all, values := f.series(), distinct(f.rows, name)
	for i, s := range all {
		line, points, err := plotter.NewLinePoints(s.XYs)
		if err != nil {
			return err
		}
		bars, err := plotter.NewYErrorBars(s)
		if err != nil {
			return err
		}
		c := colours[i%len(colours)]
		line.Color, line.Width = c, vg.Points(1.2)
		points.Color, points.Shape, points.Radius = c, shapes[i%len(shapes)], vg.Points(2.6)
		bars.Color, bars.CapWidth = c, vg.Points(4)
		for _, run := range s.runs {
			if len(run) > 0 {
				p.Add(&plotter.Line{XYs: run, LineStyle: line.LineStyle})
			}
		}
		p.Add(bars, points)
		p.Legend.Add(daggered(s.title, s.tunedOnTest), line, points)
	}
	p.X.Min, p.X.Max = values[0], values[len(values)-1]
	p.X.Label.Text = axisTitle(name)
	if wide(values) {
		p.X.Scale = plot.LogScale{}
	}
	p.X.Tick.Marker = ticks(values)
	// Room for the legend, which hides nothing then.
	p.Y.Max += (p.Y.Max - p.Y.Min) * 0.09 * float64(len(all))
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs, p.Legend.YOffs = true, true, vg.Points(6), vg.Points(-4)
	p.Legend.TextStyle.Font.Size = vg.Points(9)
	if at, ok := f.Mark[name]; ok && at >= values[0] && at <= values[len(values)-1] {
		line, err := plotter.NewLine(plotter.XYs{{X: at, Y: p.Y.Min}, {X: at, Y: p.Y.Max}})
		if err != nil {
			return err
		}
		line.Color, line.Dashes = color.Gray{120}, []vg.Length{vg.Points(3), vg.Points(3)}
		p.Add(line)
		p.Legend.Add("the paper's setting, "+settingValue(at), line)
	}
	return nil
}

// wide says that values ask for a logarithmic axis.
func wide(values []float64) bool {
	return values[0] > 0 && values[len(values)-1] >= 50*values[0]
}

// ticks puts a mark at each value.
func ticks(values []float64) plot.ConstantTicks {
	out := make(plot.ConstantTicks, len(values))
	for i, v := range values {
		out[i] = plot.Tick{Value: v, Label: settingValue(v)}
	}
	return out
}

// settingValue writes a value of a setting: powers of two below 1/8 as such.
func settingValue(v float64) string {
	if frac, exp := math.Frexp(v); frac == 0.5 && exp < -2 {
		return fmt.Sprintf("2^%d", exp-1)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// axisTitle names a setting.
func axisTitle(name string) string {
	if name == "label-rate" {
		return "share of labelled training samples"
	}
	return strings.TrimPrefix(name, "pretext.")
}

// distinct returns the values of a setting, in order.
func distinct(rows []results.Row, name string) (out []float64) {
	for _, r := range rows {
		if v := at(r, name); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}
