package report

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"
)

// swept is a table of every kind of row: none, one and two settings, and a cell without a value.
func swept() Table {
	t := Table{ID: "t", Caption: "Words", Unit: "%", Decimals: 1, Columns: []Column{
		{ID: "mine", Title: "mine (stand-in)", StandsFor: "theirs"}, {ID: "theirs", Title: "paper: theirs", Published: true},
	}}
	row := func(id string, at map[string]float64, v float64) Row {
		return Row{ID: id, Title: id, At: at, Cells: []Cell{NewCell(map[int64]float64{1: v, 2: v + 1}, 2), {State: NotPrinted}}}
	}
	g := Group{Rows: []Row{row("plain", nil, 70), row("other", nil, 60)}}
	for i, p := range []float64{1.5, 2, 2.5} {
		g.Rows = append(g.Rows, row(fmt.Sprintf("a@p=%g", p), map[string]float64{"p": p}, float64(50+i)))
	}
	for i, a := range []float64{0x1p-12, 0x1p-8} {
		for j, b := range []float64{0.001, 0.1, 10} {
			g.Rows = append(g.Rows, row(fmt.Sprintf("h@a=%g b=%g", a, b), map[string]float64{"a": a, "b": b}, float64(40+3*i+j)))
		}
	}
	g.Rows = append(g.Rows, Row{ID: "a@p=3", At: map[string]float64{"p": 3}, Cells: []Cell{{State: Failed, Declared: 2}, {State: NotPrinted}}})
	t.Groups = []Group{g}
	return t
}

func TestFigures(t *testing.T) {
	table := swept()
	asked := map[string]bool{}
	figures := Figures(&table, func(dataset, setting string) (float64, bool) {
		asked[dataset+" "+setting] = true
		return map[string]float64{"p": 2, "a": 0x1p-12, "b": 0.1}[setting], true
	})
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
		for _, format := range []string{"png", "svg"} {
			var once, again bytes.Buffer
			if err := f.Draw(&once, format); err != nil {
				t.Fatal(err)
			}
			if err := f.Draw(&again, format); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(once.Bytes(), again.Bytes()) {
				t.Errorf("%s.%s differs from one time to the next", f.Name, format)
			}
			if format == "png" {
				if _, err := png.Decode(&once); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
				continue
			}
			want := map[string][]string{
				"t-mine":     {"plain", "other", "70.5", "60.5"},
				"t-mine-p":   {"the paper's setting, 2", ">1.5<", ">2.5<"},
				"t-mine-a-b": {"2^-12", "2^-8", "40.5", "45.5", "framed: the paper's setting"},
			}[f.Name]
			for _, w := range append(want, "Words, mine (stand-in)") {
				if !strings.Contains(once.String(), strings.ReplaceAll(w, "'", "&#39;")) && !strings.Contains(once.String(), w) {
					t.Errorf("%s.svg does not say %q", f.Name, w)
				}
			}
			if strings.Contains(once.String(), ">3<") {
				t.Errorf("%s.svg shows the failed cell", f.Name)
			}
		}
	}
	if got, want := strings.Join(names, " "), "t-mine t-mine-p t-mine-a-b"; got != want {
		t.Errorf("figures %s, want %s", got, want)
	}
	if !asked["theirs p"] || asked["mine p"] {
		t.Errorf("the paper's settings are asked for %v, want the data set that is stood in for", asked)
	}
}
