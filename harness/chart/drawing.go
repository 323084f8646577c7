// Package chart draws lines, dots, areas and text, and composes from these the charts of the program. A
// drawing is written as an SVG file, as SVG inside a page (whose style sheet has the colours), or as
// PNG. The package knows no results: values come as numbers with their labels. All text may be
// untrusted.
package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"ssdl/harness/sanitize"
)

// Drawing is a picture. Lengths are in CSS pixels; y grows downwards.
type Drawing struct {
	Width, Height float64
	// Title describes the drawing for screen readers.
	Title string
	Marks []Mark
}

// Mark is a Line, Area, Dots, Label or Group.
type Mark interface{ isMark() }

// Point is a place in a drawing.
type Point struct{ X, Y float64 }

// Line is a polyline.
type Line struct {
	At    []Point
	Ink   Ink
	Width float64 // 0 is 1
	Dash  float64 // length of dashes and gaps; 0 is a solid line
}

// Area is a filled polygon.
type Area struct {
	At  []Point
	Ink Ink
}

// Dots are dots of one shape and size.
type Dots struct {
	At     []Point
	Ink    Ink
	Radius float64
	Shape  Shape
}

// Label is a line of text, centred vertically at its point.
type Label struct {
	At     Point
	Text   string
	Ink    Ink
	Size   float64 // 0 is TextSize
	Anchor Anchor
	Bold   bool
	Turned bool // reads from the bottom to the top
}

// Group is marks that belong together. On a page a pointer over them shows Title and a click follows
// Link. Scripts find the group by Key.
type Group struct {
	Title, Link, Key string
	Marks            []Mark
}

func (Line) isMark()  {}
func (Area) isMark()  {}
func (Dots) isMark()  {}
func (Label) isMark() {}
func (Group) isMark() {}

// Shape is the form of a dot.
type Shape int

// The shapes. Curves use them in turn, so that they differ without colour.
const (
	Circle Shape = iota
	Square
	Triangle
	Diamond
	Cross
	Plus
	shapes
)

// Anchor says which part of a label is at its point.
type Anchor int

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// Sizes of text.
const (
	TextSize  = 12.0
	SmallSize = 11.0
	titleSize = 13.0
)

func (d *Drawing) add(marks ...Mark) { d.Marks = append(d.Marks, marks...) }

// rect returns the corners of a rectangle.
func rect(x0, y0, x1, y1 float64) []Point { return []Point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}} }

// outline returns the closed outline of a dot that is no circle; nil for Cross and Plus.
func (s Shape) outline(at Point, r float64) []Point {
	switch s {
	case Square:
		r *= squareness
		return rect(at.X-r, at.Y-r, at.X+r, at.Y+r)
	case Triangle:
		r *= 1.2
		return []Point{{at.X, at.Y - r}, {at.X + 0.87*r, at.Y + 0.5*r}, {at.X - 0.87*r, at.Y + 0.5*r}}
	case Diamond:
		r *= 1.25
		return []Point{{at.X, at.Y - r}, {at.X + r, at.Y}, {at.X, at.Y + r}, {at.X - r, at.Y}}
	}
	return nil
}

// squareness makes squares look as large as circles.
const squareness = 0.88

// strokes returns the lines of a Cross or Plus.
func (s Shape) strokes(at Point, r float64) [][2]Point {
	switch s {
	case Cross:
		return [][2]Point{{{at.X - r, at.Y - r}, {at.X + r, at.Y + r}}, {{at.X - r, at.Y + r}, {at.X + r, at.Y - r}}}
	case Plus:
		r *= 1.3
		return [][2]Point{{{at.X - r, at.Y}, {at.X + r, at.Y}}, {{at.X, at.Y - r}, {at.X, at.Y + r}}}
	}
	return nil
}

// shown cleans text for drawing: one line of plain characters.
func shown(s string) string { return sanitize.Line(s) }

// Shorten cuts text to at most n characters; "…" marks a cut.
func Shorten(s string, n int) string {
	s = shown(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

// flat lists all marks, ungrouped, without those for pages only.
func flat(marks []Mark) []Mark {
	var out []Mark
	for _, m := range marks {
		switch m := m.(type) {
		case Group:
			out = append(out, flat(m.Marks)...)
		case Area:
			if m.Ink != hit {
				out = append(out, m)
			}
		default:
			out = append(out, m)
		}
	}
	return out
}

// wrap breaks text into lines of at most width pixels, between words.
func wrap(s string, size, width float64, bold bool) []string {
	var lines []string
	for word := range strings.FieldsSeq(shown(s)) {
		if n := len(lines); n > 0 && textWidth(lines[n-1]+" "+word, size, bold) <= width {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// head writes title and notes at the top and returns their height.
func (d *Drawing) head(title string, notes []string) float64 {
	y := 0.0
	put := func(text string, size float64, ink Ink, bold bool) {
		for _, line := range wrap(text, size, d.Width-8, bold) {
			y += size + 4
			d.add(Label{At: Point{4, y - size/2}, Text: line, Size: size, Ink: ink, Bold: bold})
		}
	}
	put(title, titleSize, Foreground, true)
	for _, n := range notes {
		put(n, SmallSize, Soft, false)
	}
	if y > 0 {
		y += 8
	}
	return y
}

// spread moves positions of labels to at least gap apart, as little as possible, and within from..to if
// there is room. It keeps their order.
func spread(at []float64, gap, from, to float64) []float64 {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case at[a] < at[b]:
			return -1
		case at[a] > at[b]:
			return 1
		}
		return 0
	})
	// Centre each block of touching labels on the mean of their wanted positions.
	type block struct{ sum, n, first float64 }
	var blocks []block
	middle := func(b block) float64 { return b.sum / b.n }
	for _, i := range order {
		b := block{at[i], 1, 0}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if middle(last)+gap*(last.n/2) <= middle(b)-gap*(b.n/2)+1e-9 {
				break
			}
			b = block{last.sum + b.sum, last.n + b.n, 0}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	out := make([]float64, len(at))
	k, least := 0, from
	for _, b := range blocks {
		top := math.Max(least, middle(b)-gap*(b.n-1)/2)
		for range int(b.n) {
			out[order[k]] = top
			top += gap
			k++
		}
		least = top
	}
	// Move labels beyond the end back.
	most := to
	for j := len(order) - 1; j >= 0; j-- {
		if i := order[j]; out[i] > most {
			out[i] = most
			most -= gap
		} else {
			break
		}
	}
	return out
}

// Formats lists the formats of Write.
func Formats() []string { return []string{"png", "svg"} }

// Write writes the drawing as a file.
func (d Drawing) Write(w io.Writer, format string) error {
	switch format {
	case "png":
		return d.writePNG(w)
	case "svg":
		return d.writeSVG(w)
	}
	return fmt.Errorf("drawing: unknown format %q; there are %s", format, strings.Join(Formats(), " and "))
}
