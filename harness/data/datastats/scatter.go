package datastats

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"ssdl/harness/data"
	"ssdl/harness/sanitize"
)

// Sizes of the picture. The legend is beside the plot, in columns of at most legendRows.
const (
	plotSide    = 420 // points
	legendWidth = 175 // points, of one column
	legendRows  = 26
	lineHeight  = 15 // points
	resolution  = 150
	// maxLegend bounds the classes of the legend; a set with more classes has no legend.
	maxLegend  = 104
	maxClass   = 30 // characters of a class name
	maxNumbers = 60 // classes; more numbers would hide the points
)

// Scatter writes a PNG of the set's samples along the first two principal components of r.
// Colour and shape show the class; the number of a class is at its mean, and before its name
// in the legend.
func (r *Report) Scatter(w io.Writer, set *data.Set) error {
	p := plot.New()
	p.Title.Text, p.Title.Padding = "Samples of "+shorten(r.Name, 40)+" along their first two principal components", vg.Points(8)
	p.X.Label.Text = fmt.Sprintf("first component, %s of the variance", percent(r.PCA.Share[0]))
	p.Y.Label.Text = fmt.Sprintf("second component, %s of the variance", percent(r.PCA.Share[1]))
	points := r.PCA.points
	order := mixedOrder(len(points))
	xys := make(plotter.XYs, len(points))
	for i, j := range order {
		xys[i] = plotter.XY{X: points[j][0], Y: points[j][1]}
	}
	s, err := plotter.NewScatter(xys)
	if err != nil {
		return fmt.Errorf("picture of %s: %w", r.Name, err)
	}
	radius := vg.Points(min(2.4, max(0.9, 90/math.Sqrt(float64(len(points)+1)))))
	s.GlyphStyleFunc = func(i int) draw.GlyphStyle { return style(set.Labels[order[i]], radius) }
	p.Add(plotter.NewGrid(), s)
	classes := len(r.Classes)
	if classes <= maxNumbers {
		p.Add(classNumbers(points, set.Labels, classes, p.Legend.TextStyle))
	}

	columns := 0
	if classes <= maxLegend {
		columns = (classes + legendRows - 1) / legendRows
	}
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Points(float64(plotSide+legendWidth*columns)), vg.Points(plotSide)), vgimg.UseDPI(resolution))
	c := draw.New(canvas)
	c.FillPolygon(color.White, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Min.X, Y: c.Max.Y}})
	p.Draw(draw.Crop(c, 0, -vg.Points(float64(legendWidth*columns)), 0, -vg.Points(6)))
	rows := 0
	if columns > 0 {
		rows = (classes + columns - 1) / columns
	}
	font := p.Legend.TextStyle
	font.Font.Size, font.YAlign = vg.Points(9), text.YCenter
	for k := range classes * min(columns, 1) {
		at := vg.Point{
			X: vg.Points(float64(plotSide + 12 + legendWidth*(k/rows))),
			Y: c.Max.Y - vg.Points(30+float64(lineHeight*(k%rows))),
		}
		c.DrawGlyph(style(k, vg.Points(3)), at)
		at.X += vg.Points(8)
		c.FillText(font, at, strconv.Itoa(k+1)+" "+shorten(r.Classes[k].Name, maxClass))
	}
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// numbers draws the number of each class at the mean of its points, on white.
type numbers struct {
	at    plotter.XYs
	style text.Style
}

func classNumbers(points [][2]float64, labels []int, classes int, style text.Style) numbers {
	n := numbers{at: make(plotter.XYs, classes), style: style}
	size := make([]float64, classes)
	for i, y := range labels {
		n.at[y].X += points[i][0]
		n.at[y].Y += points[i][1]
		size[y]++
	}
	for y := range n.at {
		n.at[y].X /= size[y]
		n.at[y].Y /= size[y]
	}
	n.style.Font.Size, n.style.XAlign, n.style.YAlign = vg.Points(9), text.XCenter, text.YCenter
	return n
}

// Plot implements plot.Plotter. Numbers that would hide each other are moved away from each
// other, step by step, for at most a fixed number of steps.
func (n numbers) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	at := make([]vg.Point, len(n.at))
	for y, xy := range n.at {
		at[y] = vg.Point{X: toX(xy.X), Y: toY(xy.Y)}
	}
	const distance, steps = 12, 200 // points
	for range steps {
		for i := range at {
			for j := range i {
				d := at[i].Sub(at[j])
				length := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
				switch {
				case length >= distance:
					continue
				case length == 0:
					d, length = vg.Point{X: 1}, 1
				}
				push := d.Scale((distance - min(length, distance-1)) / (8 * length))
				at[i], at[j] = at[i].Add(push), at[j].Sub(push)
			}
		}
	}
	for y, pt := range at {
		c.DrawGlyph(draw.GlyphStyle{Color: color.NRGBA{255, 255, 255, 210}, Shape: draw.CircleGlyph{}, Radius: vg.Points(6.5)}, pt)
		c.FillText(n.style, pt, strconv.Itoa(y+1))
	}
}

// palette has colours that differ in print and for most colour-blind readers (Okabe and Ito),
// without the yellow, which is invisible on white.
var palette = []color.NRGBA{
	{0, 114, 178, 255},
	{213, 94, 0, 255},
	{0, 158, 115, 255},
	{204, 121, 167, 255},
	{230, 159, 0, 255},
	{86, 180, 233, 255},
	{90, 90, 90, 255},
	{120, 60, 20, 255},
}

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}, draw.PyramidGlyph{},
}

// style returns the style of class k: all colours with the first shape, then with the next.
func style(k int, radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[k%len(palette)], Shape: shapes[k/len(palette)%len(shapes)], Radius: radius}
}

// mixedOrder returns an order of 0..n-1 that mixes the classes of a sorted set, so that the last
// class does not cover the others: steps near the golden section that are coprime to n.
func mixedOrder(n int) []int {
	step := max(1, int(float64(n)*0.6180339887))
	for gcd(step, n) != 1 {
		step++
	}
	out := make([]int, n)
	for i, at := 0, 0; i < n; i, at = i+1, (at+step)%n {
		out[i] = at
	}
	return out
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// shorten makes an untrusted name one line of at most n characters.
func shorten(s string, n int) string {
	s = sanitize.Line(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}
