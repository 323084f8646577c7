package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
)

// finding is the one on a claim and a data set.
func finding(t *testing.T, r Result, claim, column string) Finding {
	t.Helper()
	for _, f := range r.Claims {
		if f.Claim == claim && f.Column == column {
			return f
		}
	}
	t.Fatalf("no finding on %s, %s", claim, column)
	return Finding{}
}

// all gives every row of a layout but ssdl the same cell.
func all(l paper.Layout, c report.Cell) map[string][]report.Cell {
	out := map[string][]report.Cell{}
	for _, r := range l.Rows() {
		out[r.ID] = []report.Cell{c}
	}
	return out
}

func TestMargins(t *testing.T) {
	l := paper.Tables()[0]
	base := cell(70, 71, 72, 73, 70, 71, 72, 73)
	plus := func(by ...float64) report.Cell { // twice the four
		return cell(70+by[0], 71+by[1], 72+by[2], 73+by[3], 70+by[0], 71+by[1], 72+by[2], 73+by[3])
	}
	failed := report.Cell{State: report.Failed, Declared: 8}
	for _, c := range []struct {
		name                 string
		ssdl                 report.Cell
		change               map[string]report.Cell
		best, margin, labels Decision
		why                  string
	}{
		{"far above all", plus(5, 5.1, 4.9, 5), nil, Holds, Holds, Holds, "the most adverse of 11"},
		// The means of the seeds differ by more than the claimed margin, but only pairing shows it.
		{"by two points", plus(2, 2.1, 1.9, 2), nil, Holds, Holds, Fails, "ssdl over"},
		{"by half a point", plus(0.5, 0.6, 0.4, 0.5), nil, Holds, Fails, Fails, ""},
		{"by exactly the margin", plus(1.1, 1.1, 1.1, 1.1), nil, Holds, Holds, Fails, ""},
		{"noise", plus(2, -2, 3, -2.5), nil, Undecided, Undecided, Undecided, ""},
		// Level on eight seeds with each is decided among four methods, and not among eleven.
		{"a tie", base, nil, Undecided, Undecided, Fails, ""},
		{"below one", plus(3, 3, 3, 3), map[string]report.Cell{"addl": plus(4, 4.1, 3.9, 4)}, Fails, Fails, Holds, "ssdl over addl: -1.00"},
		{"one is missing", plus(3, 3, 3, 3), map[string]report.Cell{"ledl": failed}, Undecided, Undecided, Undecided, "no result of ledl"},
		// One better method is enough, whatever the missing one would have given.
		{"one is missing, one better", plus(3, 3, 3, 3), map[string]report.Cell{"ledl": failed, "crc": plus(6, 6.1, 5.9, 6)}, Fails, Fails, Undecided, "ledl"},
		{"one seed", cell(80), nil, Undecided, Undecided, Undecided, "one common seed"},
		{"no result", failed, nil, Undecided, Undecided, Undecided, "no result of ssdl"},
		{"no common seed", report.NewCell(map[uint64]float64{1: 80, 2: 81}, 8), nil, Undecided, Undecided, Undecided, "no common seed"},
	} {
		cells := all(l, base)
		cells["ssdl"] = []report.Cell{c.ssdl}
		for id, other := range c.change {
			cells[id] = []report.Cell{other}
		}
		r := verify(t, table(l, stanford, cells), "table1")
		for claim, want := range map[string]Decision{"ssdl-best": c.best, "ssdl-margin": c.margin, "ssdl-margin-label-embedded": c.labels} {
			if f := finding(t, r, claim, "stanford40"); f.Decision != want {
				t.Errorf("%s: %s %s (%s), want %s", c.name, claim, f.Decision, f.Why, want)
			}
		}
		if f := finding(t, r, "ssdl-best", "stanford40"); !strings.Contains(f.Why, c.why) {
			t.Errorf("%s: why is %q, want %q in it", c.name, f.Why, c.why)
		}
		if f := finding(t, r, "ssdl-best", "uiuc-se"); f.Decision != Undecided || f.Why != "no results on this data set" {
			t.Errorf("%s: without a column %+v", c.name, f)
		}
	}
}

// Of eleven methods one is ahead by chance: its interval alone does not refute the claim.
func TestFamily(t *testing.T) {
	l := paper.Tables()[0]
	base := []float64{70, 71, 72, 73, 70, 71, 72, 73}
	cells := all(l, cell(base...))
	cells["ssdl"] = []report.Cell{cell(73, 74.1, 75, 76, 73.1, 74, 75, 76)} // ahead of all but one
	cells["addl"] = []report.Cell{cell(75, 77.6, 77, 77, 75.6, 74.8, 77, 78.5)}
	f := finding(t, verify(t, table(l, stanford, cells), "table1"), "ssdl-best", "stanford40")
	i := slices.IndexFunc(f.Contrasts, func(c Contrast) bool { return c.What == "ssdl over addl" })
	c := f.Contrasts[i]
	if c.Interval.High >= 0 || *c.P <= 0.05/11 || *c.P >= 0.05 {
		t.Fatalf("ssdl over addl %+v, P %v: want an interval below 0 that 11 comparisons do not bear", c.Interval, *c.P)
	}
	if f.Decision != Undecided || math.Abs(*c.Refuted-11*(*c.P)) > 1e-12 || !strings.Contains(f.Why, "adjusted p 0.") {
		t.Errorf("%s (%s), want undecided at %v", f.Decision, f.Why, 11*(*c.P))
	}
	// Alone it is refuted, and beyond a margin by the P against the margin.
	for number, kind := range map[float64]paper.Kind{0: paper.Best, 1: paper.Margin} {
		alone := []Contrast{c}
		settle(alone, kind, number)
		if alone[0].Decision != Fails || (*alone[0].Refuted < *c.P) != (number > 0) {
			t.Errorf("alone against %v: %s at %v, the P of no difference is %v", number, alone[0].Decision, *alone[0].Refuted, *c.P)
		}
	}
}

// A claim that leans on parameters chosen on the test part says so.
func TestDaggerIsSaid(t *testing.T) {
	l := paper.Tables()[1]
	tuned := cell(0.5, 0.6, 0.7)
	tuned.Dagger = true
	cells := map[string][]report.Cell{"dhsl": {tuned}, "pahl": {cell(0.5, 0.6, 0.7)}}
	f := finding(t, verify(t, table(l, stanford, cells), "table2"), "pahl-similar-dhsl", "stanford40")
	if want := "pahl over dhsl†: "; !strings.HasPrefix(f.Why, want) {
		t.Errorf("why is %q, want it to begin with %q", f.Why, want)
	}
}

func TestPairing(t *testing.T) {
	l := paper.Tables()[1]
	cells := map[string][]report.Cell{
		"gl": {cell(0.5, 0.6, 0.7)}, "hl": {cell(0.5, 0.6, 0.7)}, "hlw": {cell(0.5, 0.6, 0.7)},
		// Seeds 1001 and 1002 are shared; unpaired, the means would not differ by 0.1.
		"pahl": {report.NewCell(map[uint64]float64{1001: 0.5, 1002: 0.602, 1003: 0.9}, 8)},
	}
	f := finding(t, verify(t, table(l, stanford, cells), "table2"), "pahl-below-gl-hl-hlw", "stanford40")
	if f.Decision != Holds || f.Contrasts[0].N != 2 || f.Contrasts[0].Gain < 0.098 || f.Contrasts[0].Gain > 0.1001 {
		t.Errorf("finding %+v, want a gain of 0.1 over two seeds", f)
	}
}

// Accuracies are multiples of one over the number of test samples: on few seeds differences
// are the same by chance, and an interval without width is no evidence.
func TestAlike(t *testing.T) {
	l := paper.Tables()[0]
	for n, want := range map[int]Decision{2: Undecided, 5: Undecided, 6: Holds} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 70+float64(i), 71.5+float64(i)
		}
		cells := all(l, cell(a...))
		cells["ssdl"] = []report.Cell{cell(b...)}
		f := finding(t, verify(t, table(l, stanford, cells), "table1"), "ssdl-best", "stanford40")
		if f.Decision != want || !strings.Contains(f.Why, fmt.Sprintf("+1.50 on each of %d seeds", n)) {
			t.Errorf("%d seeds: %s (%s), want %s", n, f.Decision, f.Why, want)
		}
		if p := math.Exp2(float64(1 - n)); math.Abs(*f.Contrasts[0].P-p) > 1e-12 {
			t.Errorf("%d seeds: P is %v, want that of all signs alike, %v", n, *f.Contrasts[0].P, p)
		}
	}
}

func TestSimilar(t *testing.T) {
	l := paper.Tables()[1]
	for _, c := range []struct {
		pahl report.Cell
		want Decision
	}{
		{cell(0.45, 0.451, 0.45), Holds},
		{cell(0.44, 0.44, 0.44, 0.44, 0.44, 0.44), Holds}, // exactly at the tolerance
		{cell(0.44, 0.44, 0.44, 0.44, 0.44), Undecided},   // so many may agree by chance
		{cell(0.6, 0.61, 0.6), Fails},
		{cell(0.3, 0.31, 0.3), Fails}, // better by far is not similar
		{cell(0.4, 0.5, 0.6), Undecided},
	} {
		cells := map[string][]report.Cell{"dhsl": {cell(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)}, "pahl": {c.pahl}}
		f := finding(t, verify(t, table(l, stanford, cells), "table2"), "pahl-similar-dhsl", "stanford40")
		if f.Decision != c.want {
			t.Errorf("%v against 0.5: %s (%s), want %s", c.pahl.Samples, f.Decision, f.Why, c.want)
		}
	}
}

// sweep is a table of one column with a row per point.
func sweep(id string, lower bool, rows ...report.Row) report.Table {
	return report.Table{ID: id, Decimals: 2, LowerIsBetter: lower, Columns: []report.Column{{ID: "uiuc-se"}}, Groups: []report.Group{{Rows: rows}}}
}

func point(id string, at map[string]float64, c report.Cell) report.Row {
	return report.Row{ID: id, At: at, Cells: []report.Cell{c}}
}

func TestMinimum(t *testing.T) {
	at := func(p float64) map[string]float64 { return map[string]float64{"pretext.p": p} }
	rows := func(at18, at22, at26 report.Cell) []report.Row {
		return []report.Row{
			point("pahl@p=1.8", at(1.8), at18), point("pahl@p=2.2", at(2.2), at22), point("pahl@p=2.6", at(2.6), at26),
			point("hl", nil, cell(0.1, 0.1)), // another method does not count
			point("pahl@lambda=10", map[string]float64{"pretext.lambda": 10}, cell(0.1, 0.1)),
		}
	}
	high, low := cell(0.4, 0.5, 0.6), cell(0.3, 0.41, 0.5)
	for _, c := range []struct {
		name string
		rows []report.Row
		want Decision
	}{
		{"at 2.2", rows(high, low, high), Holds},
		{"at 2.6", rows(high, high, low), Fails},
		{"nearly as good", rows(high, cell(0.2, 0.6, 0.4), cell(0.3, 0.5, 0.41)), Undecided},
		{"one point failed", rows(report.Cell{State: report.Failed}, low, high), Undecided},
		{"no point outside", rows(high, low, high)[1:2], Undecided},
		{"no sweep", nil, Undecided},
	} {
		f := finding(t, verify(t, sweep("p-lambda", true, c.rows...), "p-lambda"), "p-minimum", "uiuc-se")
		if f.Decision != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Decision, f.Why, c.want)
		}
	}
}

func TestFlat(t *testing.T) {
	rows := func(cells ...report.Cell) []report.Row {
		var out []report.Row
		for i, c := range cells {
			out = append(out, point("ssdl@"+string(rune('a'+i)), map[string]float64{"alpha": float64(i)}, c))
		}
		return out
	}
	for _, c := range []struct {
		name string
		rows []report.Row
		want Decision
	}{
		{"within a point", rows(cell(92, 93, 94), cell(92.5, 93.4, 94.5), cell(91.9, 92.9, 94)), Holds},
		{"five points", rows(cell(92, 93, 94), cell(87, 88.1, 89)), Fails},
		{"noise", rows(cell(92, 93, 94), cell(94, 90, 94)), Undecided},
		{"one failed", rows(cell(92, 93, 94), cell(92, 93, 94.1), report.Cell{State: report.Failed}), Undecided},
		{"one failed, five points", rows(cell(92, 93, 94), cell(87, 88.1, 89), report.Cell{State: report.Failed}), Fails},
		{"one setting", rows(cell(92, 93, 94)), Undecided},
	} {
		f := finding(t, verify(t, sweep("alpha-gamma", false, c.rows...), "alpha-gamma"), "alpha-gamma-flat", "uiuc-se")
		if f.Decision != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Decision, f.Why, c.want)
		}
	}
}

func TestSlower(t *testing.T) {
	rows := func(ssdlLow, otherLow report.Cell) []report.Row {
		at := func(rate float64) map[string]float64 { return map[string]float64{"label-rate": rate} }
		return []report.Row{
			point("ssdl@10", at(0.1), ssdlLow), point("ssdl@50", at(0.5), cell(0, 0, 0)), point("ssdl@100", at(1), cell(96, 97, 95)),
			point("ssdl-labelled@10", at(0.1), otherLow), point("ssdl-labelled@100", at(1), cell(96, 97, 95)),
		}
	}
	for _, c := range []struct {
		name string
		rows []report.Row
		want Decision
	}{
		{"slower", rows(cell(90, 91, 89), cell(80, 81.2, 79)), Holds},
		{"faster", rows(cell(80, 81.2, 79), cell(90, 91, 89)), Fails},
		{"alike", rows(cell(90, 85, 89), cell(89, 88, 88)), Undecided},
		{"no baseline", rows(cell(90, 91, 89), report.Cell{State: report.Failed}), Undecided},
		{"no ssdl", rows(report.Cell{State: report.Failed}, cell(80, 81, 79)), Undecided},
		{"no sweep", nil, Undecided},
	} {
		f := finding(t, verify(t, sweep("label-rate", false, c.rows...), "label-rate"), "label-rate-slower", "uiuc-se")
		if f.Decision != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Decision, f.Why, c.want)
		}
	}
}

func TestModelAgnostic(t *testing.T) {
	tab := report.Table{ID: "model-agnostic", Decimals: 1, Columns: stanford, Groups: []report.Group{{Rows: []report.Row{
		{ID: "ssdl", Cells: []report.Cell{cell(75, 76, 77)}},
		{ID: "pahl+ledl", Cells: []report.Cell{cell(77, 78.1, 79)}},
		{ID: "pahl+cdlf", Cells: []report.Cell{cell(73, 74.1, 75)}},
	}}}}
	r := verify(t, tab, "model-agnostic")
	if len(r.Cells) != 0 || len(r.Ranks) != 0 {
		t.Errorf("a figure has %d published cells and %d ranks", len(r.Cells), len(r.Ranks))
	}
	if f := finding(t, r, "pahl-ledl-above-ssdl", "stanford40"); f.Decision != Holds {
		t.Errorf("%+v", f)
	}
	if f := finding(t, r, "pahl-cdlf-above-ssdl", "stanford40"); f.Decision != Fails {
		t.Errorf("%+v", f)
	}
}

// A claim over readings counts them: a reading below one of the others, or level with it, does not
// hold.
func TestReadings(t *testing.T) {
	base := cell(70, 71, 72, 73)
	better, worse := cell(75, 76.1, 77, 77.9), cell(65, 66.1, 67, 67.9)
	for _, c := range []struct {
		name     string
		readings []report.Cell
		want     Decision
		why      string
	}{
		{"all above", []report.Cell{better, better}, Holds, "2 of 2"},
		{"one of three", []report.Cell{worse, better, base}, Undecided, "1 of 3 readings, fails under 1; at best ssdl@fill=1 over"},
		{"one undecided", []report.Cell{worse, base}, Undecided, "0 of 2 readings, fails under 1;"},
		{"none", []report.Cell{worse, worse}, Fails, "0 of 2 readings, fails under 2;"},
		{"a failed one", []report.Cell{better, {State: report.Failed, Declared: 8}}, Undecided, "1 of 2 readings, fails under 0, no result of 1;"},
		{"no result", nil, Undecided, "no result of ssdl"},
	} {
		tab := report.Table{ID: "multiverse", Unit: "%", Decimals: 1, Columns: []report.Column{{ID: "uiuc-se", Title: "UIUC-SE"}}}
		g := report.Group{Rows: []report.Row{
			{ID: "crc", Title: "crc", Cells: []report.Cell{base}}, {ID: "ledl", Title: "ledl", Cells: []report.Cell{cell(60, 61, 62, 63)}},
		}}
		for i, r := range c.readings {
			g.Rows = append(g.Rows, report.Row{ID: "ssdl@fill=" + string(rune('0'+i)), Title: "ssdl", Cells: []report.Cell{r}})
		}
		tab.Groups = []report.Group{g}
		f := finding(t, verify(t, tab, "multiverse"), "ssdl-best-under-readings", "uiuc-se")
		if f.Decision != c.want || !strings.Contains(f.Why, c.why) {
			t.Errorf("%s: %s (%s), want %s with %q", c.name, f.Decision, f.Why, c.want, c.why)
		}
	}
}

// Ahead of one method for certain and of another by more but with noise, a reading is undecided.
func TestReadingsTakeTheMostAdverse(t *testing.T) {
	tab := report.Table{ID: "multiverse", Unit: "%", Decimals: 1, Columns: []report.Column{{ID: "uiuc-se", Title: "UIUC-SE"}}}
	for id, c := range map[string]report.Cell{
		"crc": cell(70, 71, 72, 73), "ledl": cell(60, 75, 60, 75), "ssdl@fill=1": cell(71, 72.1, 73, 73.9),
	} {
		tab.Groups = append(tab.Groups, report.Group{Rows: []report.Row{{ID: id, Title: id, Cells: []report.Cell{c}}}})
	}
	f := finding(t, verify(t, tab, "multiverse"), "ssdl-best-under-readings", "uiuc-se")
	if f.Decision != Undecided || !strings.Contains(f.Why, "holds under 0 of 1 readings, fails under 0; at best ssdl@fill=1 over ledl") {
		t.Errorf("%s: %s", f.Decision, f.Why)
	}
}

// Where the other rows are swept too, a reading is held against theirs with the same settings.
func TestReadingsMatchTheOthers(t *testing.T) {
	low, high := cell(0.2, 0.21, 0.22, 0.2), cell(0.4, 0.41, 0.42, 0.4)
	row := func(id string, c report.Cell) report.Row {
		return report.Row{ID: id, Title: id, Cells: []report.Cell{c}}
	}
	table := func(rows ...report.Row) report.Table {
		return report.Table{
			ID: "multiverse-loss", Decimals: 3, LowerIsBetter: true,
			Columns: []report.Column{{ID: "uiuc-se", Title: "UIUC-SE"}}, Groups: []report.Group{{Rows: rows}},
		}
	}
	rows := []report.Row{row("hl", high), row("hlw", high)}
	for _, loss := range []string{"bce", "ce_row"} {
		gl := map[string]report.Cell{"bce": high, "ce_row": low}[loss]
		rows = append(rows, row("gl@loss="+loss, gl), row("pahl@loss="+loss+" pretext.operator=edge", cell(0.3, 0.31, 0.32, 0.301)))
	}
	f := finding(t, verify(t, table(rows...), "multiverse-loss"), "pahl-below-under-readings", "uiuc-se")
	if f.Decision != Undecided || !strings.Contains(f.Why, "1 of 2 readings, fails under 1; at best pahl@loss=bce") {
		t.Errorf("%s: %s", f.Decision, f.Why)
	}
	f = finding(t, verify(t, table(rows[:4]...), "multiverse-loss"), "pahl-below-under-readings", "uiuc-se")
	if f.Decision != Holds {
		t.Errorf("with the one loss alone: %s: %s", f.Decision, f.Why)
	}
	// A reading without its counterpart decides nothing.
	f = finding(t, verify(t, table(rows[0], rows[1], rows[3]), "multiverse-loss"), "pahl-below-under-readings", "uiuc-se")
	if f.Decision != Undecided || !strings.Contains(f.Why, "gl") {
		t.Errorf("without the other: %s: %s", f.Decision, f.Why)
	}
}
