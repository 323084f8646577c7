package chart

import (
	"math"
	"strconv"
)

// Strip draws the values of seeds, a line each, with their mean, its interval and reference values.
type Strip struct {
	Title string
	Axis  Axis
	Seeds []Seed
	Mean  float64
	// Low and High bound the interval of the mean; equal if there is none.
	Low, High float64
	// Lines are reference values, such as the printed one.
	Lines []Reference
	Width float64 // 0 is 360
}

// Seed is the value of a seed.
type Seed struct {
	Seed  uint64
	Value float64
	Text  string
	Link  string
}

// Reference is a reference value with a label.
type Reference struct {
	Value float64
	Text  string
	Ink   Ink
}

// Draw draws the strip.
func (c Strip) Draw() Drawing {
	d := Drawing{Width: orDefault(c.Width, 360), Title: c.Title}
	values := []float64{c.Mean, c.Low, c.High}
	for _, s := range c.Seeds {
		values = append(values, s.Value)
	}
	for _, l := range c.Lines {
		values = append(values, l.Value)
	}
	left := 8.0
	for _, s := range c.Seeds {
		left = max(left, textWidth(strconv.FormatUint(s.Seed, 10), SmallSize, false)+12)
	}
	row := 17.0
	if len(c.Seeds) > 20 {
		row = max(5, 340/float64(len(c.Seeds)))
	}
	top := 22 * float64(1+len(c.Lines))
	bottom := top + row*float64(len(c.Seeds)) + 6
	s := newScale(values, 0.06, c.Axis.Log).on(left, d.Width-10)
	d.Height = bottom + bottomRoom
	if c.Low < c.High {
		d.add(Area{rect(s.at(c.Low), top, s.at(c.High), bottom), Band})
	}
	d.bottomAxis(s, c.Axis, bottom, top)
	// The label of the mean is next to the plot, those of the lines are above it, so that its line crosses none.
	mean := Label{At: Point{s.at(c.Mean), top - 12}, Text: "mean", Size: SmallSize, Ink: Ours, Anchor: Middle, Bold: true}
	for i, l := range c.Lines {
		x, y := s.at(l.Value), 10+20*float64(i)
		if side := x - mean.At.X; math.Abs(side) < 20 {
			mean.Anchor = Start
			if side >= 0 {
				mean.Anchor = End
			}
		}
		anchor, half := Middle, textWidth(l.Text, SmallSize, true)/2
		switch {
		case x+half > d.Width-2:
			anchor = End
		case x-half < 2:
			anchor = Start
		}
		d.add(
			Line{At: []Point{{x, y + 6}, {x, bottom}}, Ink: l.Ink, Width: 1.6, Dash: 4},
			Label{At: Point{x, y}, Text: l.Text, Size: SmallSize, Ink: l.Ink, Anchor: anchor, Bold: true},
		)
	}
	d.add(Line{At: []Point{{mean.At.X, top - 5}, {mean.At.X, bottom}}, Ink: Ours, Width: 1.6}, mean)
	for i, seed := range c.Seeds {
		y := top + row*(float64(i)+0.5) + 3
		name := strconv.FormatUint(seed.Seed, 10)
		dot := Dots{At: []Point{{s.at(seed.Value), y}}, Ink: Ours, Radius: min(4.5, row/2-0.5)}
		g := Group{Title: "seed " + name + ": " + seed.Text, Link: seed.Link, Marks: []Mark{dot}}
		d.add(g)
		if row >= 11 {
			d.add(Label{At: Point{left - 8, y}, Text: name, Size: SmallSize, Ink: Soft, Anchor: End})
		}
	}
	return d
}

func orDefault(v, def float64) float64 {
	if v == 0 {
		return def
	}
	return v
}
