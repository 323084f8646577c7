package verify

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/report"
)

// arena is a table of one group of rows over the given columns.
func arena(lower bool, columns []report.Column, rows ...report.Row) report.Table {
	return report.Table{ID: "arena", Unit: "%", Decimals: 1, LowerIsBetter: lower, Columns: columns, Groups: []report.Group{{Rows: rows}}}
}

func contender(id string, cells ...report.Cell) report.Row {
	return report.Row{ID: id, Title: strings.ToUpper(id), Cells: cells}
}

func compared(t *testing.T, tab report.Table, against string) Comparison {
	t.Helper()
	c, err := Compare(tab, against, 3.0/7)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rival(t *testing.T, c Competition, id string) Rival {
	t.Helper()
	i := slices.IndexFunc(c.Rows, func(r Rival) bool { return r.Row == id })
	if i < 0 {
		t.Fatalf("no row %s", id)
	}
	return c.Rows[i]
}

func TestCompare(t *testing.T) {
	tab := arena(false, stanford,
		contender("base", cell(70, 71, 72, 73, 74, 75)),
		contender("far", cell(80, 81.1, 82, 82.9, 84, 85.2)),
		contender("below", cell(60, 61.1, 62, 62.9, 64, 65.2)),
		contender("noise", cell(71, 70, 73, 71, 76, 75)),
		contender("same", cell(70, 71, 72, 73, 74, 75)),
		contender("short", cell(80)),
		contender("other-seeds", report.NewCell(map[uint64]float64{1: 99, 2: 98}, 6)),
		contender("failed", report.Cell{State: report.Failed, Declared: 6}),
	)
	c := compared(t, tab, "base").Columns[0]
	if c.Against != "base" || c.Picked || len(c.Rows) != 8 {
		t.Fatalf("%+v", c)
	}
	for id, want := range map[string]Standing{"base": "", "far": Better, "below": Worse, "noise": Level, "same": Level, "short": Level, "other-seeds": "", "failed": ""} {
		r := rival(t, c, id)
		if r.Standing != want {
			t.Errorf("%s is %q, want %q", id, r.Standing, want)
		}
		if r.Contrast != nil && (r.Contrast.Interval == nil) != (r.Contrast.N < 2) {
			t.Errorf("%s: interval %v of %d pairs", id, r.Contrast.Interval, r.Contrast.N)
		}
	}
	for id, want := range map[string][3]int{"far": {6, 0, 0}, "below": {0, 0, 6}, "noise": {3, 1, 2}, "same": {0, 6, 0}, "short": {1, 0, 0}} {
		if r := rival(t, c, id); [3]int{r.Wins, r.Ties, r.Losses} != want {
			t.Errorf("%s: won, tied, lost %d, %d, %d, want %v", id, r.Wins, r.Ties, r.Losses, want)
		}
	}
	// Four are tested: Holm multiplies the smallest p by 4, and that of equal rows, 1, stays.
	far, same := rival(t, c, "far").Contrast, rival(t, c, "same").Contrast
	if p := min(*far.P, *rival(t, c, "below").Contrast.P); math.Abs(min(*far.Holm, *rival(t, c, "below").Contrast.Holm)-4*p) > 1e-15 {
		t.Errorf("p %v, adjusted %v", p, *far.Holm)
	}
	if *same.P != 1 || *same.Holm != 1 || *same.Wilcoxon != 1 || same.Gain != 0 {
		t.Errorf("equal rows: %+v", same)
	}
	if w := rival(t, c, "far"); *w.Contrast.Wilcoxon != 2.0/64 || *w.WilcoxonHolm != 4*2.0/64 {
		t.Errorf("signed ranks %v, adjusted %v", *w.Contrast.Wilcoxon, *w.WilcoxonHolm)
	}
}

func TestCompareWithTheBest(t *testing.T) {
	aside := contender("control", cell(99, 99, 99))
	aside.Aside = true
	rows := []report.Row{contender("a", cell(3, 4, 5)), contender("b", cell(1, 2, 3.1)), aside, contender("partial", cell(90, 90))}
	for i := range rows {
		rows[i].Cells[0].Declared = 3
	}
	rows[3].Cells[0].Declared = 8
	if c := compared(t, arena(false, stanford, rows...), "").Columns[0]; c.Against != "a" || !c.Picked {
		t.Errorf("against %q, want the best complete row that is no control", c.Against)
	}
	c := compared(t, arena(true, stanford, rows...), "").Columns[0]
	if c.Against != "b" {
		t.Errorf("against %q, want the row with the lowest value", c.Against)
	}
	if r := rival(t, c, "a"); r.Contrast.Gain >= 0 || r.Losses != 3 {
		t.Errorf("higher where lower is better: %+v", r)
	}
	if c := compared(t, arena(false, stanford, rows[2:]...), "").Columns[0]; c.Against != "control" {
		t.Errorf("against %q where nothing else is complete, want the best of all", c.Against)
	}
}

func TestRanking(t *testing.T) {
	two := []report.Column{{ID: "one"}, {ID: "paper", Published: true}, {ID: "two"}}
	none := report.Cell{State: report.NotPrinted}
	tab := arena(true, two,
		contender("b", cell(2, 2, 2), none, cell(2, 2)),
		contender("a", cell(1, 1, 1), none, cell(1, 1)),
		contender("c", cell(3, 3, 3), none, cell(3, 3)),
		contender("short", cell(0, 0), none, cell(0, 0)),
		contender("absent", cell(0, 0, 0), none, report.Cell{State: report.Missing}),
		contender("never", report.Cell{State: report.NotYet}, none, report.Cell{State: report.NotYet}),
	)
	r := compared(t, tab, "").Ranking
	var order []string
	for _, m := range r.Methods {
		order = append(order, m.Row)
	}
	if r.Why != "" || r.Blocks != 5 || !slices.Equal(order, []string{"a", "b", "c"}) || !slices.Equal(r.LeftOut, []string{"short", "absent"}) || !slices.Equal(r.Columns, []string{"one", "two"}) {
		t.Fatalf("%+v", r)
	}
	// Five blocks that agree: χ² is 2 x 5, p exp(-5), and the critical difference 3.314 / sqrt(5).
	if math.Abs(r.ChiSquare-10) > 1e-9 || math.Abs(r.P-math.Exp(-5)) > 1e-9 || r.F != nil || r.PF != 0 || math.Abs(r.Critical-3.314493155/math.Sqrt(5)) > 1e-6 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"b", "c"}}, r.Cliques); diff != "" {
		t.Errorf("cliques (-want +got):\n%s", diff)
	}
	if l := []string{r.Methods[0].Letters, r.Methods[1].Letters, r.Methods[2].Letters}; !slices.Equal(l, []string{"a", "ab", "b"}) {
		t.Errorf("letters %v", l)
	}

	for _, c := range []struct {
		rows []report.Row
		why  string
	}{
		{[]report.Row{contender("a", cell(1, 2))}, "1 method(s)"},
		{[]report.Row{contender("a", cell(1)), contender("b", cell(2))}, "one seed on one data set"},
		{[]report.Row{contender("a", report.NewCell(map[uint64]float64{1: 1, 2: 1}, 2)), contender("b", cell(2, 3))}, "0 method(s)"},
		{nil, "0 method(s)"},
	} {
		got := compared(t, arena(false, stanford, c.rows...), "")
		if !strings.Contains(got.Ranking.Why, c.why) {
			t.Errorf("no ranking: %q, want %q", got.Ranking.Why, c.why)
		}
		if _, ok := got.Diagram("x"); ok {
			t.Errorf("%s: there is a diagram", c.why)
		}
		for _, format := range Formats() {
			if err := got.Render(&bytes.Buffer{}, format); err != nil {
				t.Errorf("%s, %s: %v", c.why, format, err)
			}
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	tab := arena(false, stanford, contender("a", cell(1, 2)))
	if _, err := Compare(tab, "b", 0); err == nil || !strings.Contains(err.Error(), `no row "b"`) {
		t.Errorf("error %v", err)
	}
	for _, ratio := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Compare(tab, "", ratio); err == nil || !strings.Contains(err.Error(), "ratio") {
			t.Errorf("ratio %v: error %v", ratio, err)
		}
	}
	if err := compared(t, tab, "").Render(&bytes.Buffer{}, "html"); err == nil || !strings.Contains(err.Error(), "txt, md, tex, csv, json") {
		t.Errorf("error %v, want the list of formats", err)
	}
	tab.Groups[0].Rows[0].Cells = nil
	if _, err := Compare(tab, "", 0); err == nil || !strings.Contains(err.Error(), "row a") {
		t.Errorf("a row without cells: error %v", err)
	}
	failed := arena(false, stanford, contender("a", cell(1, 2)), contender("b", report.Cell{State: report.Failed, Declared: 2}))
	if c := compared(t, failed, "b").Columns[0]; c.Against != "" || c.Rows[0].Contrast != nil {
		t.Errorf("against a row without a result: %+v", c)
	}
}

func TestCompareGolden(t *testing.T) {
	tuned := cell(74, 75.5, 76, 77)
	tuned.Dagger = true
	bad := contender("bad", cell(60, 61, 62, 63.5))
	bad.Title = "=bad\x1b[31m | <b>\n& name"
	tab := arena(false, []report.Column{{ID: "stanford40", Title: "Stanford40"}, {ID: "sports8", Title: "sports8", StandsFor: "uiuc-se"}},
		contender("a", cell(70, 71, 72, 73), cell(80, 81)),
		contender("b", tuned, cell(90, 91.5)),
		contender("c", report.Cell{State: report.Failed, Declared: 8}, cell(90)),
	)
	bad.Cells = append(bad.Cells, cell(70, 71.5))
	tab.Groups = append(tab.Groups, report.Group{Rows: []report.Row{bad}})
	c := compared(t, tab, "a")
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := c.Render(&b, format); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "compare."+format)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if strings.ContainsRune(b.String(), 0x1b) {
			t.Errorf("%s has a terminal sequence", path)
		}
		if format == "json" {
			var back Comparison
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Columns) != 2 || back.Ranking.Blocks != 6 {
				t.Errorf("%+v, error %v", back.Ranking, err)
			}
		}
	}
	d, ok := c.Diagram("a title")
	if !ok || len(d.Methods) != 3 || d.Draw(&bytes.Buffer{}, "svg") != nil {
		t.Errorf("diagram %+v", d)
	}
}
