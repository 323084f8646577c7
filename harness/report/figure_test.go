package report

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"ssdl/harness/chart"
	"ssdl/harness/results"
)

// sweptTable has rows that sweep no, one and two settings, and a cell without a value.
func sweptTable() results.Table {
	t := results.Table{ID: "t", Caption: "Words", Metric: results.MetricOf("accuracy"), Columns: []results.Column{
		{ID: "mine", Title: "mine", StandsFor: "theirs"}, {ID: "theirs", Title: "paper: theirs", Published: true},
	}}
	row := func(base string, v float64, setting ...any) results.Row {
		return settingRow(base, []results.Cell{results.NewCell(map[uint64]float64{1: v, 2: v + 1}, 2), {State: results.NotPrinted}}, setting...)
	}
	g := results.Group{Rows: []results.Row{row("plain", 70), row("other", 60)}}
	for i, p := range []float64{1.5, 2, 2.5} {
		g.Rows = append(g.Rows, row("a", float64(50+i), "p", p))
	}
	for i, a := range []float64{0x1p-12, 0x1p-8} {
		for j, b := range []float64{0.001, 0.1, 10} {
			g.Rows = append(g.Rows, row("h", float64(40+3*i+j), "a", a, "b", b))
		}
	}
	none := []results.Cell{{State: results.Failed, RequestedSeeds: 2}, {State: results.NotPrinted}}
	g.Rows = append(
		g.Rows, settingRow("late", []results.Cell{results.NewCell(nil, 2), {State: results.NotPrinted}}),
		settingRow("never", []results.Cell{{State: results.Excluded, RequestedSeeds: 2}, {State: results.NotPrinted}}),
		settingRow("a", none, "p", 2.25),
		settingRow("a", []results.Cell{results.NewCell(map[uint64]float64{1: 51}, 2), {State: results.NotPrinted}}, "p", 3.0),
		settingRow("h", none, "a", 0x1p-10, "b", 10),
	)
	t.Groups = []results.Group{g}
	return t
}

// settingRow is a row at a setting, given as alternating names and values.
func settingRow(base string, cells []results.Cell, setting ...any) results.Row {
	var s results.Setting
	for i := 0; i < len(setting); i += 2 {
		s = append(s, results.Value{Name: setting[i].(string), Value: setting[i+1]})
	}
	return results.Row{ID: results.RowID(base, s), Base: base, Setting: s, Title: base, Cells: cells}
}

func TestFigures(t *testing.T) {
	table := sweptTable()
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
				"t-mine":     {"plain", "other", "70.5", "60.5", "late", "not run", "over 2 seeds; values missing: 1 of 3; 1 row excluded"},
				"t-mine-p":   {"the paper's setting, 2", ">1.5<", ">2.25<", ">2.5<", ">3<", "over 1 to 2 seeds; values missing: 1 of 5"},
				"t-mine-a-b": {"2^-12", "2^-10", "2^-8", "40.5", "45.5", "ERR", "Words, mine (stand-in), h", "framed: the paper's setting", "mean over 2 seeds; values missing: 1 of 7"},
			}[f.Name]
			if strings.Contains(once.String(), "never") {
				t.Errorf("%s.svg has an excluded row", f.Name)
			}
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

// TestFigureOfOneValue draws a table with one value: the axis has room around the value, and the title
// fits.
func TestFigureOfOneValue(t *testing.T) {
	table := sweptTable()
	table.Groups[0].Rows = table.Groups[0].Rows[:1]
	table.Groups[0].Rows[0].Cells[0] = results.NewCell(map[uint64]float64{1: 39.7}, 8)
	var svg bytes.Buffer
	f := Figures(&table, func(string, string) (float64, bool) { return 0, false })[0]
	if err := f.Draw(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">39.7<", ">one seed<", ">38.0<", ">41.0<"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the picture does not say %s:\n%s", want, svg.String())
		}
	}
}

// Every kind of picture marks values with parameters chosen on the test part, and explains the sign.
func TestFigureDaggers(t *testing.T) {
	table := sweptTable()
	untuned := sweptTable()
	plain := Figures(&untuned, func(string, string) (float64, bool) { return 0, false })
	rows := table.Groups[0].Rows
	for i := range rows {
		rows[i].Cells[0].TunedOnTest = rows[i].ID != "other"
	}
	for i, f := range Figures(&table, func(string, string) (float64, bool) { return 0, false }) {
		want := [][]string{{">plain†<", ">other<", ">late<"}, {">a†<"}, {">Words, mine (stand-in), h†<"}}[i]
		svg := drawn(t, f)
		for _, w := range append(want, ">† "+TunedOnTestText+"<") {
			if !strings.Contains(svg, w) {
				t.Errorf("%s.svg does not say %s", f.Name, w)
			}
		}
		if got, want := strings.Join(f.TunedOnTest(), " "), []string{"plain", "a", "h"}[i]; got != want {
			t.Errorf("%s has † at %s, want %s", f.Name, got, want)
		}
		if strings.Contains(drawn(t, plain[i]), "†") {
			t.Errorf("%s.svg has † without a reason", f.Name)
		}
	}
}

// A row that sweeps whole numbers is a curve. One that sweeps three settings has a map for each value
// of the setting with the fewest values.
func TestFigureOfWholeNumbersAndOfThreeSettings(t *testing.T) {
	cell := func(v float64) []results.Cell { return []results.Cell{results.NewCell(map[uint64]float64{1: v}, 1)} }
	g := results.Group{}
	for i, k := range []int{10, 20, 40} {
		g.Rows = append(g.Rows, settingRow("atoms", cell(float64(60+i)), "K", k))
		for j, a := range []float64{0.1, 1} {
			for l, b := range []float64{0, 1, 2} {
				g.Rows = append(g.Rows, settingRow("cube", cell(float64(10*i+3*j+l)), "K", k, "a", a, "b", b))
			}
		}
	}
	table := results.Table{ID: "t", Caption: "Words", Metric: results.MetricOf("accuracy"), Columns: []results.Column{{ID: "mine", Title: "mine"}}, Groups: []results.Group{g}}
	figures := Figures(&table, func(string, string) (float64, bool) { return 0, false })
	if len(figures) != 2 || figures[0].Name != "t-mine-K" || figures[1].Name != "t-mine-K-a-b" {
		t.Fatalf("figures %+v", figures)
	}
	curve, maps := drawn(t, figures[0]), drawn(t, figures[1])
	for _, want := range []string{">10<", ">20<", ">40<", ">K<"} {
		if !strings.Contains(curve, want) {
			t.Errorf("the curve does not say %s", want)
		}
	}
	for _, want := range []string{">a = 0.1<", ">a = 1<", ">0.0<", ">25.0<", ">K<", ">b<"} {
		if !strings.Contains(maps, want) {
			t.Errorf("the maps do not say %s", want)
		}
	}
}

// A row that sweeps words is a specification curve: every reading once, the other rows as lines and
// squares.
func TestFigureOfReadings(t *testing.T) {
	cell := func(v float64) []results.Cell {
		return []results.Cell{results.NewCell(map[uint64]float64{1: v - 1, 2: v + 1}, 2)}
	}
	g := results.Group{Rows: []results.Row{settingRow("line", cell(70))}}
	for i, norm := range []string{"ball", "sphere"} {
		g.Rows = append(g.Rows, settingRow("alike", cell(float64(60+10*i)), "norm", norm))
		for j, fill := range []float64{0, 0.5} {
			g.Rows = append(g.Rows, settingRow("mine", cell(float64(65+8*i-3*j)), "norm", norm, "fill", fill))
		}
	}
	table := results.Table{ID: "t", Caption: "Words", Metric: results.MetricOf("accuracy"), Columns: []results.Column{{ID: "x", Title: "x"}}, Groups: []results.Group{g}}
	figures := Figures(&table, func(string, string) (float64, bool) { return 0, false })
	if len(figures) != 1 || figures[0].Name != "t-x-readings" {
		t.Fatalf("figures %+v", figures)
	}
	svg := drawn(t, figures[0])
	for _, want := range []string{
		">line 70.0<", ">alike, same reading<", ">norm<", ">ball<", ">sphere<", ">fill<", ">63.5, 0/2<", ">71.5, 1/2<", ">69.0, 1/2<",
		">readings sorted by their value: 4<", "means over 2 seeds",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture does not say %s", want)
		}
	}
}

// The file name of a picture of generated data says so, as for tables.
func TestFiguresSaySynthetic(t *testing.T) {
	table := sweptTable()
	table.Columns[0].Synthetic = true
	for _, f := range Figures(&table, func(string, string) (float64, bool) { return 0, false }) {
		if !strings.HasSuffix(f.Name, "-synthetic") || !strings.HasPrefix(f.Title, "Words, mine (synthetic)") {
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

// TestFigureGap: a curve has a gap at a missing value.
func TestFigureGap(t *testing.T) {
	table := sweptTable()
	for _, f := range Figures(&table, func(string, string) (float64, bool) { return 0, false }) {
		if f.Name != "t-mine-p" {
			continue
		}
		s := figureDrawing{Figure: f, link: func(string) string { return "" }}.series()
		if len(s) != 1 || len(s[0].Points) != 5 {
			t.Fatalf("series %+v, want five values of one row", s)
		}
		for i, p := range s[0].Points {
			if math.IsNaN(p.Y) != (p.X == 2.25) || math.IsNaN(p.Low) != math.IsNaN(p.Y) {
				t.Errorf("point %d is %+v, want a gap at 2.25 alone", i, p)
			}
		}
	}
}

// TestFigurePerMap: two rows that sweep the same two settings have a map each. A map has no frame if
// the paper gives no setting, even if 0 is swept.
func TestFigurePerMap(t *testing.T) {
	cell := func(v float64) []results.Cell { return []results.Cell{results.NewCell(map[uint64]float64{1: v}, 1)} }
	table := results.Table{ID: "t", Caption: "Words", Metric: results.MetricOf("accuracy"), Columns: []results.Column{{ID: "mine", Title: "mine"}}}
	g := results.Group{}
	for i, id := range []string{"crc", "src"} {
		for _, a := range []float64{0, 1} {
			for _, b := range []float64{0, 1} {
				r := settingRow(id, cell(float64(50+10*i)), "a", a, "b", b)
				r.Title = strings.ToUpper(id)
				g.Rows = append(g.Rows, r)
			}
		}
	}
	table.Groups = []results.Group{g}
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

// Steps rise or fall from one with a value to the next; the other rows are lines.
func TestFigureOfSteps(t *testing.T) {
	row := func(id string, role results.Role, cells ...results.Cell) results.Row {
		r := results.Row{ID: id, Base: id, Title: "row " + id, Role: role, Method: "ssdl", Cells: cells}
		if role == results.Step {
			r.Pretext = "pahl"
		}
		return r
	}
	cell := func(v float64) results.Cell { return results.NewCell(map[uint64]float64{1: v}, 1) }
	for _, c := range []struct {
		metric string
		want   []chart.Ink
	}{{"accuracy", []chart.Ink{"", "", chart.Good, chart.Bad, ""}}, {"bce", []chart.Ink{"", "", chart.Bad, chart.Good, ""}}} {
		table := results.Table{ID: "t", Caption: "Words", Metric: results.MetricOf(c.metric), Columns: []results.Column{{ID: "mine", Title: "mine"}}, Groups: []results.Group{{Rows: []results.Row{
			row("a", results.Step, cell(30)), row("gone", results.Step, results.Cell{State: results.NotRun}), row("b", results.Step, cell(70)), row("c", results.Step, cell(50)), row("d", results.Step, cell(50)), row("line", "", cell(60)),
		}}}}
		figures := Figures(&table, func(string, string) (float64, bool) { return 0, false })
		if len(figures) != 1 {
			t.Fatalf("%d figures, want one", len(figures))
		}
		is := figureDrawing{Figure: figures[0], link: func(string) string { return "" }}.intervals()
		if len(is.Notes) > 0 || is.Rows[1].Gap {
			t.Errorf("steps have blocks and the notes %q", is.Notes)
		}
		if len(is.Rows) != 5 || len(is.Lines) != 1 || is.Lines[0].Value != 60 || !strings.HasPrefix(is.Lines[0].Text, "row line 60") {
			t.Fatalf("rows %+v, lines %+v", is.Rows, is.Lines)
		}
		var inks []chart.Ink
		for _, r := range is.Rows {
			inks = append(inks, r.Ink)
			if !r.Step {
				t.Errorf("%s is no step", r.Name)
			}
		}
		if !slices.Equal(inks, c.want) {
			t.Errorf("%s: inks %q, want %q", c.metric, inks, c.want)
		}
		if text := is.Rows[2].Text; !strings.Contains(text, "(+40.0") || strings.Contains(is.Rows[0].Text, "(") {
			t.Errorf("the difference is not %q's", text)
		}
	}
}

// Where learners stand with and without a pretext task, each has a block, and is grey without one.
func TestFigureOfLearners(t *testing.T) {
	row := func(method, pretext string) results.Row {
		return results.Row{ID: pretext + method, Base: pretext + method, Title: pretext + method, Method: method, Pretext: pretext, Cells: []results.Cell{results.NewCell(map[uint64]float64{1: 50}, 1)}}
	}
	inks := func(rows ...results.Row) (inks []chart.Ink, gaps []bool, notes []string) {
		table := results.Table{ID: "t", Metric: results.MetricOf("accuracy"), Columns: []results.Column{{ID: "mine", Title: "mine"}}, Groups: []results.Group{{Rows: rows}}}
		figures := Figures(&table, func(string, string) (float64, bool) { return 0, false })
		if len(figures) != 1 {
			t.Fatalf("%d figures, want one", len(figures))
		}
		is := figureDrawing{Figure: figures[0], link: func(string) string { return "" }}.intervals()
		for _, r := range is.Rows {
			inks, gaps = append(inks, r.Ink), append(gaps, r.Gap)
		}
		return inks, gaps, is.Notes
	}
	ink, gap, notes := inks(row("ssdl", "pahl"), row("ledl", ""), row("ledl", "pahl"), row("crc", ""))
	if !slices.Equal(ink, []chart.Ink{"", chart.Soft, "", ""}) || !slices.Equal(gap, []bool{false, true, false, true}) || len(notes) != 1 {
		t.Errorf("inks %q, gaps %v, notes %q", ink, gap, notes)
	}
	if ink, gap, notes = inks(row("ssdl", "pahl"), row("crc", "")); !slices.Equal(ink, []chart.Ink{"", ""}) || slices.Contains(gap, true) || len(notes) != 0 {
		t.Errorf("without a pair: inks %q, gaps %v, notes %q", ink, gap, notes)
	}
}

// A page does not draw a figure whose values are all at one place or mostly missing.
func TestTooFew(t *testing.T) {
	missing := results.NewCell(nil, 2)
	value := results.NewCell(map[uint64]float64{1: 50}, 2)
	for _, c := range []struct {
		cells []results.Cell
		want  bool
	}{
		{[]results.Cell{value}, true},
		{[]results.Cell{value, missing, missing}, true},
		{[]results.Cell{value, value, missing}, false},
		{append([]results.Cell{value, value}, slices.Repeat([]results.Cell{missing}, 15)...), true},
	} {
		for _, swept := range []bool{false, true} {
			table := results.Table{ID: "t", Columns: []results.Column{{ID: "mine", Title: "mine"}}, Metric: results.MetricOf("accuracy")}
			var g results.Group
			for i, cell := range c.cells {
				row := settingRow(fmt.Sprint("row", i), []results.Cell{cell})
				if swept {
					row = settingRow("row", []results.Cell{cell}, "p", float64(i))
				}
				g.Rows = append(g.Rows, row)
			}
			table.Groups = []results.Group{g}
			figures := Figures(&table, func(string, string) (float64, bool) { return 0, false })
			if len(figures) != 1 || figures[0].TooFew() != c.want {
				t.Errorf("%d cells, swept %v: %d figures, too few is not %v", len(c.cells), swept, len(figures), c.want)
			}
		}
	}
}

// Rows that sweep lambda of the method and lambda of the pretext have a file each. The name of the first is as
// without the second.
func TestFigureNamesDiffer(t *testing.T) {
	table := sweptTable()
	cells := table.Groups[0].Rows[0].Cells
	var rows []results.Row
	for _, name := range []string{"lambda", "pretext.lambda", "pretext.m"} {
		for _, v := range []float64{1, 2} {
			rows = append(rows, settingRow("a", cells, name, v))
		}
	}
	table.Groups = []results.Group{{Rows: rows}}
	var names []string
	for _, f := range Figures(&table, func(string, string) (float64, bool) { return 0, false }) {
		names = append(names, f.Name)
	}
	if want := []string{"t-mine-lambda", "t-mine-pretext.lambda", "t-mine-m"}; !slices.Equal(names, want) {
		t.Errorf("figures %v, want %v", names, want)
	}
}
