package chart

import (
	"math"
	"strconv"
)

// Scatter draws points in classes, by colour and shape. The number of a class stands at the mean of its
// points and in the legend.
type Scatter struct {
	Title   string
	Heading string
	X, Y    string
	Classes []string
	Points  []Point
	Class   []int // of each point
}

const (
	scatterSide  = 460.0
	legendWidth  = 190.0 // of one column
	legendRow    = 17.0
	maxLegend    = 104 // classes; no legend for more
	maxNumbers   = 60  // classes; no numbers for more
	maxClassName = 26  // characters
)

// Draw draws the points and the legend.
func (c Scatter) Draw() Drawing {
	columns := 0
	if len(c.Classes) <= maxLegend {
		columns = int(math.Ceil(float64(len(c.Classes)) * legendRow / (scatterSide - 10)))
	}
	d := Drawing{Width: scatterSide + legendWidth*float64(columns), Title: c.Title}
	top := d.head(c.Heading, nil)
	d.Height = top + scatterSide
	var xs, ys []float64
	for _, p := range c.Points {
		xs, ys = append(xs, p.X), append(ys, p.Y)
	}
	bottom := d.Height - bottomRoom
	sy := newScale(ys, 0.02, false).on(bottom, top+4)
	ticks, room := leftTicks(sy, Axis{Title: c.Y}, 6)
	sx := newScale(xs, 0.02, false).on(room, scatterSide-8)
	d.leftAxis(sy, ticks, c.Y, room, scatterSide-8)
	d.bottomAxis(sx, Axis{Title: c.X}, bottom, top+4)

	at := make([]Point, len(c.Points))
	for i, p := range c.Points {
		at[i] = Point{sx.at(p.X), sy.at(p.Y)}
	}
	radius := min(2.8, max(1.1, 100/math.Sqrt(float64(len(at)+1))))
	// Draw a tenth of each class in turn, so that the last class does not cover the others.
	const rounds = 10
	of := make([][]Point, len(c.Classes))
	for i, k := range c.Class {
		of[k] = append(of[k], at[i])
	}
	for r := range rounds {
		for k, points := range of {
			var some []Point
			for i := r; i < len(points); i += rounds {
				some = append(some, points[i])
			}
			if len(some) > 0 {
				d.add(classDots(k, some, radius))
			}
		}
	}
	if len(c.Classes) <= maxNumbers {
		d.numbers(of)
	}
	if columns == 0 {
		return d
	}
	rows := (len(c.Classes) + columns - 1) / columns
	for k, name := range c.Classes {
		x, y := scatterSide+14+legendWidth*float64(k/rows), top+14+legendRow*float64(k%rows)
		d.add(classDots(k, []Point{{x, y}}, 3.6), Label{At: Point{x + 9, y}, Text: strconv.Itoa(k+1) + "  " + Shorten(name, maxClassName), Size: SmallSize, Ink: Foreground})
	}
	return d
}

// classDots are the dots of a class. Classes use all colours with one shape, then with the next.
func classDots(k int, at []Point, radius float64) Dots {
	return Dots{At: at, Ink: Series(k), Radius: radius, Shape: Shape(k / 7 % int(shapes))}
}

// numbers draws the number of each class at the mean of its points. It moves overlapping numbers apart
// in steps.
func (d *Drawing) numbers(of [][]Point) {
	at := make([]Point, len(of))
	for k, points := range of {
		for _, p := range points {
			at[k].X += p.X / float64(len(points))
			at[k].Y += p.Y / float64(len(points))
		}
	}
	const distance, steps = 16.0, 200
	for range steps {
		for i := range at {
			for j := range i {
				dx, dy := at[i].X-at[j].X, at[i].Y-at[j].Y
				length := math.Hypot(dx, dy)
				switch {
				case length >= distance:
					continue
				case length == 0:
					dx, length = 1, 1
				}
				push := (distance - min(length, distance-1)) / (8 * length)
				at[i] = Point{at[i].X + push*dx, at[i].Y + push*dy}
				at[j] = Point{at[j].X - push*dx, at[j].Y - push*dy}
			}
		}
	}
	for k, points := range of {
		if len(points) > 0 {
			d.add(Dots{At: at[k : k+1], Ink: Clear, Radius: 8.5}, Label{At: at[k], Text: strconv.Itoa(k + 1), Size: SmallSize, Ink: Foreground, Anchor: Middle})
		}
	}
}
