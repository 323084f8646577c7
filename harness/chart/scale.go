package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Axis describes an axis.
type Axis struct {
	// Title has the unit: "recognition rate (%)".
	Title string
	// Ticks are the marked values; nil marks round ones.
	Ticks []Tick
	// Log makes the axis logarithmic. All values must be positive.
	Log bool
}

// Tick is a marked value.
type Tick struct {
	Value float64
	Text  string
}

// scale maps values to pixels.
type scale struct {
	low, high  float64 // values
	start, end float64 // pixels
	log        bool
}

// newScale spans the finite values, with a margin on either side, given as a share of their range. It
// is never empty.
func newScale(values []float64, margin float64, log bool) scale {
	s := scale{low: math.Inf(1), high: math.Inf(-1), log: log}
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && (!log || v > 0) {
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
	if s.low > s.high {
		s.low, s.high = 1, 2
	}
	if log {
		if ratio := math.Pow(s.high/s.low, margin); ratio > 1 {
			s.low, s.high = s.low/ratio, s.high*ratio
		} else {
			s.low, s.high = s.low/2, s.high*2
		}
		return s
	}
	room := margin * (s.high - s.low)
	if s.high == s.low {
		room = max(0.05*math.Abs(s.high), 0.5)
	}
	s.low, s.high = s.low-room, s.high+room
	return s
}

// on sets the pixels of the scale.
func (s scale) on(start, end float64) scale {
	s.start, s.end = start, end
	return s
}

// at is the pixel of a value.
func (s scale) at(v float64) float64 {
	share := (v - s.low) / (s.high - s.low)
	if s.log {
		share = math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return s.start + share*(s.end-s.start)
}

// within reports whether a value is on the axis.
func (s scale) within(v float64) bool { return v >= s.low && v <= s.high && (!s.log || v > 0) }

// ticks returns the given ticks, or about n round ones.
func (s scale) ticks(given []Tick, n int) []Tick {
	if given != nil {
		return slices.DeleteFunc(slices.Clone(given), func(t Tick) bool { return !s.within(t.Value) })
	}
	if s.log && s.high/s.low >= 50 {
		var out []Tick
		from, to := math.Floor(math.Log10(s.low)), math.Ceil(math.Log10(s.high))
		step := max(1, math.Ceil((to-from)/float64(n)))
		for e := from; e <= to; e += step {
			if v := math.Pow(10, e); s.within(v) {
				out = append(out, Tick{v, strconv.FormatFloat(v, 'g', 4, 64)})
			}
		}
		return out
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/float64(n))))
	for _, k := range []float64{1, 2, 5, 10} {
		if (s.high-s.low)/(k*step) <= float64(n)+0.5 {
			step *= k
			break
		}
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var out []Tick
	for k := math.Ceil(s.low/step - 1e-9); k*step <= s.high*(1+1e-12)+1e-12; k++ {
		text := strings.Replace(strconv.FormatFloat(k*step, 'f', decimals, 64), "-", "−", 1)
		if k == 0 {
			text = "0"
		}
		out = append(out, Tick{k * step, text})
	}
	return out
}

// thin removes the text of ticks that would overlap the previous one; gap is in pixels. Evenly spaced ticks keep
// the text of every second, third, ... of them.
func thin(ticks []Tick, s scale, gap float64) []Tick {
	out := slices.Clone(ticks)
	if n := len(ticks); n > 2 && even(ticks, s) {
		widest := 0.0
		for _, t := range ticks {
			widest = max(widest, textWidth(t.Text, SmallSize, false))
		}
		step := int(math.Ceil((widest + gap) / math.Abs(s.at(ticks[1].Value)-s.at(ticks[0].Value))))
		for i := range out {
			if i%step != 0 {
				out[i].Text = ""
			}
		}
		return out
	}
	last := math.Inf(-1)
	for i, t := range out {
		half := textWidth(t.Text, SmallSize, false) / 2
		if at := s.at(t.Value); at-half < last+gap {
			out[i].Text = ""
		} else {
			last = at + half
		}
	}
	return out
}

// even reports whether ticks are evenly spaced.
func even(ticks []Tick, s scale) bool {
	first := s.at(ticks[1].Value) - s.at(ticks[0].Value)
	for i := 2; i < len(ticks); i++ {
		if math.Abs(s.at(ticks[i].Value)-s.at(ticks[i-1].Value)-first) > 1 {
			return false
		}
	}
	return true
}

// bottomAxis draws the x axis below a plot: ticks, labels, title, and grid lines up to top.
func (d *Drawing) bottomAxis(s scale, a Axis, y, top float64) {
	ticks := thin(s.ticks(a.Ticks, max(4, int((s.end-s.start)/70))), s, 6)
	for _, t := range ticks {
		x := s.at(t.Value)
		if top < y {
			d.add(Line{At: []Point{{x, top}, {x, y}}, Ink: Rule})
		}
		d.add(Line{At: []Point{{x, y}, {x, y + 4}}, Ink: Soft})
		if t.Text != "" {
			d.add(Label{At: Point{x, y + 13}, Text: t.Text, Size: SmallSize, Ink: Soft, Anchor: Middle})
		}
	}
	d.add(Line{At: []Point{{s.start, y}, {s.end, y}}, Ink: Soft})
	if a.Title != "" {
		d.add(Label{At: Point{(s.start + s.end) / 2, y + 30}, Text: a.Title, Size: SmallSize, Ink: Foreground, Anchor: Middle})
	}
}

// bottomRoom is the height of a bottom axis with a title.
const bottomRoom = 40.0

// leftTicks returns the ticks of the y axis and the width of the axis.
func leftTicks(s scale, a Axis, n int) (ticks []Tick, room float64) {
	ticks = s.ticks(a.Ticks, n)
	for _, t := range ticks {
		room = max(room, textWidth(t.Text, SmallSize, false))
	}
	return ticks, room + 12 + titleRoom(a.Title, s)
}

// titleRoom is the width of the title of the y axis, which has several lines if it is longer than the axis.
func titleRoom(title string, s scale) float64 {
	if title == "" {
		return 0
	}
	return 5 + 13*float64(len(titleLines(title, s)))
}

func titleLines(title string, s scale) []string {
	return wrap(title, SmallSize, math.Abs(s.end-s.start)+16, false)
}

// leftAxis draws the y axis of a plot that reaches from x to right.
func (d *Drawing) leftAxis(s scale, ticks []Tick, title string, x, right float64) {
	for _, t := range ticks {
		y := s.at(t.Value)
		d.add(
			Line{At: []Point{{x, y}, {right, y}}, Ink: Rule},
			Label{At: Point{x - 6, y}, Text: t.Text, Size: SmallSize, Ink: Soft, Anchor: End},
		)
	}
	for i, line := range titleLines(title, s) {
		d.add(Label{At: Point{8 + 13*float64(i), (s.start + s.end) / 2}, Text: line, Size: SmallSize, Ink: Foreground, Anchor: Middle, Turned: true})
	}
}
