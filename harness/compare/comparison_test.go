package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/results"
)

// cell has values for the seeds from 1000 on; eight are requested.
func cell(values ...float64) results.Cell {
	m := map[uint64]float64{}
	for i, v := range values {
		m[1000+uint64(i)] = v
	}
	return results.NewCell(m, 8)
}

var stanford = []results.Column{{ID: "stanford40", Title: "Stanford40"}}

// scoreTable is a table with one group of rows over the given columns.
func scoreTable(lower bool, columns []results.Column, rows ...results.Row) results.Table {
	m := results.Metric{Name: "score", Title: "score", Unit: "%", Decimals: 1, HigherIsBetter: !lower}
	return results.Table{ID: "scores", Metric: m, Columns: columns, Groups: []results.Group{{Rows: rows}}}
}

func row(id string, cells ...results.Cell) results.Row {
	return results.Row{ID: id, Base: id, Title: strings.ToUpper(id), Cells: cells}
}

func compared(t *testing.T, tab results.Table, against string) Comparison {
	t.Helper()
	c, err := Compare(tab, against, 3.0/7)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rowOf(t *testing.T, c ColumnComparison, id string) Row {
	t.Helper()
	i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Row == id })
	if i < 0 {
		t.Fatalf("no row %s", id)
	}
	return c.Rows[i]
}

func TestCompare(t *testing.T) {
	tab := scoreTable(false, stanford,
		row("base", cell(70, 71, 72, 73, 74, 75)),
		row("far", cell(80, 81.1, 82, 82.9, 84, 85.2)),
		row("below", cell(60, 61.1, 62, 62.9, 64, 65.2)),
		row("noise", cell(71, 70, 73, 71, 76, 75)),
		row("same", cell(70, 71, 72, 73, 74, 75)),
		row("short", cell(80)),
		row("other-seeds", results.NewCell(map[uint64]float64{1: 99, 2: 98}, 6)),
		row("failed", results.Cell{State: results.Failed, RequestedSeeds: 6}),
	)
	c := compared(t, tab, "base").Columns[0]
	if c.Against != "base" || c.Picked || len(c.Rows) != 8 {
		t.Fatalf("%+v", c)
	}
	for id, want := range map[string]Outcome{"base": "", "far": Better, "below": Worse, "noise": Undecided, "same": Undecided, "short": Undecided, "other-seeds": "", "failed": ""} {
		r := rowOf(t, c, id)
		if r.Outcome != want {
			t.Errorf("%s is %q, want %q", id, r.Outcome, want)
		}
		if r.Difference != nil && (r.Difference.Interval == nil) != (r.Difference.N < 2) {
			t.Errorf("%s: interval %v of %d pairs", id, r.Difference.Interval, r.Difference.N)
		}
	}
	for id, want := range map[string][3]int{"far": {6, 0, 0}, "below": {0, 0, 6}, "noise": {3, 1, 2}, "same": {0, 6, 0}, "short": {1, 0, 0}} {
		if r := rowOf(t, c, id); [3]int{r.Wins, r.Ties, r.Losses} != want {
			t.Errorf("%s: won, tied, lost %d, %d, %d, want %v", id, r.Wins, r.Ties, r.Losses, want)
		}
	}
	// Four rows are tested: Holm multiplies the smallest p by 4; the p of equal rows stays 1.
	far, same := rowOf(t, c, "far").Difference, rowOf(t, c, "same").Difference
	if p := min(*far.P, *rowOf(t, c, "below").Difference.P); math.Abs(min(*far.Holm, *rowOf(t, c, "below").Difference.Holm)-4*p) > 1e-15 {
		t.Errorf("p %v, adjusted %v", p, *far.Holm)
	}
	if *same.P != 1 || *same.Holm != 1 || *same.Wilcoxon != 1 || same.Gain != 0 {
		t.Errorf("equal rows: %+v", same)
	}
	if w := rowOf(t, c, "far"); *w.Difference.Wilcoxon != 2.0/64 || *w.WilcoxonHolm != 4*2.0/64 {
		t.Errorf("signed ranks %v, adjusted %v", *w.Difference.Wilcoxon, *w.WilcoxonHolm)
	}
}

func TestCompareWithTheBest(t *testing.T) {
	control := row("control", cell(99, 99, 99))
	control.Role = results.Control
	rows := []results.Row{row("a", cell(3, 4, 5)), row("b", cell(1, 2, 3.1)), control, row("partial", cell(90, 90))}
	for i := range rows {
		rows[i].Cells[0].RequestedSeeds = 3
	}
	rows[3].Cells[0].RequestedSeeds = 8
	if c := compared(t, scoreTable(false, stanford, rows...), "").Columns[0]; c.Against != "a" || !c.Picked {
		t.Errorf("against %q, want the best complete row that is no control", c.Against)
	}
	c := compared(t, scoreTable(true, stanford, rows...), "").Columns[0]
	if c.Against != "b" {
		t.Errorf("against %q, want the row with the lowest value", c.Against)
	}
	if r := rowOf(t, c, "a"); r.Difference.Gain >= 0 || r.Losses != 3 {
		t.Errorf("higher where lower is better: %+v", r)
	}
	if c := compared(t, scoreTable(false, stanford, rows[2:]...), "").Columns[0]; c.Against != "control" {
		t.Errorf("against %q where nothing else is complete, want the best of all", c.Against)
	}
}

func TestRanking(t *testing.T) {
	two := []results.Column{{ID: "one"}, {ID: "paper", Published: true}, {ID: "two"}}
	none := results.Cell{State: results.NotPrinted}
	tab := scoreTable(true, two,
		row("b", cell(2, 2, 2), none, cell(2, 2)),
		row("a", cell(1, 1, 1), none, cell(1, 1)),
		row("c", cell(3, 3, 3), none, cell(3, 3)),
		row("short", cell(0, 0), none, cell(0, 0)),
		row("absent", cell(0, 0, 0), none, results.Cell{State: results.NoData}),
		row("never", results.Cell{State: results.NotRun}, none, results.Cell{State: results.NotRun}),
	)
	r := compared(t, tab, "").Ranking
	var order []string
	for _, m := range r.Rows {
		order = append(order, m.Row)
	}
	if r.Lacks != "" || r.Blocks != 5 || !slices.Equal(order, []string{"a", "b", "c"}) || len(r.LeftOut) != 2 || r.LeftOut[0].Row != "short" || r.LeftOut[1].Row != "absent" || !slices.Equal(r.Columns, []string{"one", "two"}) {
		t.Fatalf("%+v", r)
	}
	// Five agreeing blocks: χ² is 2 x 5, p is exp(-5), the critical difference 3.314 / sqrt(5).
	if math.Abs(r.ChiSquare-10) > 1e-9 || math.Abs(r.P-math.Exp(-5)) > 1e-9 || r.F != nil || r.PF != 0 || math.Abs(r.Critical-3.314493155/math.Sqrt(5)) > 1e-6 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([][2]int{{0, 1}, {1, 2}}, r.Cliques); diff != "" {
		t.Errorf("cliques (-want +got):\n%s", diff)
	}
	if l := []string{r.Rows[0].Letters, r.Rows[1].Letters, r.Rows[2].Letters}; !slices.Equal(l, []string{"a", "ab", "b"}) {
		t.Errorf("letters %v", l)
	}

	for _, c := range []struct {
		rows []results.Row
		want Lack
		have int
	}{
		{[]results.Row{row("a", cell(1, 2))}, LacksRows, 1},
		{[]results.Row{row("a", cell(1)), row("b", cell(2))}, LacksBlocks, 2},
		{[]results.Row{row("a", results.NewCell(map[uint64]float64{1: 1, 2: 1}, 2)), row("b", cell(2, 3))}, LacksRows, 0},
		{nil, LacksRows, 0},
	} {
		got := compared(t, scoreTable(false, stanford, c.rows...), "").Ranking
		if got.Lacks != c.want || len(got.Rows) != c.have {
			t.Errorf("the ranking of %d rows lacks %q, want %q: %+v", len(c.rows), got.Lacks, c.want, got)
		}
	}
}

// Values of different losses are not compared, tested together or ranked together.
func TestCompareOneLoss(t *testing.T) {
	var rows []results.Row
	for i, loss := range []string{"bce", "ce_row"} {
		for j, id := range []string{"gl", "hl", "never"} {
			s := results.Setting{{Name: "loss", Value: loss}}
			r := row(results.RowID(id, s), cell(float64(9*i+j), float64(9*i+j)+1.1, float64(9*i+j)+2))
			if r.Setting = s; id == "never" {
				r.Cells[0] = results.Cell{State: results.NotRun}
			}
			rows = append(rows, r)
		}
	}
	tab := scoreTable(true, stanford, rows...)
	tab.Metric = results.MetricOf("bce")
	for against, want := range map[string]struct {
		metric         string
		others, ranked []string
	}{
		"":               {"bce", []string{"gl@loss=ce_row", "hl@loss=ce_row"}, []string{"gl@loss=bce", "hl@loss=bce"}},
		"hl@loss=ce_row": {"ce_row", []string{"gl@loss=bce", "hl@loss=bce"}, []string{"gl@loss=ce_row", "hl@loss=ce_row"}},
	} {
		c := compared(t, tab, against)
		var ranked []string
		for _, r := range c.Ranking.Rows {
			ranked = append(ranked, r.Row)
		}
		if c.Metric.Name != want.metric || len(c.Columns[0].Rows) != 3 || !slices.Equal(ranked, want.ranked) ||
			len(c.OtherLosses) != 1 || c.OtherLosses[0].Metric.Name == want.metric || !slices.Equal(c.OtherLosses[0].Rows, want.others) {
			t.Errorf("against %q: %+v", against, c)
		}
		for _, r := range c.Columns[0].Rows { // one difference, which Holm does not change
			if d := r.Difference; d != nil && *d.Holm != *d.P {
				t.Errorf("against %q: %s is adjusted from %v to %v", against, r.Row, *d.P, *d.Holm)
			}
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	tab := scoreTable(false, stanford, row("a", cell(1, 2)))
	if _, err := Compare(tab, "b", 0); err == nil || !strings.Contains(err.Error(), `no row "b"`) {
		t.Errorf("error %v", err)
	}
	for _, ratio := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Compare(tab, "", ratio); err == nil || !strings.Contains(err.Error(), "ratio") {
			t.Errorf("ratio %v: error %v", ratio, err)
		}
	}
}
