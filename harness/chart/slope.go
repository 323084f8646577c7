package chart

import (
	"math"
	"slices"
)

// Slope draws a line between two values of each item, such as the printed value and ours.
type Slope struct {
	Title       string
	Axis        Axis
	Left, Right string // titles of the sides
	Items       []SlopeItem
	Width       float64 // 0 is 340
	Height      float64 // 0 is 330
}

// SlopeItem is a line from a value on the left to one on the right.
type SlopeItem struct {
	Name        string
	Left, Right float64 // if either is NaN, the item is left out
	LeftText    string
	RightText   string
	Strong      bool // drawn above the others
	Title, Link string
}

// Draw draws the lines, with names on the right. Labels of close values move apart.
func (c Slope) Draw() Drawing {
	d := Drawing{Width: orDefault(c.Width, 340), Height: orDefault(c.Height, 330), Title: c.Title}
	c.Items = slices.DeleteFunc(slices.Clone(c.Items), func(it SlopeItem) bool { return math.IsNaN(it.Left) || math.IsNaN(it.Right) })
	var values []float64
	leftRoom, rightRoom := 0.0, 0.0
	for _, it := range c.Items {
		values = append(values, it.Left, it.Right)
		leftRoom, rightRoom = max(leftRoom, textWidth(it.LeftText, SmallSize, true)), max(rightRoom, textWidth(it.RightText+"  "+it.Name, SmallSize, true))
	}
	rightRoom = min(rightRoom, 0.55*d.Width)
	const leader = 18.0
	x0, x1 := leftRoom+leader+2, d.Width-rightRoom-leader-2
	const top = 30.0
	s := newScale(values, 0.03, c.Axis.Log).on(d.Height-22, top)
	d.add(
		Label{At: Point{x0, 10}, Text: c.Left, Size: SmallSize, Ink: Soft, Anchor: edgeAnchor(x0, c.Left, d.Width)},
		Label{At: Point{x1, 10}, Text: c.Right, Size: SmallSize, Ink: Soft, Anchor: edgeAnchor(x1, c.Right, d.Width)},
		Line{At: []Point{{x0, 20}, {x0, d.Height - 18}}, Ink: Rule},
		Line{At: []Point{{x1, 20}, {x1, d.Height - 18}}, Ink: Rule},
		Label{At: Point{(x0 + x1) / 2, d.Height - 6}, Text: c.Axis.Title, Size: SmallSize, Ink: Soft, Anchor: Middle},
	)
	var left, right []float64
	for _, it := range c.Items {
		left, right = append(left, s.at(it.Left)), append(right, s.at(it.Right))
	}
	gap := 13.0
	if n := float64(len(c.Items)); n > 1 {
		gap = min(gap, (d.Height-top-22)/(n-1))
	}
	leftAt, rightAt := spread(left, gap, top-6, d.Height-24), spread(right, gap, top-6, d.Height-24)
	for _, strong := range []bool{false, true} {
		for i, it := range c.Items {
			if it.Strong != strong {
				continue
			}
			line, ends, words := Faint, Faint, Soft
			width, radius := 1.2, 2.6
			if strong {
				line, ends, words, width, radius = Ours, Ours, Foreground, 2.6, 4
			}
			a, b := Point{x0, left[i]}, Point{x1, right[i]}
			marks := []Mark{
				Line{At: []Point{a, b}, Ink: line, Width: width},
				Dots{At: []Point{a, b}, Ink: ends, Radius: radius},
				Line{At: []Point{{x0 - leader + 2, leftAt[i]}, {x0 - 4, left[i]}}, Ink: Rule},
				Line{At: []Point{{x1 + leader - 2, rightAt[i]}, {x1 + 4, right[i]}}, Ink: Rule},
				Label{At: Point{x0 - leader, leftAt[i]}, Text: it.LeftText, Size: SmallSize, Ink: words, Anchor: End, Bold: strong},
				Label{At: Point{x1 + leader, rightAt[i]}, Text: fit(it.RightText+"  "+it.Name, SmallSize, rightRoom), Size: SmallSize, Ink: words, Bold: strong},
			}
			d.add(Group{Title: it.Title, Link: it.Link, Marks: marks})
		}
	}
	return d
}

// edgeAnchor returns the anchor that keeps a label at x inside the drawing.
func edgeAnchor(x float64, text string, width float64) Anchor {
	half := textWidth(text, SmallSize, false) / 2
	switch {
	case x-half < 2:
		return Start
	case x+half > width-2:
		return End
	}
	return Middle
}
