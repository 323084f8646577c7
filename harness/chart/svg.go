package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Inline returns the drawing as an element of a page whose style sheet includes StyleSheet.
func (d Drawing) Inline() string {
	w := svgWriter{classes: true}
	w.printf(`<svg class="chart" viewBox="0 0 %s %s" width="%s" height="%s" role="%s" aria-label="%s">`,
		num(d.Width), num(d.Height), num(d.Width), num(d.Height), role(d.Marks), escape(shown(d.Title)))
	w.marks(d.Marks)
	w.printf("</svg>")
	return w.b.String()
}

// role tells screen readers whether the drawing has links.
func role(marks []Mark) string {
	for _, m := range marks {
		if g, ok := m.(Group); ok && (g.Link != "" || role(g.Marks) == "group") {
			return "group"
		}
	}
	return "img"
}

// writeSVG writes the drawing as an SVG file, on white.
func (d Drawing) writeSVG(out io.Writer) error {
	w := svgWriter{}
	w.printf(`<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" font-family="Liberation Sans, Arial, Helvetica, sans-serif">
<title>%s</title>
`, num(d.Width), num(d.Height), num(d.Width), num(d.Height), escape(shown(d.Title)))
	w.marks([]Mark{Area{rect(0, 0, d.Width, d.Height), Clear}})
	w.marks(flat(d.Marks))
	w.printf("</svg>\n")
	_, err := io.WriteString(out, w.b.String())
	return err
}

// svgWriter writes marks. With classes the colours come from a style sheet.
type svgWriter struct {
	b       strings.Builder
	classes bool
}

func (w *svgWriter) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *svgWriter) fill(k Ink) string {
	if w.classes {
		return `class="f-` + string(k) + `"`
	}
	return `fill="` + hex(k.colour()) + `"`
}

func (w *svgWriter) stroke(k Ink) string {
	if w.classes {
		return `class="t-` + string(k) + `"`
	}
	return `fill="none" stroke-linejoin="round" stroke="` + hex(k.colour()) + `"`
}

func (w *svgWriter) marks(marks []Mark) {
	for _, m := range marks {
		switch m := m.(type) {
		case Line:
			width, dash := m.Width, ""
			if width == 0 {
				width = 1
			}
			if m.Dash > 0 {
				dash = fmt.Sprintf(` stroke-dasharray="%s"`, num(m.Dash))
			}
			w.printf(`<path %s stroke-width="%s"%s d="%s"/>`, w.stroke(m.Ink), num(width), dash, path(m.At))
		case Area:
			w.printf(`<path %s d="%sz"/>`, w.fill(m.Ink), path(m.At))
		case Dots:
			w.dots(m)
		case Label:
			w.label(m)
		case Group:
			w.group(m)
		}
		if !w.classes {
			w.b.WriteByte('\n')
		}
	}
}

// path is the path data of a polyline.
func path(at []Point) string {
	var b strings.Builder
	for i, p := range at {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		b.WriteString(num(p.X) + " " + num(p.Y))
	}
	return b.String()
}

// dots writes dots of one shape as one path. Circles and squares are lines of length 0 with round or
// square caps.
func (w *svgWriter) dots(m Dots) {
	var b strings.Builder
	for _, p := range m.At {
		if m.Shape == Circle || m.Shape == Square {
			b.WriteString("M" + num(p.X) + " " + num(p.Y) + "h0")
			continue
		}
		if o := m.Shape.outline(p, m.Radius); o != nil {
			b.WriteString(path(o) + "z")
		}
		for _, s := range m.Shape.strokes(p, m.Radius) {
			b.WriteString(path(s[:]))
		}
	}
	switch m.Shape {
	case Circle:
		w.printf(`<path %s stroke-width="%s" stroke-linecap="round" d="%s"/>`, w.stroke(m.Ink), num(2*m.Radius), b.String())
	case Square:
		w.printf(`<path %s stroke-width="%s" stroke-linecap="square" d="%s"/>`, w.stroke(m.Ink), num(2*squareness*m.Radius), b.String())
	case Cross, Plus:
		w.printf(`<path %s stroke-width="1.5" d="%s"/>`, w.stroke(m.Ink), b.String())
	default:
		w.printf(`<path %s d="%s"/>`, w.fill(m.Ink), b.String())
	}
}

func (w *svgWriter) label(m Label) {
	size := m.size()
	attrs := ""
	if m.Anchor != Start {
		attrs += ` text-anchor="` + [...]string{"start", "middle", "end"}[m.Anchor] + `"`
	}
	if m.Bold {
		attrs += ` font-weight="bold"`
	}
	x, y := m.At.X, m.At.Y+baseline*size
	if m.Turned {
		x, y = m.At.X+baseline*size, m.At.Y
		attrs += fmt.Sprintf(` transform="rotate(-90 %s %s)"`, num(x), num(y))
	}
	w.printf(`<text %s x="%s" y="%s" font-size="%s"%s>%s</text>`, w.fill(m.Ink), num(x), num(y), num(size), attrs, escape(shown(m.Text)))
}

// baseline is the distance of the baseline below the middle of a line of text, as a share of its size.
const baseline = 0.35

func (m Label) size() float64 {
	if m.Size == 0 {
		return TextSize
	}
	return m.Size
}

// group writes a group of a page; files have no groups.
func (w *svgWriter) group(m Group) {
	name, attrs := "g", ""
	if m.Link != "" {
		name, attrs = "a", ` href="`+escape(m.Link)+`"`
	}
	if m.Key != "" {
		attrs += ` data-key="` + escape(m.Key) + `"`
	}
	w.printf("<%s%s>", name, attrs)
	if m.Title != "" {
		w.printf("<title>%s</title>", escape(shown(m.Title)))
	}
	w.marks(m.Marks)
	w.printf("</%s>", name)
}

// num formats a length with one decimal.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}
