package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

func diagram(n int) CriticalDifference {
	d := CriticalDifference{Title: "Ranks", Notes: []string{"a note"}, Critical: 2.5}
	for i := range n {
		d.Methods, d.Ranks = append(d.Methods, "method "+letters(i)), append(d.Ranks, 1+float64(i)*0.9)
	}
	d.Cliques = [][2]int{{0, 1}, {1, n - 1}}
	return d
}

func TestCriticalDifference(t *testing.T) {
	hostile := diagram(3)
	hostile.Methods[1] = "</text><script> \x1b[2J&\u202e µ"
	hostile.Critical = 1000
	for name, d := range map[string]CriticalDifference{"three": diagram(3), "fifteen": diagram(15), "forty": diagram(40), "hostile": hostile} {
		for _, format := range []string{"png", "svg"} {
			var once, again bytes.Buffer
			if err := d.Draw(&once, format); err != nil {
				t.Fatal(err)
			}
			if err := d.Draw(&again, format); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(once.Bytes(), again.Bytes()) {
				t.Errorf("%s.%s differs from one time to the next", name, format)
			}
			if format == "png" {
				img, err := png.Decode(&once)
				if err != nil {
					t.Fatal(err)
				}
				if r, g, b, a := img.At(1, 1).RGBA(); min(r, g, b, a) != 0xffff {
					t.Errorf("%s: the corner is not white", name)
				}
				continue
			}
			for _, want := range []string{"Ranks", "a note", "critical difference"} {
				if !strings.Contains(once.String(), want) {
					t.Errorf("%s.svg does not say %q", name, want)
				}
			}
			for i, m := range d.Methods {
				if name != "hostile" && (!strings.Contains(once.String(), ">"+m+"<") || !strings.Contains(once.String(), ">"+fmt.Sprintf("%.2f", d.Ranks[i])+"<")) {
					t.Errorf("%s.svg lacks %s or its rank", name, m)
				}
			}
			dec := xml.NewDecoder(&once)
			for {
				if _, err := dec.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s.svg: %v", name, err)
				}
			}
		}
	}
}

// A method with parameters chosen on the test part is marked †, and the diagram explains the sign.
func TestCriticalDifferenceDaggers(t *testing.T) {
	svg := func(d CriticalDifference) string {
		var b bytes.Buffer
		if err := d.Draw(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	d := diagram(3)
	d.TunedOnTest = []bool{false, true, false}
	s := svg(d)
	for _, want := range []string{">method a<", ">method b†<", ">method c<", ">† " + TunedOnTestText + "<"} {
		if !strings.Contains(s, want) {
			t.Errorf("the diagram does not say %s", want)
		}
	}
	d.TunedOnTest = make([]bool, 3)
	if without := svg(diagram(3)); svg(d) != without || strings.Contains(without, "†") {
		t.Error("no method is marked, and the diagram is another")
	}
}

func TestCriticalDifferenceRefuses(t *testing.T) {
	for want, change := range map[string]func(*CriticalDifference){
		"1 method(s)":         func(d *CriticalDifference) { d.Methods, d.Ranks = d.Methods[:1], d.Ranks[:1] },
		"1 marks of 3":        func(d *CriticalDifference) { d.TunedOnTest = []bool{true} },
		"2 ranks of 3":        func(d *CriticalDifference) { d.Ranks = d.Ranks[:2] },
		"ascending":           func(d *CriticalDifference) { d.Ranks[0] = 3 },
		"in 1..3":             func(d *CriticalDifference) { d.Ranks[2] = math.NaN() },
		"critical difference": func(d *CriticalDifference) { d.Critical = math.Inf(1) },
		"clique 1..3":         func(d *CriticalDifference) { d.Cliques[1][1] = 3 },
	} {
		d := diagram(3)
		change(&d)
		if err := d.Draw(io.Discard, "png"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	if err := diagram(3).Draw(io.Discard, "pdf"); err == nil || !strings.Contains(err.Error(), "png and svg") {
		t.Errorf("a format that does not exist: error %v", err)
	}
}
