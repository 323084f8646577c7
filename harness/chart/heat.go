package chart

import "math"

// Heat draws a value for each pair of two settings, with a panel for each value of a third.
type Heat struct {
	Title   string
	Heading string
	Notes   []string
	X, Y    Category
	Panels  []Panel
	// Cell is the largest side of a cell; 0 fits the cells into Width.
	Cell  float64
	Width float64 // 0 is 640
}

// Category is an axis of discrete values.
type Category struct {
	Title  string
	Values []string
}

// Panel is a map. Cells are indexed by y, then x.
type Panel struct {
	Name  string
	Cells [][]HeatCell
}

// HeatCell is a cell of a map.
type HeatCell struct {
	// Shade is the strength of the colour in 0..1; NaN for none.
	Shade float64
	Text  string
	// Framed frames the cell: the paper's setting, or the chosen one.
	Framed      bool
	Title, Link string
}

// Draw draws the panels, as many side by side as fit.
func (c Heat) Draw() Drawing {
	d := Drawing{Width: orDefault(c.Width, 640), Title: c.Title}
	top := d.head(c.Heading, c.Notes)
	size := c.labelSize()
	left, wide := widest(c.Y.Values, size), 0.0
	if left += 10; c.Y.Title != "" {
		left += 18
	}
	for _, p := range c.Panels {
		for _, row := range p.Cells {
			for _, cell := range row {
				wide = max(wide, textWidth(cell.Text, SmallSize, false)+8)
			}
		}
	}
	columns, rows := max(1, len(c.X.Values)), len(c.Y.Values)
	room := d.Width - left - 8
	cw := c.Cell
	if cw == 0 {
		cw = max(wide, 22, min(64, room/float64(columns)))
		if len(c.Panels) > 1 {
			cw = max(wide, 22)
		}
	}
	ch := max(min(cw, 30), min(cw, 18))
	if c.Cell != 0 {
		cw = min(c.Cell, max(16, room/float64(columns)))
		ch = cw
	}
	bottom := 20.0 // room for the values of x below a panel
	turned := widest(c.X.Values, size) > cw-2
	if turned {
		bottom = max(bottom, widest(c.X.Values, size)+10)
	}
	if c.X.Title != "" {
		bottom += 18
	}
	name := 0.0
	if len(c.Panels) > 1 {
		name = 20
	}
	panelWide, panelHigh := left+cw*float64(columns)+16, name+ch*float64(rows)+bottom+10
	beside := max(1, min(len(c.Panels), int(d.Width/panelWide)))
	d.Width = max(d.Width, panelWide)
	if len(c.Panels) <= beside { // shrink to the content
		d.Width = max(panelWide*float64(beside), min(d.Width, headWidth(c.Heading, c.Notes, d.Width)))
	}
	for i, p := range c.Panels {
		x, y := float64(i%beside)*panelWide+left, top+float64(i/beside)*panelHigh
		if name > 0 {
			d.add(Label{At: Point{x, y + 9}, Text: p.Name, Bold: true, Size: SmallSize, Ink: Foreground})
			y += name
		}
		d.panel(c, p, x, y, cw, ch, turned)
	}
	d.Height = top + panelHigh*math.Ceil(float64(len(c.Panels))/float64(beside))
	return d
}

// labelSize is the font size of the labels beside the cells: small cells have small labels.
func (c Heat) labelSize() float64 {
	if c.Cell == 0 {
		return SmallSize
	}
	return max(7, min(SmallSize, c.Cell))
}

// categoryName shortens a value of an axis to fit beside the cells.
func categoryName(v string) string { return Shorten(v, 32) }

// widest is the width of the longest label of an axis.
func widest(values []string, size float64) float64 {
	wide := 0.0
	for _, v := range values {
		wide = max(wide, textWidth(categoryName(v), size, false))
	}
	return wide
}

// headWidth is the width that title and notes need, up to most.
func headWidth(title string, notes []string, most float64) float64 {
	wide := textWidth(title, titleSize, true)
	for _, n := range notes {
		wide = max(wide, textWidth(n, SmallSize, false))
	}
	return min(most, wide+12)
}

func (d *Drawing) panel(c Heat, p Panel, x, y, cw, ch float64, turned bool) {
	var frames []Mark
	plain := map[Ink][]Point{} // cells without text; there may be thousands
	var order []Ink
	size := c.labelSize()
	for j, row := range p.Cells {
		// The first value of y is at the bottom, as on an axis.
		y0 := y + ch*float64(len(p.Cells)-1-j)
		for i, cell := range row {
			x0 := x + cw*float64(i)
			if cell.Text == "" && cell.Title == "" && cw == ch {
				if k := Shade(cell.Shade); !math.IsNaN(cell.Shade) {
					if plain[k] == nil {
						order = append(order, k)
					}
					plain[k] = append(plain[k], Point{x0 + cw/2, y0 + ch/2})
				}
				continue
			}
			var marks []Mark
			ink := Soft
			if !math.IsNaN(cell.Shade) {
				marks, ink = append(marks, Area{rect(x0+0.5, y0+0.5, x0+cw-0.5, y0+ch-0.5), Shade(cell.Shade)}), OnShade(cell.Shade)
			}
			if cell.Text != "" {
				marks = append(marks, Label{At: Point{x0 + cw/2, y0 + ch/2}, Text: cell.Text, Size: SmallSize, Ink: ink, Anchor: Middle})
			}
			if len(marks) > 0 {
				d.add(Group{Title: cell.Title, Link: cell.Link, Marks: marks})
			}
			if cell.Framed {
				o := rect(x0+1, y0+1, x0+cw-1, y0+ch-1)
				frames = append(frames, Line{At: append(o, o[0], o[1]), Ink: Bad, Width: 2.4})
			}
		}
		d.add(Label{At: Point{x - 6, y0 + ch/2}, Text: categoryName(c.Y.Values[j]), Size: size, Ink: Soft, Anchor: End})
	}
	for _, k := range order {
		d.add(Dots{At: plain[k], Ink: k, Radius: (cw - 0.6) / (2 * squareness), Shape: Square})
	}
	d.add(frames...)
	end := y + ch*float64(len(p.Cells))
	under := 20.0
	if turned {
		under = max(under, widest(c.X.Values, size)+10)
	}
	for i, v := range c.X.Values {
		at := Point{x + cw*(float64(i)+0.5), end + 10}
		if turned {
			d.add(Label{At: Point{at.X, end + 6}, Text: categoryName(v), Size: size, Ink: Soft, Anchor: End, Turned: true})
			continue
		}
		d.add(Label{At: at, Text: categoryName(v), Size: size, Ink: Soft, Anchor: Middle})
	}
	if c.X.Title != "" {
		d.add(Label{At: Point{x + cw*float64(len(c.X.Values))/2, end + under + 8}, Text: c.X.Title, Size: SmallSize, Ink: Foreground, Anchor: Middle})
	}
	if c.Y.Title != "" {
		d.add(Label{At: Point{x - 18 - widest(c.Y.Values, size), (y + end) / 2}, Text: c.Y.Title, Size: SmallSize, Ink: Foreground, Anchor: Middle, Turned: true})
	}
}
