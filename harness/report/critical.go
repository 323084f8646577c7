package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"ssdl/harness/sanitize"
)

// CriticalDifference is a diagram of mean ranks after Demšar, "Statistical Comparisons of
// Classifiers over Multiple Data Sets" (JMLR 7, 2006): an axis of ranks with the best on
// the left, a line from each method to its rank, bars over the methods that a post-hoc
// test does not tell apart, and the critical difference to scale above the axis.
type CriticalDifference struct {
	// Title stands above the diagram, Notes in small print below it.
	Title string
	Notes []string
	// Methods and their mean Ranks are in ascending order of the ranks.
	Methods []string
	Ranks   []float64
	// TunedOnTest marks the methods with parameters chosen on the test part, by a † and a line
	// under the title; nil if there is none.
	TunedOnTest []bool
	// Critical is the difference of mean ranks from which two methods differ.
	Critical float64
	// Cliques are ranges from..to of Methods, both included, under one bar each.
	Cliques [][2]int
}

// Lengths of the diagram, in points.
const (
	cdMargin  = vg.Length(14)
	cdAxis    = vg.Length(420) // length of the axis
	cdRow     = vg.Length(19)  // from one name to the next
	cdBar     = vg.Length(9)   // from one bar to the next
	cdGap     = vg.Length(10)  // between the axis and the leaders
	cdTextGap = vg.Length(5)
)

// check reports what makes the diagram unfit to draw.
func (d CriticalDifference) check() error {
	n := len(d.Methods)
	switch {
	case n < 2:
		return fmt.Errorf("%d method(s), at least 2 are needed", n)
	case len(d.Ranks) != n:
		return fmt.Errorf("%d ranks of %d methods", len(d.Ranks), n)
	case d.TunedOnTest != nil && len(d.TunedOnTest) != n:
		return fmt.Errorf("%d marks of %d methods", len(d.TunedOnTest), n)
	case !slices.IsSorted(d.Ranks) || !(d.Ranks[0] >= 1) || !(d.Ranks[n-1] <= float64(n)):
		return fmt.Errorf("ranks %v, want ascending ones in 1..%d", d.Ranks, n)
	case !(d.Critical > 0) || math.IsInf(d.Critical, 1):
		return fmt.Errorf("critical difference %v, want a positive one", d.Critical)
	}
	for _, c := range d.Cliques {
		if c[0] < 0 || c[0] >= c[1] || c[1] >= n {
			return fmt.Errorf("clique %d..%d of %d methods", c[0], c[1], n)
		}
	}
	return nil
}

// Draw writes the diagram as "png" or "svg".
func (d CriticalDifference) Draw(w io.Writer, format string) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("critical-difference diagram: %w", err)
	}
	l := d.layout()
	var out vg.CanvasWriterTo
	switch format {
	case "png":
		out = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(l.width, l.height), vgimg.UseDPI(192))}
	case "svg":
		out = vgsvg.New(l.width, l.height)
	default:
		return fmt.Errorf("critical-difference diagram: unknown format %q; there are png and svg", format)
	}
	c := draw.NewCanvas(out, l.width, l.height)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	l.draw(c)
	var buf bytes.Buffer
	if _, err := out.WriteTo(&buf); err != nil {
		return fmt.Errorf("critical-difference diagram: %w", err)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// cdLayout is a diagram with its places; y grows upwards.
type cdLayout struct {
	CriticalDifference
	title, name, small text.Style
	width, height      vg.Length
	left, right        vg.Length // ends of the axis
	axis               vg.Length // height of the axis
	levels             []int     // of the cliques' bars, 0 next to the axis
	first              vg.Length // height of the uppermost leader
	leftEnd, rightEnd  vg.Length // where leaders end
	shown              []string  // the methods' names
	warning            string    // under the title
	widest             vg.Length // of the ranks as written
}

func style(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.From(plot.DefaultFont, size), Handler: plot.DefaultTextHandler}
}

func (d CriticalDifference) layout() cdLayout {
	gray := color.Gray{90}
	l := cdLayout{CriticalDifference: d, title: style(12, color.Black), name: style(11, color.Black), small: style(9, gray)}
	half := (len(d.Methods) + 1) / 2
	var leftText, rightText vg.Length
	for i, m := range d.Methods {
		tuned := d.TunedOnTest != nil && d.TunedOnTest[i]
		if tuned {
			l.warning = "† " + TunedOnTestText
		}
		l.shown = append(l.shown, daggered(sanitize.Line(m), tuned))
		l.widest = max(l.widest, l.small.Width(l.rank(i)))
		if w := l.name.Width(l.shown[i]); i < half {
			leftText = max(leftText, w)
		} else {
			rightText = max(rightText, w)
		}
	}
	l.leftEnd = cdMargin + leftText + cdTextGap + l.widest + cdTextGap
	l.left = l.leftEnd + 2*cdRow
	l.right = l.left + cdAxis
	l.rightEnd = l.right + 2*cdRow
	l.width = l.rightEnd + cdTextGap + l.widest + cdTextGap + rightText + cdMargin
	l.width = max(l.width, l.title.Width(sanitize.Line(d.Title))+2*cdMargin, l.small.Width(l.warning)+2*cdMargin)
	for _, s := range d.Notes {
		l.width = max(l.width, l.small.Width(sanitize.Line(s))+2*cdMargin)
	}
	levels := 0
	l.levels = stack(d.Cliques, func(i int) float64 { return d.Ranks[i] }, float64(len(d.Methods)-1)/40)
	for _, v := range l.levels {
		levels = max(levels, v+1)
	}
	above := vg.Length(62) // the title, the critical difference and the numbers of the axis
	if l.warning != "" {
		above += 13
	}
	below := cdGap + vg.Length(levels)*cdBar + vg.Length(half)*cdRow + vg.Length(len(d.Notes))*13 + cdMargin
	if len(d.Notes) > 0 {
		below += 6
	}
	l.height = cdMargin + above + below
	l.axis = below
	l.first = l.axis - cdGap - vg.Length(levels)*cdBar - cdRow/2
	return l
}

// stack gives bars that would touch different levels, the lowest that is free.
func stack(bars [][2]int, at func(int) float64, gap float64) []int {
	out := make([]int, len(bars))
	for i, b := range bars {
		taken := map[int]bool{}
		for j, o := range bars[:i] {
			if at(b[0]) < at(o[1])+gap && at(o[0]) < at(b[1])+gap {
				taken[out[j]] = true
			}
		}
		for taken[out[i]] {
			out[i]++
		}
	}
	return out
}

// x is the place of a rank on the axis.
func (l cdLayout) x(rank float64) vg.Length {
	return l.left + cdAxis*vg.Length((rank-1)/float64(len(l.Methods)-1))
}

func (l cdLayout) rank(i int) string { return strconv.FormatFloat(l.Ranks[i], 'f', 2, 64) }

func (l cdLayout) draw(c draw.Canvas) {
	line := func(width vg.Length, col color.Color, points ...vg.Point) {
		c.StrokeLines(draw.LineStyle{Color: col, Width: width}, points)
	}
	write := func(s text.Style, x, y vg.Length, alignX text.XAlignment, alignY text.YAlignment, words string) {
		s.XAlign, s.YAlign = alignX, alignY
		c.FillText(s, vg.Point{X: x, Y: y}, words)
	}
	write(l.title, l.width/2, l.height-cdMargin, text.XCenter, text.YTop, sanitize.Line(l.Title))
	write(l.small, l.width/2, l.height-cdMargin-16, text.XCenter, text.YTop, l.warning)

	// The axis, with a number at each rank, or at every second or fifth where there are many.
	n := len(l.Methods)
	step := 1
	if n > 30 {
		step = 5
	} else if n > 20 {
		step = 2
	}
	line(1.2, color.Black, vg.Point{X: l.x(1), Y: l.axis}, vg.Point{X: l.x(float64(n)), Y: l.axis})
	for k := 1; k <= n; k++ {
		x, long := l.x(float64(k)), vg.Length(3)
		if (k-1)%step == 0 {
			long = 6
			write(l.small, x, l.axis+8, text.XCenter, text.YBottom, strconv.Itoa(k))
		}
		line(1, color.Black, vg.Point{X: x, Y: l.axis}, vg.Point{X: x, Y: l.axis + long})
	}
	write(l.small, l.x(float64(n)), l.axis+31, text.XRight, text.YBottom, "mean rank, 1 is the best")

	// The critical difference, from the best rank on; cut where it is longer than the axis.
	y := l.axis + 25
	end := min(l.x(1+l.Critical), l.right)
	line(1.2, color.Black, vg.Point{X: l.left, Y: y}, vg.Point{X: end, Y: y})
	for _, x := range []vg.Length{l.left, end} {
		line(1.2, color.Black, vg.Point{X: x, Y: y - 4}, vg.Point{X: x, Y: y + 4})
	}
	label := "critical difference " + strconv.FormatFloat(l.Critical, 'f', 2, 64)
	if end < l.x(1+l.Critical) {
		label += ", longer than the axis"
	}
	write(l.small, l.left, y+6, text.XLeft, text.YBottom, label)

	// The leaders: the best half on the left, the rest on the right, the outermost uppermost,
	// so that no two cross.
	half := (n + 1) / 2
	for i := range n {
		x := l.x(l.Ranks[i])
		if i < half {
			y := l.first - vg.Length(i)*cdRow
			line(0.7, color.Gray{70}, vg.Point{X: x, Y: l.axis}, vg.Point{X: x, Y: y}, vg.Point{X: l.leftEnd, Y: y})
			write(l.name, l.leftEnd-cdTextGap-l.widest-cdTextGap, y, text.XRight, text.YCenter, l.shown[i])
			write(l.small, l.leftEnd-cdTextGap, y, text.XRight, text.YCenter, l.rank(i))
		} else {
			y := l.first - vg.Length(n-1-i)*cdRow
			line(0.7, color.Gray{70}, vg.Point{X: x, Y: l.axis}, vg.Point{X: x, Y: y}, vg.Point{X: l.rightEnd, Y: y})
			at := l.rightEnd + cdTextGap + l.widest
			write(l.small, at, y, text.XRight, text.YCenter, l.rank(i))
			write(l.name, at+cdTextGap, y, text.XLeft, text.YCenter, l.shown[i])
		}
	}
	for i, b := range l.Cliques {
		y := l.axis - cdGap - vg.Length(l.levels[i])*cdBar
		line(4, colours[0], vg.Point{X: l.x(l.Ranks[b[0]]) - 3, Y: y}, vg.Point{X: l.x(l.Ranks[b[1]]) + 3, Y: y})
	}
	for i, s := range l.Notes {
		y := cdMargin + vg.Length(len(l.Notes)-1-i)*13
		write(l.small, cdMargin, y, text.XLeft, text.YBottom, sanitize.Line(s))
	}
}
