package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const untrusted = "</text><script>alert(1)</script>\" onload=\"x\x1b[2J\u202e&amp;"

// drawings has one drawing of each kind, with untrusted text, missing values and equal values.
func drawings() map[string]Drawing {
	nan := math.NaN()
	heat := func(n int, text string) Heat {
		h := Heat{Title: untrusted, Heading: "Heat", Notes: []string{"a note"}}
		p := Panel{Name: "panel"}
		for i := range n {
			h.X.Values, h.Y.Values = append(h.X.Values, fmt.Sprint("x", i)), append(h.Y.Values, fmt.Sprint("y", i))
			row := make([]HeatCell, n)
			for j := range row {
				row[j] = HeatCell{Shade: float64(i*j) / float64(n*n), Text: text}
			}
			row[0].Shade, row[0].Text = nan, ""
			p.Cells = append(p.Cells, row)
		}
		h.Panels = []Panel{p, p}
		return h
	}
	return map[string]Drawing{
		"strip":     Strip{Title: untrusted, Axis: Axis{Title: "accuracy (%)"}, Seeds: []Seed{{1000, 39.5, "39.5", "/run/1"}, {1001, 41, "41.0", ""}}, Mean: 40.2, Low: 38, High: 42, Lines: []Reference{{75.9, untrusted, Printed}}}.Draw(),
		"one seed":  Strip{Title: "one", Seeds: []Seed{{0, 1, "1", ""}}, Mean: 1, Low: 1, High: 1}.Draw(),
		"intervals": Intervals{Title: "i", Heading: untrusted, Rows: []Row{{Name: untrusted, Value: 1, Low: 0.5, High: 2, Text: "1.0"}, {Name: "none", Value: nan, Low: nan, High: nan, Text: "ERR", Bounds: []float64{3}}}, Lines: []Reference{{0, "zero", Soft}}}.Draw(),
		"waterfall": Intervals{Title: "w", Rows: []Row{{Name: "first", Value: 1, Low: 1, High: 1, Step: true}, {Name: "none", Value: nan, Low: nan, High: nan, Step: true}, {Name: untrusted, Value: 3, Low: 2.5, High: 3.5, Step: true}, {Name: "down", Value: 2, Low: 2, High: 2, Step: true}}, Lines: []Reference{{2, "near", Printed}, {2.01, untrusted, Soft}}}.Draw(),
		"curves":    Curves{Title: "c", Heading: "Curves", X: Axis{Title: "lambda", Log: true, Ticks: []Tick{{0.1, "0.1"}, {10, "10"}}}, Mark: &Reference{1, "here", Printed}, Curves: []Curve{{untrusted, []Sample{{0.1, 1, 0.5, 2, "a", "/x"}, {1, nan, nan, nan, "", ""}, {10, 3, 3, 3, "b", ""}}}}}.Draw(),
		"trace":     Curves{Title: "t", Plain: true, Y: Axis{Title: "objective", Log: true}, Curves: []Curve{{"objective", []Sample{{0, 1e6, 1e6, 1e6, "", ""}, {1, 2, 2, 2, "", ""}}}}}.Draw(),
		"constant":  Curves{Title: "t", Curves: []Curve{{"same", []Sample{{1, 0, 0, 0, "", ""}}}}}.Draw(),
		"nothing":   Curves{Title: "t"}.Draw(),
		"heat":      heat(4, "1.5").Draw(),
		"matrix":    heat(40, "").Draw(),
		"slope":     Slope{Title: "s", Left: "paper", Right: untrusted, Items: []SlopeItem{{Name: untrusted, Left: 1, Right: 2, LeftText: "1", RightText: "2", Strong: true, Link: "/c"}, {Name: "b", Left: 1, Right: 2}, {Name: "c", Left: nan, Right: 2}}}.Draw(),
		"stack":     Stack{Title: "s", Parts: []Part{{untrusted, Good}, {"b", Bad}}, Rows: []StackRow{{Name: untrusted, Counts: []int{1, 2}}, {Counts: []int{0, 0}}}, Axis: Axis{Title: "samples"}}.Draw(),
		"scatter":   Scatter{Title: "s", X: "x", Y: "y", Classes: []string{untrusted, "b"}, Points: []Point{{0, 0}, {1, 1}, {0.5, 0.2}}, Class: []int{0, 1, 1}}.Draw(),
		"ranks":     Ranks{Title: "r", Names: []string{untrusted, "b", "c"}, Ranks: []float64{1, 2, 3}, Critical: 9, Cliques: [][2]int{{0, 1}, {1, 2}}}.Draw(),
		"readings": Readings{
			Title: "r", Switches: []Switch{{untrusted, []SwitchValue{{"a", "1/2"}, {"b", ""}}}}, Others: []string{"alike"}, Lines: []Reference{{3, "line", Printed}, {3.01, "near", Bad}},
			Readings: []Reading{{Value: 1, Low: 0, High: 2, Choice: []int{0}, Others: []float64{2}, Link: "/a", Key: "0"}, {Value: 2, Low: 2, High: 2, Choice: []int{1}, Others: []float64{nan}}},
		}.Draw(),
	}
}

var notNumber = regexp.MustCompile(`NaN|Inf|%!`)

// Every drawing is XML of known elements, in a file and inside a page, with finite numbers; its PNG is
// a PNG on white. All are deterministic.
func TestDrawings(t *testing.T) {
	again := drawings()
	for name, d := range drawings() {
		var svg, same bytes.Buffer
		if err := d.Write(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		if err := again[name].Write(&same, "svg"); err != nil || !bytes.Equal(svg.Bytes(), same.Bytes()) {
			t.Errorf("%s differs from one time to the next: %v", name, err)
		}
		for _, text := range []string{svg.String(), d.Inline()} {
			wellFormed(t, name, text)
			if notNumber.MatchString(text) {
				t.Errorf("%s has a number that is none: %s", name, notNumber.FindString(text))
			}
		}
		if strings.Contains(svg.String(), "href") {
			t.Errorf("%s: a file has a link", name)
		}
		if !(d.Width > 0 && d.Height > 0 && d.Width < 5000 && d.Height < 5000) {
			t.Errorf("%s is %v x %v", name, d.Width, d.Height)
		}
		var raw bytes.Buffer
		if err := d.Write(&raw, "png"); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&raw)
		if err != nil {
			t.Fatal(err)
		}
		if r, g, b, a := img.At(1, img.Bounds().Dy()-1).RGBA(); min(r, g, b, a) != 0xffff {
			t.Errorf("%s: the corner is not white", name)
		}
		if w := float64(img.Bounds().Dx()); math.Abs(w-2*d.Width) > 2 {
			t.Errorf("%s: %v pixels for a width of %v", name, w, d.Width)
		}
	}
	if err := (Drawing{}).Write(io.Discard, "pdf"); err == nil || !strings.Contains(err.Error(), "png and svg") {
		t.Errorf("an unknown format: %v", err)
	}
}

func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		tok, err := dec.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: no XML: %v", name, err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains([]string{"svg", "title", "path", "text", "g", "a"}, start.Name.Local) {
			t.Errorf("%s: element <%s>", name, start.Name.Local)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
				t.Errorf("%s: attribute %s=%q", name, a.Name.Local, a.Value)
			}
		}
	}
}

// Inside a page drawings have classes instead of colours. The style sheet defines each class twice:
// light and dark.
func TestStyleSheet(t *testing.T) {
	sheet := StyleSheet()
	class := regexp.MustCompile(`class="([ft]-[a-z0-9]+)"`)
	for name, d := range drawings() {
		text := d.Inline()
		if strings.Contains(text, "#") && strings.Contains(text, "fill=\"#") {
			t.Errorf("%s has a colour of its own", name)
		}
		for _, m := range class.FindAllStringSubmatch(text, -1) {
			if n := strings.Count(sheet, "."+m[1]+"{"); n != 2 && m[1] != "f-hit" {
				t.Errorf("%s: %d rules for %s, want one for light and one for dark", name, n, m[1])
			}
		}
	}
}

func TestTicks(t *testing.T) {
	texts := func(s scale, n int) (out []string) {
		for _, k := range s.ticks(nil, n) {
			out = append(out, k.Text)
		}
		return out
	}
	for _, c := range []struct {
		s    scale
		n    int
		want string
	}{
		{scale{low: 0, high: 10}, 5, "0 2 4 6 8 10"},
		{scale{low: -1, high: 1}, 4, "−1.0 −0.5 0 0.5 1.0"},
		{scale{low: 38.2, high: 76.1}, 4, "40 50 60 70"},
		{scale{low: 0.0013, high: 0.0019}, 3, "0.0014 0.0016 0.0018"},
		{scale{low: 0.002, high: 300, log: true}, 6, "0.01 0.1 1 10 100"},
		{scale{low: 1, high: 1e6, log: true}, 4, "1 100 1e+04 1e+06"},
	} {
		if got := strings.Join(texts(c.s, c.n), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
	for _, values := range [][]float64{nil, {5}, {0}, {math.NaN()}, {-3, -3}, {math.Inf(1), 2}} {
		if s := newScale(values, 0.05, false); !(s.low < s.high) || math.IsInf(s.high, 0) {
			t.Errorf("the scale of %v is %+v", values, s)
		}
	}
}

// Labels keep their order and a minimum distance, and stay in place if there is room.
func TestSpread(t *testing.T) {
	for _, c := range []struct{ at, want []float64 }{
		{[]float64{10, 50, 90}, []float64{10, 50, 90}},
		{[]float64{50, 50, 50}, []float64{40, 50, 60}},
		{[]float64{52, 48}, []float64{55, 45}},
		{[]float64{0, 1, 2}, []float64{0, 10, 20}},
		{[]float64{100, 99}, []float64{100, 90}},
	} {
		got := spread(c.at, 10, 0, 100)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%v: %v, want %v", c.at, got, c.want)
				break
			}
		}
	}
}

func TestShorten(t *testing.T) {
	for in, want := range map[string]string{"short": "short", "a long name": "a long…", "\x1b[2Jäöü": "äöü"} {
		if got := Shorten(in, 7); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A specification curve of few readings has room for its title, which is bold, and for the line below.
func TestFewReadingsFit(t *testing.T) {
	for n := range 4 {
		c := Readings{Heading: strings.Repeat("Recognition rate of SSDL with and without labels ", 3), Switches: []Switch{{"size", []SwitchValue{{"a", ""}}}}}
		for range n {
			c.Readings = append(c.Readings, Reading{Value: 1, Choice: []int{0}})
		}
		d := c.Draw()
		for _, m := range flat(d.Marks) {
			l, ok := m.(Label)
			if !ok || l.Turned {
				continue
			}
			width := textWidth(l.Text, orDefault(l.Size, TextSize), l.Bold)
			left := l.At.X - width*float64(l.Anchor)/2
			if left < 0 || left+width > d.Width {
				t.Errorf("%d readings: %q is from %.0f to %.0f in a drawing of %.0f", n, l.Text, left, left+width, d.Width)
			}
		}
	}
}

// The bar of a step hangs from the nearest row above with a value.
func TestStepsHangFromValues(t *testing.T) {
	nan := math.NaN()
	d := Intervals{Rows: []Row{{Name: "a", Value: 1, Step: true}, {Name: "b", Value: nan, Low: nan, High: nan, Step: true}, {Name: "c", Value: 3, Step: true, Gap: true}}}.Draw()
	var from []float64
	var dots []Point
	for _, m := range flat(d.Marks) {
		switch m := m.(type) {
		case Line:
			if len(m.At) == 2 && m.Ink == Soft && m.At[0].X == m.At[1].X && m.At[1].Y > m.At[0].Y+5 {
				from = append(from, m.At[0].Y)
			}
		case Dots:
			dots = append(dots, m.At...)
		}
	}
	if len(from) != 1 || len(dots) != 2 || from[0] != dots[0].Y {
		t.Errorf("lines begin at %v, the values are at %v", from, dots)
	}
}
