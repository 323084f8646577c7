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
		{ID: "mine", Title: "mine", StandsFor: "theirs"}, {ID: "theirs", Title: "paper: theirs", Published: true},
	}}
	row := func(id string, at map[string]float64, v float64) Row {
		return Row{ID: id, Title: id, At: at, Cells: []Cell{NewCell(map[uint64]float64{1: v, 2: v + 1}, 2), {State: NotPrinted}}}
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
	none := []Cell{{State: Failed, Declared: 2}, {State: NotPrinted}}
	g.Rows = append(
		g.Rows, Row{ID: "late", Title: "late", Cells: []Cell{NewCell(nil, 2), {State: NotPrinted}}},
		Row{ID: "a@p=2.25", Title: "a@p=2.25", At: map[string]float64{"p": 2.25}, Cells: none},
		Row{ID: "a@p=3", Title: "a@p=3", At: map[string]float64{"p": 3}, Cells: []Cell{NewCell(map[uint64]float64{1: 51}, 2), {State: NotPrinted}}},
		Row{ID: "h@a=0.0009765625 b=10", Title: "h", At: map[string]float64{"a": 0x1p-10, "b": 10}, Cells: none},
	)
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
				"t-mine":     {"plain", "other", "70.5", "60.5", "late", "not yet", "over 2 seeds; 1 of 3 values are missing"},
				"t-mine-p":   {"the paper's setting, 2", ">1.5<", ">2.25<", ">2.5<", ">3<", "over 1 to 2 seeds; 1 of 5 values are missing"},
				"t-mine-a-b": {"2^-12", "2^-10", "2^-8", "40.5", "45.5", "ERR", "framed: the paper's setting", "mean over 2 seeds; 1 of 7"},
			}[f.Name]
			for _, w := range append(want, "Words, mine (stand-in)") {
				if !strings.Contains(once.String(), strings.ReplaceAll(w, "'", "&#39;")) && !strings.Contains(once.String(), w) {
					t.Errorf("%s.svg does not say %q", f.Name, w)
				}
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

// TestFigureOfOneValue is the picture of a table that has just begun: an axis with room around
// the value, and a title that fits.
func TestFigureOfOneValue(t *testing.T) {
	table := swept()
	table.Groups[0].Rows = table.Groups[0].Rows[:1]
	table.Groups[0].Rows[0].Cells[0] = NewCell(map[uint64]float64{1: 39.7}, 8)
	var svg bytes.Buffer
	f := Figures(&table, func(string, string) (float64, bool) { return 0, false })[0]
	if err := f.Draw(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">39.7<", ">one seed<", ">36<", ">40<"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the picture does not say %s:\n%s", want, svg.String())
		}
	}
}

// The sign of parameters chosen on the test part stands in every kind of picture, with what it means,
// at what it is about.
func TestFigureDaggers(t *testing.T) {
	table := swept()
	plain := Figures(&table, func(string, string) (float64, bool) { return 0, false })
	rows := table.Groups[0].Rows
	for i := range rows {
		rows[i].Title = strings.Replace(rows[i].ID, "@", " ", 1)
		rows[i].Cells[0].Dagger = rows[i].ID != "other"
	}
	for i, f := range Figures(&table, func(string, string) (float64, bool) { return 0, false }) {
		want := [][]string{{">plain†<", ">other<", ">late<"}, {">a†<"}, {">Words, mine (stand-in)†<"}}[i]
		svg := drawn(t, f)
		for _, w := range append(want, ">† "+DaggerText+"<") {
			if !strings.Contains(svg, w) {
				t.Errorf("%s.svg does not say %s", f.Name, w)
			}
		}
		if got, want := strings.Join(f.Flattered(), " "), []string{"plain", "a", "h"}[i]; got != want {
			t.Errorf("%s has † at %s, want %s", f.Name, got, want)
		}
		if strings.Contains(drawn(t, plain[i]), "†") {
			t.Errorf("%s.svg has † without a reason", f.Name)
		}
	}
}

// What a picture of generated data is called says so, as the tables do.
func TestFiguresSaySynthetic(t *testing.T) {
	table := swept()
	table.Columns[0].Synthetic = true
	for _, f := range Figures(&table, func(string, string) (float64, bool) { return 0, false }) {
		if !strings.HasSuffix(f.Name, "-synthetic") || f.Title != "Words, mine (synthetic)" {
			t.Errorf("%s: %s", f.Name, f.Title)
		}
	}
}

func drawn(t *testing.T, f Figure) string {
	t.Helper()
	var svg bytes.Buffer
	if err := f.Draw(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	return svg.String()
}

// TestFigureGap: a curve does not run through the place of a missing value.
func TestFigureGap(t *testing.T) {
	table := swept()
	for _, f := range Figures(&table, func(string, string) (float64, bool) { return 0, false }) {
		if f.Name != "t-mine-p" {
			continue
		}
		s := f.series()
		if len(s) != 1 || len(s[0].XYs) != 4 || len(s[0].runs) != 2 || len(s[0].runs[0]) != 2 || s[0].runs[1][1].X != 3 {
			t.Errorf("series %+v, want 1.5 and 2, and apart from them 2.5 and 3", s[0])
		}
	}
}

// TestFigurePerMap: two rows that sweep the same two settings have a map each, and a map has no
// frame where the paper gives no setting, though 0 is swept.
func TestFigurePerMap(t *testing.T) {
	cell := func(v float64) []Cell { return []Cell{NewCell(map[uint64]float64{1: v}, 1)} }
	table := Table{ID: "t", Caption: "Words", Unit: "%", Decimals: 1, Columns: []Column{{ID: "mine", Title: "mine"}}}
	g := Group{}
	for i, id := range []string{"crc", "src"} {
		for _, a := range []float64{0, 1} {
			for _, b := range []float64{0, 1} {
				g.Rows = append(g.Rows, Row{
					ID: fmt.Sprintf("%s@a=%g b=%g", id, a, b), Title: fmt.Sprintf("%s a=%g b=%g", strings.ToUpper(id), a, b),
					At: map[string]float64{"a": a, "b": b}, Cells: cell(float64(50 + 10*i)),
				})
			}
		}
	}
	table.Groups = []Group{g}
	figures := Figures(&table, func(string, string) (float64, bool) { return 0, false })
	if len(figures) != 2 || figures[0].Name != "t-mine-crc-a-b" || figures[1].Name != "t-mine-src-a-b" {
		t.Fatalf("%d figures, want one for each row: %+v", len(figures), figures)
	}
	for i, f := range figures {
		var svg bytes.Buffer
		if err := f.Draw(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		if strings.Count(svg.String(), fmt.Sprintf(">%d.0<", 50+10*i)) != 4 || strings.Contains(svg.String(), "framed") || !strings.Contains(svg.String(), []string{"CRC", "SRC"}[i]) {
			t.Errorf("%s: want four cells of its own row, its name and no frame", f.Name)
		}
	}
}
