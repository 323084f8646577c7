package chart

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
)

// Ink is a colour by purpose. Pages have a light and a dark version of each, files the light one.
type Ink string

// Inks of text and axes, of the paper's numbers, and of verdicts.
const (
	Foreground Ink = "ink"
	Soft       Ink = "soft"
	Rule       Ink = "rule"
	Band       Ink = "band"    // behind values: intervals, every other row
	Clear      Ink = "clear"   // of the page itself
	Printed    Ink = "printed" // numbers of the paper
	Ours       Ink = "s0"
	Faint      Ink = "faint" // for comparison
	Good       Ink = "s2"
	Bad        Ink = "s1"
	hit        Ink = "hit" // invisible: the area of a group that takes clicks on a page; not in files
)

// Series is the ink of curve i.
func Series(i int) Ink { return Ink("s" + strconv.Itoa(i%7)) }

// shadeLevels is the number of shades of a heat map.
const shadeLevels = 16

// Shade is the ink of a value on a heat map: 0 is the faintest, 1 the strongest.
func Shade(t float64) Ink {
	return Ink("h" + strconv.Itoa(level(t)))
}

// OnShade is the ink of text on Shade(t).
func OnShade(t float64) Ink {
	if level(t) >= shadeLevels*5/8 {
		return "hi"
	}
	return "lo"
}

func level(t float64) int {
	return int(math.Round(max(0, min(1, t)) * (shadeLevels - 1)))
}

// tone is the light and the dark version of an ink.
type tone struct{ light, dark color.RGBA }

// tones has the palette of Okabe and Ito for series, which most colour-blind readers can tell apart,
// with lighter hues on dark. Its yellow is left out: it is invisible on white.
var tones = map[Ink]tone{
	Foreground: {rgb(0x1b1f24), rgb(0xe8eaed)},
	Soft:       {rgb(0x5b6470), rgb(0xa3adb8)},
	Rule:       {rgb(0xd5dae0), rgb(0x39414b)},
	Band:       {rgb(0xe9eef3), rgb(0x262d36)},
	Clear:      {rgb(0xffffff), rgb(0x15191e)},
	Printed:    {rgb(0xa9457f), rgb(0xe6a3c9)},
	Faint:      {rgb(0xaeb6bf), rgb(0x66707b)},
	"s0":       {rgb(0x0072b2), rgb(0x5cb3ea)},
	"s1":       {rgb(0xd55e00), rgb(0xf58a45)},
	"s2":       {rgb(0x008f68), rgb(0x34c79d)},
	"s3":       {rgb(0xcc79a7), rgb(0xe09fc5)},
	"s4":       {rgb(0xe69f00), rgb(0xf2b93b)},
	"s5":       {rgb(0x56b4e9), rgb(0x9ed6f8)},
	"s6":       {rgb(0x4d4d4d), rgb(0xc0c0c0)},
	"lo":       {rgb(0x1b1f24), rgb(0xe8eaed)},
	"hi":       {rgb(0xffffff), rgb(0x0d1014)},
}

// inks lists all inks in a fixed order.
var inks = func() []Ink {
	out := []Ink{Foreground, Soft, Rule, Band, Clear, Printed, Faint, "s0", "s1", "s2", "s3", "s4", "s5", "s6", "lo", "hi"}
	light := []color.RGBA{rgb(0xf3f7fb), rgb(0x9ecae1), rgb(0x3182bd), rgb(0x08306b)}
	dark := []color.RGBA{rgb(0x1d242c), rgb(0x1f4f78), rgb(0x3f92cf), rgb(0xbfe0f7)}
	for i := range shadeLevels {
		ink, t := Ink("h"+strconv.Itoa(i)), float64(i)/(shadeLevels-1)
		tones[ink] = tone{between(light, t), between(dark, t)}
		out = append(out, ink)
	}
	return out
}()

func rgb(v uint32) color.RGBA { return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

// between interpolates the colour at t in 0..1 through anchors.
func between(anchors []color.RGBA, t float64) color.RGBA {
	at := t * float64(len(anchors)-1)
	i := min(int(at), len(anchors)-2)
	share := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	a, b := anchors[i], anchors[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// colour is the light version of the ink.
func (k Ink) colour() color.RGBA {
	t, ok := tones[k]
	if !ok {
		t = tones[Foreground]
	}
	return t.light
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// StyleSheet returns the CSS for drawings in pages: light and dark colours.
func StyleSheet() string {
	var b strings.Builder
	b.WriteString("svg.chart{font-family:\"Liberation Sans\",Arial,Helvetica,sans-serif;overflow:visible}\nsvg.chart path{fill:none;stroke-linejoin:round}\nsvg.chart .f-hit{fill:none;pointer-events:all}\n")
	rules := func(of func(tone) color.RGBA) {
		for _, k := range inks {
			c := hex(of(tones[k]))
			fmt.Fprintf(&b, "svg.chart .f-%s{fill:%s}svg.chart .t-%s{stroke:%s}\n", k, c, k, c)
		}
	}
	rules(func(t tone) color.RGBA { return t.light })
	b.WriteString("@media (prefers-color-scheme:dark){\n")
	rules(func(t tone) color.RGBA { return t.dark })
	b.WriteString("}\n")
	return b.String()
}
