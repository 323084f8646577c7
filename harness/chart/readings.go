package chart

import (
	"fmt"
	"math"
)

// Readings is a specification curve (Simonsohn, Simmons, Nelson, Nature Human Behaviour 2020): the
// readings in the order of their values, above a matrix of dots that shows their switches.
type Readings struct {
	Title   string
	Heading string
	Notes   []string
	Axis    Axis
	// Readings are drawn in the given order.
	Readings []Reading
	Switches []Switch
	// Lines are reference values without switches. Others names the entries of Reading.Others.
	Lines  []Reference
	Others []string
	// Shares is the head of the column beside the matrix.
	Shares string
}

// Reading is the value under one choice of all switches.
type Reading struct {
	Value, Low, High float64   // Low and High are equal without an interval
	Others           []float64 // NaN for none
	Choice           []int     // by switch, the index of its value
	Title, Link, Key string
}

// Switch is a choice that a reading makes.
type Switch struct {
	Name   string
	Values []SwitchValue
}

// SwitchValue is a value of a switch. Share summarises its readings in words.
type SwitchValue struct{ Name, Share string }

// Draw draws the curve above the matrix.
func (c Readings) Draw() Drawing {
	const (
		plot   = 250.0
		least  = 200.0 // width of the plot, so that the line below it fits
		row    = 12.5
		labels = 10.5
	)
	n := float64(max(1, len(c.Readings)))
	step := max(2, least/n, min(22, 740/n))
	values, names, shares := []float64{}, 0.0, textWidth(c.Shares, labels, false)
	for _, r := range c.Readings {
		values = append(append(values, r.Value, r.Low, r.High), r.Others...)
	}
	for _, l := range c.Lines {
		values = append(values, l.Value)
		shares = max(shares, textWidth(l.Text, labels, true))
	}
	for _, s := range c.Switches {
		names = max(names, textWidth(Shorten(s.Name, 24), labels, true))
		for _, v := range s.Values {
			names, shares = max(names, textWidth(Shorten(v.Name, 20), labels, false)+10), max(shares, textWidth(v.Share, labels, false))
		}
	}
	s := newScale(values, 0.04, c.Axis.Log).on(plot, 0)
	ticks, room := leftTicks(s, c.Axis, 6)
	left := max(room, names+16)
	right := left + step*n
	d := Drawing{Width: right + shares + 20, Title: c.Title}
	if n := len(c.Others); n > 0 {
		wide := left
		for _, name := range c.Others {
			wide += 30 + textWidth(sameReading(name), labels, false)
		}
		d.Width = max(d.Width, wide)
	}
	top := d.head(c.Heading, c.Notes)
	if len(c.Others) > 0 {
		x := left
		for i, name := range c.Others {
			d.add(Dots{At: []Point{{x + 5, top + 8}}, Ink: otherInk(i), Radius: 2.4, Shape: Square}, Label{At: Point{x + 13, top + 8}, Text: sameReading(name), Size: labels, Ink: Soft})
			x += 30 + textWidth(sameReading(name), labels, false)
		}
		top += 20
	}
	bottom := top + plot
	s = s.on(bottom, top)
	d.leftAxis(s, ticks, c.Axis.Title, left, right)
	var at []float64
	for _, l := range c.Lines {
		at = append(at, s.at(l.Value))
	}
	for i, y := range spread(at, 13, top, bottom) {
		l := c.Lines[i]
		d.add(
			Line{At: []Point{{left, at[i]}, {right, at[i]}}, Ink: l.Ink, Width: 1.4, Dash: 4},
			Label{At: Point{right + 8, y}, Text: l.Text, Size: labels, Ink: l.Ink, Bold: true},
		)
	}
	// The matrix: the dots of each value, then the labels.
	y := bottom + 18
	places := make([][]float64, len(c.Switches))
	d.add(Label{At: Point{right + 8, y - 6}, Text: c.Shares, Size: labels, Ink: Soft})
	for i, sw := range c.Switches {
		d.add(Label{At: Point{left - 8, y + row/2}, Text: Shorten(sw.Name, 24), Size: labels, Ink: Foreground, Anchor: End, Bold: true})
		y += row
		for _, v := range sw.Values {
			places[i] = append(places[i], y+row/2)
			d.add(
				Line{At: []Point{{left, y + row/2}, {right, y + row/2}}, Ink: Rule, Width: 0.6},
				Label{At: Point{left - 8, y + row/2}, Text: Shorten(v.Name, 20), Size: labels, Ink: Soft, Anchor: End},
				Label{At: Point{right + 8, y + row/2}, Text: v.Share, Size: labels, Ink: Soft},
			)
			y += row
		}
		y += 4
	}
	radius := min(3.6, max(1.2, 0.42*step))
	for i, r := range c.Readings {
		x := left + step*(float64(i)+0.5)
		marks := []Mark{Area{rect(x-step/2, top, x+step/2, y), hit}}
		if r.Low < r.High {
			marks = append(marks, Line{At: []Point{{x, s.at(r.Low)}, {x, s.at(r.High)}}, Ink: Faint, Width: min(1.2, step/2)})
		}
		for k, v := range r.Others {
			if !math.IsNaN(v) {
				marks = append(marks, Dots{At: []Point{{x, s.at(v)}}, Ink: otherInk(k), Radius: min(2.4, radius), Shape: Square})
			}
		}
		marks = append(marks, Dots{At: []Point{{x, s.at(r.Value)}}, Ink: Ours, Radius: radius})
		var on []Point
		for k, choice := range r.Choice {
			on = append(on, Point{x, places[k][choice]})
		}
		if len(on) > 0 {
			marks = append(marks, Dots{At: on, Ink: Foreground, Radius: min(3, radius)})
		}
		d.add(Group{Title: r.Title, Link: r.Link, Key: r.Key, Marks: marks})
	}
	d.add(Label{At: Point{(left + right) / 2, y + 8}, Text: fmt.Sprintf("readings sorted by their value: %d", len(c.Readings)), Size: labels, Ink: Soft, Anchor: Middle})
	d.Height = y + 20
	return d
}

// sameReading is the label of an entry of Others.
func sameReading(name string) string { return Shorten(name, 60) + ", same reading" }

// otherInk is the colour of the k-th entry of Others.
func otherInk(k int) Ink { return []Ink{"s4", "s2", "s3", "s1"}[k%4] }
