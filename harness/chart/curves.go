package chart

import "math"

// Curves draws values over a setting or over iterations.
type Curves struct {
	Title   string
	Heading string
	Notes   []string
	X, Y    Axis
	Curves  []Curve
	// Mark is a value of x with a label, drawn as a dashed line; may be nil.
	Mark          *Reference
	Plain         bool    // without dots, for many points
	Width, Height float64 // of plot and axes; 0 is 640 x 380
}

// Curve is a named line of points.
type Curve struct {
	Name   string
	Points []Sample
}

// Sample is a point of a curve. Y is NaN if the value is missing: the curve has a gap.
type Sample struct {
	X, Y, Low, High float64
	Title, Link     string
}

// Draw draws the curves, with their names above.
func (c Curves) Draw() Drawing {
	d := Drawing{Width: orDefault(c.Width, 640), Title: c.Title}
	y := d.head(c.Heading, c.Notes)
	if len(c.Curves) > 1 || !c.Plain {
		y = d.legend(c, y)
	}
	var xs, ys []float64
	for _, k := range c.Curves {
		for _, p := range k.Points {
			xs = append(xs, p.X)
			ys = append(ys, p.Y, p.Low, p.High)
		}
	}
	bottom := y + orDefault(c.Height, 380) - bottomRoom
	sy := newScale(ys, 0.06, c.Y.Log).on(bottom, y+4)
	ticks, room := leftTicks(sy, c.Y, 6)
	sx := newScale(xs, 0.02, c.X.Log).on(room, d.Width-14)
	d.Height = bottom + bottomRoom
	d.leftAxis(sy, ticks, c.Y.Title, room, d.Width-14)
	d.bottomAxis(sx, c.X, bottom, bottom)
	if c.Mark != nil && sx.within(c.Mark.Value) {
		x := sx.at(c.Mark.Value)
		d.add(Line{At: []Point{{x, y}, {x, bottom}}, Ink: c.Mark.Ink, Dash: 4, Width: 1.4})
	}
	for i, k := range c.Curves {
		ink := Series(i)
		var run []Point
		flush := func() {
			if len(run) > 1 {
				d.add(Line{At: run, Ink: ink, Width: 1.6})
			}
			run = nil
		}
		var dots []Mark
		for _, p := range k.Points {
			if math.IsNaN(p.Y) {
				flush()
				continue
			}
			at := Point{sx.at(p.X), sy.at(p.Y)}
			run = append(run, at)
			if c.Plain {
				continue
			}
			if p.Low < p.High {
				dots = append(dots, Line{At: []Point{{at.X, sy.at(p.Low)}, {at.X, sy.at(p.High)}}, Ink: ink})
			}
			dot := Dots{At: []Point{at}, Ink: ink, Radius: 3.6, Shape: Shape(i % int(shapes))}
			dots = append(dots, Group{Title: p.Title, Link: p.Link, Marks: []Mark{dot}})
		}
		flush()
		d.add(dots...)
	}
	return d
}

// legend draws the names of the curves above the plot, and returns the y below them.
func (d *Drawing) legend(c Curves, y float64) float64 {
	x := 4.0
	put := func(name string, mark func(at Point) []Mark) {
		name = fit(name, SmallSize, d.Width-40)
		wide := 26 + textWidth(name, SmallSize, false) + 16
		if x > 4 && x+wide > d.Width {
			x, y = 4, y+17
		}
		d.add(mark(Point{x, y + 8})...)
		d.add(Label{At: Point{x + 26, y + 8}, Text: name, Size: SmallSize, Ink: Foreground})
		x += wide
	}
	for i, k := range c.Curves {
		put(k.Name, func(at Point) []Mark {
			out := []Mark{Line{At: []Point{at, {at.X + 20, at.Y}}, Ink: Series(i), Width: 1.6}}
			if !c.Plain {
				out = append(out, Dots{At: []Point{{at.X + 10, at.Y}}, Ink: Series(i), Radius: 3.6, Shape: Shape(i % int(shapes))})
			}
			return out
		})
	}
	if c.Mark != nil {
		put(c.Mark.Text, func(at Point) []Mark {
			return []Mark{Line{At: []Point{at, {at.X + 20, at.Y}}, Ink: c.Mark.Ink, Width: 1.4, Dash: 4}}
		})
	}
	return y + 24
}
