package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// finding returns the finding on a claim and a data set.
func finding(t *testing.T, r Verdicts, claim, column string) Finding {
	t.Helper()
	for _, f := range r.Claims {
		if f.Claim == claim && f.Column == column {
			return f
		}
	}
	t.Fatalf("no finding on %s, %s", claim, column)
	return Finding{}
}

// reason formats the fields of a finding that explain its decision.
func reason(f Finding) string {
	about := func(c Contrast) string {
		s := fmt.Sprintf("%s over %s: %+.2f on %d seeds", c.Row.Row, c.Over.Row, c.Gain, c.N)
		if c.Refuted != nil {
			s += fmt.Sprintf(", refuted %.2g", *c.Refuted)
		}
		return s
	}
	s := string(f.Lacks)
	if v := f.Variants; v != nil {
		s += fmt.Sprintf("holds %d, fails %d, missing %d of %d; best %s; worst %s", v.Holds, v.Fails, v.Missing, v.All, about(f.Contrasts[v.Best]), about(f.Contrasts[v.Worst]))
	}
	if f.Decisive != nil {
		s += fmt.Sprintf("%s, of %d", about(f.Contrasts[*f.Decisive]), len(f.Contrasts))
	}
	return s + " without " + strings.Join(f.Missing, " ")
}

// all gives the same cell to every row of a layout but ssdl.
func all(l paper.Layout, c results.Cell) map[string][]results.Cell {
	out := map[string][]results.Cell{}
	for _, r := range l.Rows() {
		out[r.ID] = []results.Cell{c}
	}
	return out
}

func TestMargins(t *testing.T) {
	l := paper.Tables()[0]
	base := cell(70, 71, 72, 73, 70, 71, 72, 73)
	plus := func(by ...float64) results.Cell { // twice the four
		return cell(70+by[0], 71+by[1], 72+by[2], 73+by[3], 70+by[0], 71+by[1], 72+by[2], 73+by[3])
	}
	failed := results.Cell{State: results.Failed, RequestedSeeds: 8}
	for _, c := range []struct {
		name                 string
		ssdl                 results.Cell
		change               map[string]results.Cell
		best, margin, labels Decision
		why                  string
	}{
		{"far above all", plus(5, 5.1, 4.9, 5), nil, Holds, Holds, Holds, ", of 11"},
		// The means of the seeds differ by more than the claimed margin, but only pairing shows it.
		{"by two points", plus(2, 2.1, 1.9, 2), nil, Holds, Holds, Fails, "ssdl over"},
		{"by half a point", plus(0.5, 0.6, 0.4, 0.5), nil, Holds, Fails, Fails, ""},
		{"by exactly the margin", plus(1.1, 1.1, 1.1, 1.1), nil, Holds, Holds, Fails, ""},
		{"noise", plus(2, -2, 3, -2.5), nil, Undecided, Undecided, Undecided, ""},
		// A tie on eight seeds with each method decides among four methods, but not among eleven.
		{"a tie", base, nil, Undecided, Undecided, Fails, ""},
		{"below one", plus(3, 3, 3, 3), map[string]results.Cell{"addl": plus(4, 4.1, 3.9, 4)}, Fails, Fails, Holds, "ssdl over addl: -1.00 on 8 seeds"},
		{"one is missing", plus(3, 3, 3, 3), map[string]results.Cell{"ledl": failed}, Undecided, Undecided, Undecided, "without ledl"},
		// One better method refutes the claim, whatever the missing one gives.
		{"one is missing, one better", plus(3, 3, 3, 3), map[string]results.Cell{"ledl": failed, "crc": plus(6, 6.1, 5.9, 6)}, Fails, Fails, Undecided, "ledl"},
		{"one seed", cell(80), nil, Undecided, Undecided, Undecided, " on 1 seeds"},
		{"no result", failed, nil, NotTested, NotTested, NotTested, string(LacksRow)},
		{"no common seed", results.NewCell(map[uint64]float64{1: 80, 2: 81}, 8), nil, Undecided, Undecided, Undecided, " on 0 seeds"},
	} {
		cells := all(l, base)
		cells["ssdl"] = []results.Cell{c.ssdl}
		for id, other := range c.change {
			cells[id] = []results.Cell{other}
		}
		r := verdicts(t, table(l, stanford, cells), "table1")
		for claim, want := range map[string]Decision{"ssdl-best": c.best, "ssdl-margin": c.margin, "ssdl-margin-label-embedded": c.labels} {
			if f := finding(t, r, claim, "stanford40"); f.Decision != want {
				t.Errorf("%s: %s %s (%s), want %s", c.name, claim, f.Decision, reason(f), want)
			}
		}
		if f := finding(t, r, "ssdl-best", "stanford40"); !strings.Contains(reason(f), c.why) {
			t.Errorf("%s: why is %q, want %q in it", c.name, reason(f), c.why)
		}
		if f := finding(t, r, "ssdl-best", "uiuc-se"); f.Decision != NotTested || f.Lacks != LacksColumn {
			t.Errorf("%s: without a column %+v", c.name, f)
		}
	}
}

// A row that has no other one to be compared with leaves its claims untested. Seeds without a value are said.
func TestMissingResultsOfClaims(t *testing.T) {
	l := paper.Tables()[0]
	cells := all(l, results.Cell{State: results.Failed, RequestedSeeds: 8})
	cells["ssdl"] = []results.Cell{cell(75, 76, 77, 75, 76, 77, 75, 76)}
	r := verdicts(t, table(l, stanford, cells), "table1")
	if f := finding(t, r, "ssdl-above-traditional", "stanford40"); f.Lacks != LacksRow || !slices.Contains(f.Missing, "crc") {
		t.Errorf("without the other rows: %+v", f)
	}
	if own, _ := TallyOf(r.Claims); own.Tested() != 0 || own.NotTested == 0 {
		t.Errorf("%+v", own)
	}
	cells = all(l, cell(70, 71, 72))
	cells["ssdl"] = []results.Cell{cell(75, 76, 77)}
	f := finding(t, verdicts(t, table(l, stanford, cells), "table1"), "ssdl-above-traditional", "stanford40")
	if c := f.Contrasts[0]; !f.Incomplete() || c.N != 3 || c.RequestedSeeds != 8 {
		t.Errorf("3 of 8 seeds: %+v", f)
	}
}

// Of eleven methods one is better by chance: its interval alone does not refute the claim.
func TestFamily(t *testing.T) {
	l := paper.Tables()[0]
	base := []float64{70, 71, 72, 73, 70, 71, 72, 73}
	cells := all(l, cell(base...))
	cells["ssdl"] = []results.Cell{cell(73, 74.1, 75, 76, 73.1, 74, 75, 76)} // better than all but one
	cells["addl"] = []results.Cell{cell(75, 77.6, 77, 77, 75.6, 74.8, 77, 78.5)}
	f := finding(t, verdicts(t, table(l, stanford, cells), "table1"), "ssdl-best", "stanford40")
	i := slices.IndexFunc(f.Contrasts, func(c Contrast) bool { return c.Over.Row == "addl" })
	c := f.Contrasts[i]
	if c.Interval.High >= 0 || *c.P <= 0.05/11 || *c.P >= 0.05 {
		t.Fatalf("ssdl over addl %+v, P %v: want an interval below 0 that 11 comparisons do not bear", c.Interval, *c.P)
	}
	if f.Decision != Undecided || math.Abs(*c.Refuted-11*(*c.P)) > 1e-12 || !strings.Contains(reason(f), "refuted 0.") {
		t.Errorf("%s (%s), want undecided at %v", f.Decision, reason(f), 11*(*c.P))
	}
	// Alone it is refuted; against a margin, by the p-value for that margin.
	for number, kind := range map[float64]paper.Kind{0: paper.Best, 1: paper.Margin} {
		alone := []Contrast{c}
		decideFamily(alone, kind, number)
		if alone[0].Decision != Fails || (*alone[0].Refuted < *c.P) != (number > 0) {
			t.Errorf("alone against %v: %s at %v, the P of no difference is %v", number, alone[0].Decision, *alone[0].Refuted, *c.P)
		}
	}
}

// A finding from parameters chosen on the test part says so.
func TestTunedOnTestIsSaid(t *testing.T) {
	l := paper.Tables()[1]
	tuned := cell(0.5, 0.6, 0.7)
	tuned.TunedOnTest = true
	cells := map[string][]results.Cell{"dhsl": {tuned}, "pahl": {cell(0.5, 0.6, 0.7)}}
	f := finding(t, verdicts(t, table(l, stanford, cells), "table2"), "pahl-similar-dhsl", "stanford40")
	if c := f.Contrasts[0]; c.Row.TunedOnTest || !c.Over.TunedOnTest {
		t.Errorf("%+v over %+v, want the other one tuned on the test part", c.Row, c.Over)
	}
}

func TestPairing(t *testing.T) {
	l := paper.Tables()[1]
	cells := map[string][]results.Cell{
		"gl": {cell(0.5, 0.6, 0.7)}, "hl": {cell(0.5, 0.6, 0.7)}, "hlw": {cell(0.5, 0.6, 0.7)},
		// Seeds 1001 and 1002 are shared; unpaired, the means would not differ by 0.1.
		"pahl": {results.NewCell(map[uint64]float64{1001: 0.5, 1002: 0.602, 1003: 0.9}, 8)},
	}
	f := finding(t, verdicts(t, table(l, stanford, cells), "table2"), "pahl-below-gl-hl-hlw", "stanford40")
	if f.Decision != Holds || f.Contrasts[0].N != 2 || f.Contrasts[0].Gain < 0.098 || f.Contrasts[0].Gain > 0.1001 {
		t.Errorf("finding %+v, want a gain of 0.1 over two seeds", f)
	}
}

// Accuracies are multiples of one over the number of test samples. On few seeds differences are equal
// by chance, and an interval of width 0 is no evidence.
func TestAlike(t *testing.T) {
	l := paper.Tables()[0]
	for n, want := range map[int]Decision{2: Undecided, 5: Undecided, 6: Holds} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 70+float64(i), 71.5+float64(i)
		}
		cells := all(l, cell(a...))
		cells["ssdl"] = []results.Cell{cell(b...)}
		f := finding(t, verdicts(t, table(l, stanford, cells), "table1"), "ssdl-best", "stanford40")
		if f.Decision != want || !strings.Contains(reason(f), fmt.Sprintf("+1.50 on %d seeds", n)) {
			t.Errorf("%d seeds: %s (%s), want %s", n, f.Decision, reason(f), want)
		}
		if p := math.Exp2(float64(1 - n)); math.Abs(*f.Contrasts[0].P-p) > 1e-12 {
			t.Errorf("%d seeds: P is %v, want that of all signs alike, %v", n, *f.Contrasts[0].P, p)
		}
	}
}

func TestSimilar(t *testing.T) {
	l := paper.Tables()[1]
	for _, c := range []struct {
		pahl results.Cell
		want Decision
	}{
		{cell(0.45, 0.451, 0.45), Holds},
		{cell(0.44, 0.44, 0.44, 0.44, 0.44, 0.44), Holds}, // exactly at the tolerance
		{cell(0.44, 0.44, 0.44, 0.44, 0.44), Undecided},   // five may agree by chance
		{cell(0.6, 0.61, 0.6), Fails},
		{cell(0.3, 0.31, 0.3), Fails}, // better by far is not similar
		{cell(0.4, 0.5, 0.6), Undecided},
	} {
		cells := map[string][]results.Cell{"dhsl": {cell(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)}, "pahl": {c.pahl}}
		f := finding(t, verdicts(t, table(l, stanford, cells), "table2"), "pahl-similar-dhsl", "stanford40")
		if f.Decision != c.want {
			t.Errorf("%v against 0.5: %s (%s), want %s", c.pahl.Samples, f.Decision, reason(f), c.want)
		}
	}
}

// sweep is a table of one column with a row per point.
func sweep(id, metric string, rows ...results.Row) results.Table {
	return results.Table{ID: id, Metric: results.MetricOf(metric), Columns: []results.Column{{ID: "uiuc-se"}}, Groups: []results.Group{{Rows: rows}}}
}

// point is a row at a setting, given as alternating names and values.
func point(base string, c results.Cell, setting ...any) results.Row {
	var s results.Setting
	for i := 0; i < len(setting); i += 2 {
		s = append(s, results.Value{Name: setting[i].(string), Value: setting[i+1]})
	}
	return results.Row{ID: results.RowID(base, s), Base: base, Setting: s, Cells: []results.Cell{c}}
}

func TestMinimum(t *testing.T) {
	rows := func(at18, at22, at26 results.Cell) []results.Row {
		return []results.Row{
			point("pahl", at18, "pretext.p", 1.8), point("pahl", at22, "pretext.p", 2.2), point("pahl", at26, "pretext.p", 2.6),
			point("hl", cell(0.1, 0.1)), // another method is ignored
			point("pahl", cell(0.1, 0.1), "pretext.lambda", 10.0),
		}
	}
	high, low := cell(0.4, 0.5, 0.6), cell(0.3, 0.41, 0.5)
	for _, c := range []struct {
		name string
		rows []results.Row
		want Decision
	}{
		{"at 2.2", rows(high, low, high), Holds},
		{"at 2.6", rows(high, high, low), Fails},
		{"nearly as good", rows(high, cell(0.2, 0.6, 0.4), cell(0.3, 0.5, 0.41)), Undecided},
		{"one point failed", rows(results.Cell{State: results.Failed}, low, high), NotTested},
		{"no point outside", rows(high, low, high)[1:2], NotTested},
		{"no sweep", nil, NotTested},
	} {
		f := finding(t, verdicts(t, sweep("p-lambda", "bce", c.rows...), "p-lambda"), "p-minimum", "uiuc-se")
		if f.Decision != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Decision, reason(f), c.want)
		}
	}
}

func TestFlat(t *testing.T) {
	rows := func(cells ...results.Cell) []results.Row {
		var out []results.Row
		for i, c := range cells {
			out = append(out, point("ssdl", c, "alpha", float64(i)))
		}
		return out
	}
	for _, c := range []struct {
		name string
		rows []results.Row
		want Decision
	}{
		{"within a point", rows(cell(92, 93, 94), cell(92.5, 93.4, 94.5), cell(91.9, 92.9, 94)), Holds},
		{"five points", rows(cell(92, 93, 94), cell(87, 88.1, 89)), Fails},
		{"noise", rows(cell(92, 93, 94), cell(94, 90, 94)), Undecided},
		{"one failed", rows(cell(92, 93, 94), cell(92, 93, 94.1), results.Cell{State: results.Failed}), Undecided},
		{"one failed, five points", rows(cell(92, 93, 94), cell(87, 88.1, 89), results.Cell{State: results.Failed}), Fails},
		{"one setting", rows(cell(92, 93, 94)), NotTested},
	} {
		f := finding(t, verdicts(t, sweep("alpha-gamma", "accuracy", c.rows...), "alpha-gamma"), "alpha-gamma-flat", "uiuc-se")
		if f.Decision != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Decision, reason(f), c.want)
		}
	}
}

func TestSlower(t *testing.T) {
	rows := func(ssdlLow, otherLow results.Cell) []results.Row {
		return []results.Row{
			point("ssdl", ssdlLow, "label-rate", 0.1), point("ssdl", cell(0, 0, 0), "label-rate", 0.5), point("ssdl", cell(96, 97, 95), "label-rate", 1.0),
			point("ssdl-labelled", otherLow, "label-rate", 0.1), point("ssdl-labelled", cell(96, 97, 95), "label-rate", 1.0),
		}
	}
	for _, c := range []struct {
		name string
		rows []results.Row
		want Decision
	}{
		{"slower", rows(cell(90, 91, 89), cell(80, 81.2, 79)), Holds},
		{"faster", rows(cell(80, 81.2, 79), cell(90, 91, 89)), Fails},
		{"alike", rows(cell(90, 85, 89), cell(89, 88, 88)), Undecided},
		{"no baseline", rows(cell(90, 91, 89), results.Cell{State: results.Failed}), NotTested},
		{"no ssdl", rows(results.Cell{State: results.Failed}, cell(80, 81, 79)), NotTested},
		{"no sweep", nil, NotTested},
	} {
		f := finding(t, verdicts(t, sweep("label-rate", "accuracy", c.rows...), "label-rate"), "label-rate-slower", "uiuc-se")
		if f.Decision != c.want || (f.Lacks == "") != (len(f.Contrasts) > 0) {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Decision, reason(f), c.want)
		}
	}
}

func TestModelAgnostic(t *testing.T) {
	tab := sweep("model-agnostic", "accuracy", point("ssdl", cell(75, 76, 77)), point("pahl+ledl", cell(77, 78.1, 79)), point("pahl+cdlf", cell(73, 74.1, 75)))
	tab.Columns = stanford
	r := verdicts(t, tab, "model-agnostic")
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

// A claim over variants counts them. At a variant that is worse than, or ties with, another row, the
// claim does not hold.
func TestVariants(t *testing.T) {
	base := cell(70, 71, 72, 73)
	better, worse := cell(75, 76.1, 77, 77.9), cell(65, 66.1, 67, 67.9)
	for _, c := range []struct {
		name     string
		variants []results.Cell
		want     Decision
		why      string
	}{
		{"all above", []results.Cell{better, better}, Holds, "holds 2, fails 0, missing 0 of 2"},
		{"one of three", []results.Cell{worse, better, base}, Undecided, "holds 1, fails 1, missing 0 of 3; best ssdl@fill=1 over"},
		{"one undecided", []results.Cell{worse, base}, Undecided, "holds 0, fails 1, missing 0 of 2"},
		{"none", []results.Cell{worse, worse}, Fails, "holds 0, fails 2, missing 0 of 2"},
		{"a failed one", []results.Cell{better, {State: results.Failed, RequestedSeeds: 8}}, Undecided, "holds 1, fails 0, missing 1 of 2"},
		{"an excluded one", []results.Cell{better, {State: results.Excluded}}, Holds, "holds 1, fails 0, missing 0 of 1"},
		{"no result", nil, NotTested, string(LacksRow)},
	} {
		rows := []results.Row{point("crc", base), point("ledl", cell(60, 61, 62, 63))}
		for i, v := range c.variants {
			rows = append(rows, point("ssdl", v, "fill", i))
		}
		f := finding(t, verdicts(t, sweep("multiverse", "accuracy", rows...), "multiverse"), "ssdl-best-under-readings", "uiuc-se")
		if f.Decision != c.want || !strings.Contains(reason(f), c.why) {
			t.Errorf("%s: %s (%s), want %s with %q", c.name, f.Decision, reason(f), c.want, c.why)
		}
	}
}

// A difference that is significant alone need not be so among many.
func TestVariantsAreCorrected(t *testing.T) {
	base := cell(70, 71, 72, 73)
	rows := []results.Row{point("crc", base), point("ledl", base), point("ssdl", cell(70.5, 71.7, 72.8, 73.4), "fill", 0)}
	for i := range 30 {
		rows = append(rows, point("ssdl", cell(70.5, 70.5, 72.5, 72.5), "fill", 1+i))
	}
	f := finding(t, verdicts(t, sweep("multiverse", "accuracy", rows...), "multiverse"), "ssdl-best-under-readings", "uiuc-se")
	if v := f.Variants; v.Alone.Holds != 1 || v.Holds != 0 || v.All != 31 || f.Contrasts[v.Best].Decision != Undecided {
		t.Errorf("%+v", v)
	}
	f = finding(t, verdicts(t, sweep("multiverse", "accuracy", rows[:3]...), "multiverse"), "ssdl-best-under-readings", "uiuc-se")
	if v := f.Variants; v.Holds != 1 || f.Decision != Holds {
		t.Errorf("by itself: %+v, %s", v, f.Decision)
	}
}

// A variant is undecided if it is better than one method for certain, and than another by more but with
// noise.
func TestVariantsTakeTheMostAdverse(t *testing.T) {
	rows := []results.Row{
		point("crc", cell(70, 71, 72, 73)), point("ledl", cell(60, 75, 60, 75)), point("ssdl", cell(71, 72.1, 73, 73.9), "fill", 1),
	}
	f := finding(t, verdicts(t, sweep("multiverse", "accuracy", rows...), "multiverse"), "ssdl-best-under-readings", "uiuc-se")
	if f.Decision != Undecided || !strings.Contains(reason(f), "holds 0, fails 0, missing 0 of 1; best ssdl@fill=1 over ledl") {
		t.Errorf("%s: %s", f.Decision, reason(f))
	}
}

// If the other rows are swept too, a variant is compared with those of the same setting.
func TestVariantsMatchTheOthers(t *testing.T) {
	low, high := cell(0.2, 0.21, 0.22, 0.2), cell(0.4, 0.41, 0.42, 0.4)
	rows := []results.Row{point("hl", high), point("hlw", high)}
	for _, loss := range []string{"bce", "ce_row"} {
		gl := map[string]results.Cell{"bce": high, "ce_row": low}[loss]
		rows = append(rows, point("gl", gl, "loss", loss), point("pahl", cell(0.3, 0.31, 0.32, 0.301), "loss", loss, "pretext.operator", "edge"))
	}
	found := func(rows ...results.Row) Finding {
		return finding(t, verdicts(t, sweep("multiverse-loss", "bce", rows...), "multiverse-loss"), "pahl-below-under-readings", "uiuc-se")
	}
	if f := found(rows...); f.Decision != Undecided || !strings.Contains(reason(f), "holds 1, fails 1, missing 0 of 2; best pahl@loss=bce") {
		t.Errorf("%s: %s", f.Decision, reason(f))
	}
	if f := found(rows[:4]...); f.Decision != Holds {
		t.Errorf("with the one loss alone: %s: %s", f.Decision, reason(f))
	}
	// A variant without its counterpart counts as missing.
	if f := found(rows[0], rows[1], rows[2], rows[3], rows[5]); f.Decision != Undecided || f.Lacks != "" || len(f.Missing) > 0 || !strings.Contains(reason(f), "holds 1, fails 0, missing 1 of 2; best pahl@loss=bce") {
		t.Errorf("without one of the others: %s: %s", f.Decision, reason(f))
	}
	// If all are missing, the claim is not tested.
	if f := found(rows[0], rows[1], rows[3]); f.Decision != NotTested || f.Lacks != LacksRow || !slices.Equal(f.Missing, []string{"gl"}) {
		t.Errorf("without the other: %s: %s", f.Decision, reason(f))
	}
}
