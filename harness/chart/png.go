package chart

import (
	"io"
	"sync"

	xfont "golang.org/x/image/font"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// resolution of PNG files in dpi. A CSS pixel is a point, and so two pixels.
const resolution = 144

// writePNG writes the drawing as a PNG file, on white.
func (d Drawing) writePNG(out io.Writer) error {
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Points(d.Width), vg.Points(d.Height)), vgimg.UseDPI(resolution))
	p := painter{canvas, d.Height}
	p.paint(Area{rect(0, 0, d.Width, d.Height), Clear})
	for _, m := range flat(d.Marks) {
		p.paint(m)
	}
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(out)
	return err
}

// painter paints marks on a canvas whose y grows upwards.
type painter struct {
	vg.Canvas
	height float64
}

func (p painter) at(q Point) vg.Point {
	return vg.Point{X: vg.Points(q.X), Y: vg.Points(p.height - q.Y)}
}

func (p painter) path(at []Point) vg.Path {
	var out vg.Path
	for i, q := range at {
		if i == 0 {
			out.Move(p.at(q))
		} else {
			out.Line(p.at(q))
		}
	}
	return out
}

func (p painter) paint(m Mark) {
	switch m := m.(type) {
	case Line:
		width := m.Width
		if width == 0 {
			width = 1
		}
		var dash []vg.Length
		if m.Dash > 0 {
			dash = []vg.Length{vg.Points(m.Dash), vg.Points(m.Dash)}
		}
		p.stroke(m.At, m.Ink, width, dash)
	case Area:
		p.fill(m.At, m.Ink)
	case Dots:
		for _, q := range m.At {
			if m.Shape == Circle {
				var circle vg.Path
				at, r := p.at(q), vg.Points(m.Radius)
				circle.Move(vg.Point{X: at.X + r, Y: at.Y})
				circle.Arc(at, r, 0, 6.283185307179586)
				circle.Close()
				p.SetColor(m.Ink.colour())
				p.Fill(circle)
				continue
			}
			if o := m.Shape.outline(q, m.Radius); o != nil {
				p.fill(o, m.Ink)
			}
			for _, s := range m.Shape.strokes(q, m.Radius) {
				p.stroke(s[:], m.Ink, 1.5, nil)
			}
		}
	case Label:
		p.label(m)
	}
}

func (p painter) stroke(at []Point, k Ink, width float64, dash []vg.Length) {
	p.SetColor(k.colour())
	p.SetLineWidth(vg.Points(width))
	p.SetLineDash(dash, 0)
	p.Stroke(p.path(at))
}

func (p painter) fill(at []Point, k Ink) {
	out := p.path(at)
	out.Close()
	p.SetColor(k.colour())
	p.Fill(out)
}

func (p painter) label(m Label) {
	size, text := m.size(), shown(m.Text)
	face := faceOf(size, m.Bold)
	shift := face.Width(text) * vg.Length([...]float64{0, 0.5, 1}[m.Anchor])
	p.SetColor(m.Ink.colour())
	at := p.at(m.At)
	if !m.Turned {
		p.FillString(face, vg.Point{X: at.X - shift, Y: at.Y - vg.Points(baseline*size)}, text)
		return
	}
	p.Push()
	p.Translate(at)
	p.Rotate(1.5707963267948966)
	p.FillString(face, vg.Point{X: -shift, Y: -vg.Points(baseline * size)}, text)
	p.Pop()
}

var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

func faceOf(size float64, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return fonts().Lookup(f, vg.Points(size))
}

// textWidth is the width of a line of text in pixels. Fonts of pages have the same metrics.
func textWidth(s string, size float64, bold bool) float64 {
	face := faceOf(size, bold)
	return float64(face.Width(shown(s)))
}
