package chart

import (
	"cmp"
	"math"
	"slices"
)

// Intervals draws a value with an interval for each row, from top to bottom.
type Intervals struct {
	Title string
	// Heading and Notes are drawn above the picture. Pages leave them empty.
	Heading string
	Notes   []string
	Axis    Axis
	Rows    []Row
	Lines   []Reference
	Width   float64 // 0 is 640
}

// Row is a named value.
type Row struct {
	Name string
	// Value is NaN if there is none; Text then says why.
	Value     float64
	Low, High float64 // equal if there is no interval
	Text      string
	Ink       Ink // "" is Ours
	Link      string
	Gap       bool // leaves room before the row, for a new block
	// Bounds are reference values of this row only.
	Bounds []float64
	// Step draws a bar from the value of the nearest row above with a value: a waterfall.
	Step bool
}

// Draw draws the rows.
func (c Intervals) Draw() Drawing {
	d := Drawing{Width: orDefault(c.Width, 640), Title: c.Title}
	top := d.head(c.Heading, c.Notes)
	const line, spare = 19.0, 17.0
	var values []float64
	names, texts := 0.0, 0.0
	for _, r := range c.Rows {
		values = append(append(values, r.Value, r.Low, r.High), r.Bounds...)
		names, texts = max(names, textWidth(r.Name, TextSize, false)), max(texts, textWidth(r.Text, SmallSize, false))
	}
	for _, l := range c.Lines {
		values = append(values, l.Value)
	}
	// Names that leave too little room beside them are drawn above their values.
	left, row, under := names+12, line, line/2
	over := names > 0.42*d.Width
	if over {
		left, row, under = 8, line+spare, spare+line/2
	}
	right := d.Width - texts - 14
	s := newScale(values, 0.05, c.Axis.Log).on(left, right)
	// The label of each line has its own height and stands left of it, so that no line crosses it.
	lines := slices.SortedStableFunc(slices.Values(c.Lines), func(a, b Reference) int { return cmp.Compare(b.Value, a.Value) })
	var heights []float64
	for _, l := range lines {
		if l.Text != "" {
			top += 16
		}
		heights = append(heights, top)
	}
	bottom := top
	for _, r := range c.Rows {
		if bottom += row; r.Gap {
			bottom += 7
		}
	}
	d.bottomAxis(s, c.Axis, bottom+4, top)
	for i, l := range lines {
		x, text := s.at(l.Value), fit(l.Text, SmallSize, d.Width-4)
		wide := textWidth(text, SmallSize, false)
		from := x - wide - 4
		if len(lines) == 1 {
			from = x - wide/2
		}
		from = max(2, min(from, d.Width-2-wide))
		d.add(
			Line{At: []Point{{x, heights[i] - 2}, {x, bottom + 4}}, Ink: l.Ink, Dash: 4, Width: 1.4},
			Label{At: Point{from, heights[i] - 10}, Text: text, Size: SmallSize, Ink: l.Ink},
		)
	}
	y, above, aboveY := top, math.NaN(), 0.0 // the last row with a value
	for _, r := range c.Rows {
		if y += under; r.Gap {
			y += 7
		}
		ink := r.Ink
		if ink == "" {
			ink = Ours
		}
		var marks []Mark
		name := Label{At: Point{left - 10, y}, Text: r.Name, Anchor: End, Ink: Foreground}
		if over {
			name = Label{At: Point{2, y - spare + 2}, Text: fit(r.Name, TextSize, d.Width-4), Ink: Foreground}
		}
		marks = append(marks, name, Label{At: Point{right + 10, y}, Text: r.Text, Size: SmallSize, Ink: Soft})
		for _, b := range r.Bounds {
			marks = append(marks, Line{At: []Point{{s.at(b), y - line/2 + 1}, {s.at(b), y + line/2 - 1}}, Ink: Printed, Width: 2})
		}
		if !math.IsNaN(r.Value) {
			if r.Step && !math.IsNaN(above) {
				marks = append(marks,
					Line{At: []Point{{s.at(above), aboveY}, {s.at(above), y + 4}}, Ink: Soft},
					Line{At: []Point{{s.at(above), y}, {s.at(r.Value), y}}, Ink: ink, Width: 7},
				)
			}
			above, aboveY = r.Value, y
			if r.Low < r.High {
				marks = append(marks, Line{At: []Point{{s.at(r.Low), y}, {s.at(r.High), y}}, Ink: ink, Width: 1.6})
			}
			marks = append(marks, Dots{At: []Point{{s.at(r.Value), y}}, Ink: ink, Radius: 4})
		}
		d.add(Group{Title: r.Name + ": " + r.Text, Link: r.Link, Marks: marks})
		y += line / 2
	}
	d.Height = bottom + 4 + bottomRoom
	return d
}

// fit shortens text to a width.
func fit(s string, size, width float64) string {
	s = shown(s)
	for n := len([]rune(s)) - 1; n > 3 && textWidth(s, size, false) > width+0.5; n-- {
		s = Shorten(s, n)
	}
	return s
}
