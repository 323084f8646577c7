package chart

import (
	"strconv"
)

// Ranks is a diagram of mean ranks after Demšar, "Statistical Comparisons of Classifiers over Multiple
// Data Sets" (JMLR 7, 2006): an axis of ranks with the best on the left, a line from each name to its
// rank, bars over names that a post-hoc test does not tell apart, and the critical difference above the
// axis, to scale.
type Ranks struct {
	Title   string
	Heading string
	Notes   []string
	// Names and their Ranks are in ascending order of rank, in 1..len(Ranks).
	Names []string
	Ranks []float64
	// Critical is the difference of mean ranks at which two names differ.
	Critical float64
	// Cliques are ranges from..to of Names, both included. Each gets a bar.
	Cliques [][2]int
}

const (
	rankAxis = 430.0 // length of the axis
	rankRow  = 19.0  // distance of names
	rankBar  = 9.0   // distance of bars
)

// Draw draws the diagram.
func (c Ranks) Draw() Drawing {
	n := len(c.Names)
	half := (n + 1) / 2
	var leftText, rightText, numbers float64
	for i, name := range c.Names {
		numbers = max(numbers, textWidth(c.rank(i), SmallSize, false))
		if w := textWidth(name, TextSize, false); i < half {
			leftText = max(leftText, w)
		} else {
			rightText = max(rightText, w)
		}
	}
	leftEnd := 14 + leftText + 6 + numbers + 6
	left := leftEnd + 30
	right := left + rankAxis
	rightEnd := right + 30
	d := Drawing{Width: rightEnd + 6 + numbers + 6 + rightText + 14, Title: c.Title}
	axis := d.head(c.Heading, c.Notes) + 58
	s := scale{low: 1, high: float64(n)}.on(left, right)

	step := 1
	if n > 30 {
		step = 5
	} else if n > 20 {
		step = 2
	}
	d.add(Line{At: []Point{{left, axis}, {right, axis}}, Ink: Foreground, Width: 1.2})
	for k := 1; k <= n; k++ {
		x, long := s.at(float64(k)), 3.0
		if (k-1)%step == 0 {
			long = 6
			d.add(Label{At: Point{x, axis - 14}, Text: strconv.Itoa(k), Size: SmallSize, Ink: Soft, Anchor: Middle})
		}
		d.add(Line{At: []Point{{x, axis}, {x, axis - long}}, Ink: Foreground})
	}
	d.add(Label{At: Point{right, axis - 40}, Text: "mean rank, 1 is the best", Size: SmallSize, Ink: Soft, Anchor: End})

	// The critical difference, from the best rank on, cut at the end of the axis.
	y, end := axis-30, min(s.at(1+c.Critical), right)
	label := "critical difference " + strconv.FormatFloat(c.Critical, 'f', 2, 64)
	if end < s.at(1+c.Critical) {
		label += ", longer than the axis"
	}
	d.add(
		Line{At: []Point{{left, y}, {end, y}}, Ink: Foreground, Width: 1.2},
		Line{At: []Point{{left, y - 4}, {left, y + 4}}, Ink: Foreground, Width: 1.2},
		Line{At: []Point{{end, y - 4}, {end, y + 4}}, Ink: Foreground, Width: 1.2},
		Label{At: Point{left, y - 11}, Text: label, Size: SmallSize, Ink: Soft},
	)

	levels := 0
	level := barLevels(c.Cliques, func(i int) float64 { return c.Ranks[i] }, float64(n-1)/40)
	for i, b := range c.Cliques {
		levels = max(levels, level[i]+1)
		y := axis + 10 + float64(level[i])*rankBar
		d.add(Line{At: []Point{{s.at(c.Ranks[b[0]]) - 3, y}, {s.at(c.Ranks[b[1]]) + 3, y}}, Ink: Ours, Width: 4})
	}

	// The lines to the names: the best half on the left, the others on the right, the outermost on top, so
	// that no two cross.
	first := axis + 10 + float64(levels)*rankBar + rankRow/2
	for i := range n {
		x := s.at(c.Ranks[i])
		if i < half {
			y := first + float64(i)*rankRow
			d.add(
				Line{At: []Point{{x, axis}, {x, y}, {leftEnd, y}}, Ink: Soft, Width: 0.7},
				Label{At: Point{leftEnd - 6, y}, Text: c.rank(i), Size: SmallSize, Ink: Soft, Anchor: End},
				Label{At: Point{leftEnd - 12 - numbers, y}, Text: c.Names[i], Ink: Foreground, Anchor: End},
			)
			continue
		}
		y := first + float64(n-1-i)*rankRow
		d.add(
			Line{At: []Point{{x, axis}, {x, y}, {rightEnd, y}}, Ink: Soft, Width: 0.7},
			Label{At: Point{rightEnd + 6 + numbers, y}, Text: c.rank(i), Size: SmallSize, Ink: Soft, Anchor: End},
			Label{At: Point{rightEnd + 12 + numbers, y}, Text: c.Names[i], Ink: Foreground},
		)
	}
	d.Height = first + float64(half)*rankRow
	return d
}

func (c Ranks) rank(i int) string { return strconv.FormatFloat(c.Ranks[i], 'f', 2, 64) }

// barLevels gives overlapping bars different levels, each the lowest free one.
func barLevels(bars [][2]int, at func(int) float64, gap float64) []int {
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
