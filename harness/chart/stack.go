package chart

// Stack draws how wholes divide into parts, a bar per row.
type Stack struct {
	Title string
	Parts []Part
	Rows  []StackRow
	Axis  Axis
	Width float64 // 0 is 360
}

// Part is a part of all bars.
type Part struct {
	Name string
	Ink  Ink
}

// StackRow is a bar. Counts has an entry per part.
type StackRow struct {
	Name   string
	Counts []int
	Link   string
	Title  string
}

// Draw draws the bars. A row without a name is a bar over the whole width, with its counts inside.
func (c Stack) Draw() Drawing {
	d := Drawing{Width: orDefault(c.Width, 360), Title: c.Title}
	most, names := 1, 0.0
	for _, r := range c.Rows {
		sum := 0
		for _, n := range r.Counts {
			sum += n
		}
		most = max(most, sum)
		names = max(names, textWidth(Shorten(r.Name, 28), SmallSize, false))
	}
	y, x := 0.0, 2.0
	for _, p := range c.Parts {
		wide := 16 + textWidth(p.Name, SmallSize, false) + 14
		if x > 2 && x+wide > d.Width {
			x, y = 2, y+17
		}
		d.add(Area{rect(x, y+3, x+10, y+13), p.Ink}, Label{At: Point{x + 15, y + 8}, Text: p.Name, Size: SmallSize, Ink: Soft})
		x += wide
	}
	if len(c.Parts) > 0 {
		y += 22
	}
	left := 0.0
	if names > 0 {
		left = names + 10
	}
	s := scale{low: 0, high: float64(most)}.on(left, d.Width-10)
	const row = 16.0
	bottom := y + row*float64(len(c.Rows))
	if c.Axis.Title != "" {
		d.bottomAxis(s, c.Axis, bottom+2, y)
	}
	for i, r := range c.Rows {
		at, from := y+row*float64(i), 0
		var marks []Mark
		if left > 0 {
			marks = append(marks, Label{At: Point{left - 7, at + row/2}, Text: Shorten(r.Name, 28), Size: SmallSize, Ink: Foreground, Anchor: End})
		}
		for k, n := range r.Counts {
			if n > 0 {
				ink := Ours
				if k < len(c.Parts) {
					ink = c.Parts[k].Ink
				}
				marks = append(marks, Area{rect(s.at(float64(from)), at+2, s.at(float64(from+n)), at+row-2), ink})
			}
			from += n
		}
		d.add(Group{Title: r.Title, Link: r.Link, Marks: marks})
	}
	if d.Height = bottom + 6; c.Axis.Title != "" {
		d.Height = bottom + bottomRoom
	}
	return d
}
