package verdict

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// cell has values for the seeds from 1000 on; eight are requested.
func cell(values ...float64) results.Cell {
	m := map[uint64]float64{}
	for i, v := range values {
		m[1000+uint64(i)] = v
	}
	c := results.NewCell(m, 8)
	c.Tested = 1e6
	return c
}

// table has the rows of a layout in the given columns, all NotRun but the given ones.
func table(l paper.Layout, columns []results.Column, cells map[string][]results.Cell) results.Table {
	t := results.Table{ID: l.ID, Title: l.Title, Caption: l.Caption, RowHead: l.RowHead, Columns: columns, Metric: metricOf(l)}
	for _, rows := range l.Groups {
		var g results.Group
		for _, lr := range rows {
			r := results.Row{ID: lr.ID, Base: lr.ID, Title: lr.Title, Cells: make([]results.Cell, len(columns))}
			for j := range r.Cells {
				r.Cells[j] = results.Cell{State: results.NotRun, RequestedSeeds: 8}
				if given := cells[r.ID]; j < len(given) {
					r.Cells[j] = given[j]
				}
			}
			g.Rows = append(g.Rows, r)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// metricOf is the metric of a published table.
func metricOf(l paper.Layout) results.Metric {
	m := results.MetricOf(l.Metric)
	m.Decimals = l.Decimals
	return m
}

func verdicts(t *testing.T, tab results.Table, id string) Verdicts {
	t.Helper()
	r, err := Of(tab, id, 3.0/7)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var stanford = []results.Column{{ID: "stanford40", Title: "Stanford40"}}

func TestVerdicts(t *testing.T) {
	l := paper.Tables()[0]
	// Three values a, a, a+3e have the mean a+e, the deviation sqrt(3)e and the half interval 4.303e.
	// A million tested samples add 0.09 points to it where it is zero.
	for _, c := range []struct {
		name string
		cell results.Cell
		want Verdict
	}{
		{"the same number at each seed", cell(66, 66, 66), Match},
		{"inside the tolerance", cell(67.5, 67.5, 67.53), Match},
		{"inside, but the interval reaches over the tolerance", cell(67.9, 67.9, 68.2), Open},
		{"the interval covers it and all else", cell(60, 66, 72), Open},
		{"96.4 printed and 85.0 [71.8, 98.2] measured, in kind", cell(49.6, 54.6, 59.6), Open},
		{"outside, and the interval reaches into the tolerance", cell(68.1, 68.1, 68.4), Open},
		{"outside", cell(68.3, 68.3, 68.3), Differs},
		{"far below", cell(50, 51, 50), Differs},
		{"one seed", cell(66), Open},
		{"one seed far below", cell(50), Open},
		{"two seeds with the same digits", cell(66, 66), Open},
		{"two seeds far below", cell(50, 50), Open},
		{"not run", results.Cell{State: results.NotRun}, Missing},
		{"no data", results.Cell{State: results.NoData}, Missing},
		{"left out", results.Cell{State: results.Excluded, Remarks: results.Remarks{Excluded: "why"}}, Missing},
		{"error", results.Cell{State: results.Failed}, Failed},
		{"time", results.Cell{State: results.Timeout}, Failed},
	} {
		r := verdicts(t, table(l, stanford, map[string][]results.Cell{"src": {c.cell}}), "table1")
		got := r.Cells[0]
		if got.Row != "src" || got.Column != "stanford40" || got.Published != 66.0 || got.Verdict != c.want {
			t.Errorf("%s: %+v, want the verdict %s", c.name, got, c.want)
		}
		if (got.Ours == nil) != (c.cell.State != results.OK) || (got.Difference == nil) != (got.Ours == nil) {
			t.Errorf("%s: ours %v and difference %v", c.name, got.Ours, got.Difference)
		}
		if got.State != c.cell.State || got.Excluded != c.cell.Excluded {
			t.Errorf("%s: state %s, remarks %+v", c.name, got.State, got.Remarks)
		}
	}
}

// A share has an interval even if all seeds agree: that of its tested samples.
func TestVerdictKnowsTheTestPart(t *testing.T) {
	l := paper.Tables()[0]
	for tested, want := range map[int]Verdict{10_000: Match, 1_000: Open, 100: Open} {
		tab := table(l, stanford, map[string][]results.Cell{"src": {cell(66, 66, 66, 66)}})
		tab.Groups[0].Rows[0].Cells[0].Tested = tested
		r := verdicts(t, tab, "table1")
		if r.Cells[0].Verdict != want {
			t.Errorf("%d tested samples: %s in the interval %v, want %s", tested, r.Cells[0].Verdict, r.Cells[0].Ours.Interval, want)
		}
	}
	for _, mean := range []float64{0, 100} {
		tab := table(l, stanford, map[string][]results.Cell{"src": {cell(mean, mean, mean)}})
		tab.Groups[0].Rows[0].Cells[0].Tested = 50
		i := verdicts(t, tab, "table1").Cells[0].Ours.Interval
		if i.Low < 0 || i.High > 100 || i.High-i.Low < 1 {
			t.Errorf("%v %% of 50 samples: interval %v, want one within 0..100 that is wider than a point", mean, i)
		}
	}
}

func TestLossTolerance(t *testing.T) {
	l := paper.Tables()[1]
	for v, want := range map[float64]Verdict{0.474: Match, 0.48: Match, 0.52: Open, 0.53: Differs, 0.41: Differs} {
		r := verdicts(t, table(l, stanford, map[string][]results.Cell{"gl": {cell(v, v, v)}}), "table2")
		if r.Cells[0].Verdict != want {
			t.Errorf("loss %v against 0.47 is %s in %v, want %s", v, r.Cells[0].Verdict, r.Cells[0].Ours.Interval, want)
		}
	}
}

// A table with the paper's own numbers matches in every cell, and supports every claim about the two
// tables.
func TestPaperAgreesWithItself(t *testing.T) {
	for _, l := range paper.Tables() {
		columns := []results.Column{{ID: "stanford40", Title: "Stanford40"}, {ID: "uiuc-se", Title: "UIUC-SE"}}
		cells := map[string][]results.Cell{}
		for _, r := range l.Rows() {
			for _, c := range l.Columns {
				v := r.Values[c.ID]
				cells[r.ID] = append(cells[r.ID], cell(v, v, v, v, v, v, v, v))
			}
		}
		tab := results.WithPublished(table(l, columns, cells), l)
		r := verdicts(t, tab, l.ID)
		s := r.Summary
		if n := len(l.Rows()) * 2; s.Match != n || len(r.Cells) != n {
			t.Errorf("%s: %d of %d cells match, want %d", l.ID, s.Match, len(r.Cells), n)
		}
		if s.Fails+s.Undecided != 0 || s.Holds+s.VariantClaims != len(r.Claims) || s.Holds == 0 {
			t.Errorf("%s: summary %+v of %d findings", l.ID, s, len(r.Claims))
		}
		for _, k := range r.Ranks {
			if k.Rho == nil || math.Abs(*k.Rho-1) > 1e-12 || k.N != len(l.Rows()) {
				t.Errorf("%s: rank correlation %+v, want 1", l.ID, k)
			}
		}
	}
}

func TestStandInIsComparedWithNothing(t *testing.T) {
	l := paper.Tables()[0]
	columns := []results.Column{
		{ID: "sports8", Title: "Sports8", StandsFor: "uiuc-se"},
		{ID: "synth40", Title: "Synth40", StandsFor: "stanford40", Synthetic: true},
		// Generated data under the name of the paper's set stays generated data.
		{ID: "stanford40", Title: "Stanford40", Synthetic: true},
	}
	r := verdicts(t, table(l, columns, map[string][]results.Cell{
		"src":  {cell(88.4, 88.4), cell(66, 66), cell(66, 66)},
		"ssdl": {cell(99, 99), cell(99, 99), cell(99, 99)},
	}), "table1")
	s := r.Summary
	if s.Match+s.Differs+s.Open != 0 || s.StandIn != 36 || s.Missing != 24 || len(r.Ranks) != 0 {
		t.Errorf("summary %+v, ranks %v: want 36 stand-ins, 24 missing and nothing compared", s, r.Ranks)
	}
	if s.Holds+s.Fails+s.Undecided != 0 || s.NotTested != 10 || s.StandInClaims != 21 || s.VariantClaims != 4 {
		t.Errorf("summary %+v: want 10 claims not tested, 4 of variants and 21 findings on stand-ins", s)
	}
	tested := r
	tested.Claims = slices.Clone(r.Claims)
	tested.LeaveOutNotTested()
	if s := tested.Summary; s.NotTested != 0 || s.VariantClaims != 0 || s.StandInClaims != len(tested.Claims) || s.StandIn != 36 ||
		slices.ContainsFunc(tested.Claims, func(f Finding) bool { return f.Lacks != "" }) {
		t.Errorf("without claims that are not tested: %+v", s)
	}
	for _, c := range r.Cells {
		if c.Column == "sports8" && c.Row == "src" && (c.Published != 88.4 || c.StandsFor != "uiuc-se" || c.Ours == nil || c.Difference != nil) {
			t.Errorf("stand-in cell %+v", c)
		}
	}
}

func TestVerdictsOfAnything(t *testing.T) {
	l := paper.Tables()[0]
	states := []results.State{results.OK, results.NotRun, results.NoData, results.Failed, results.Timeout, results.Excluded}
	rapid.Check(t, func(rt *rapid.T) {
		columns := []results.Column{{ID: "stanford40"}, {ID: "s", StandsFor: "uiuc-se", Synthetic: rapid.Bool().Draw(rt, "synthetic")}}
		cells := map[string][]results.Cell{}
		for _, r := range l.Rows() {
			for range columns {
				c := results.Cell{State: rapid.SampledFrom(states).Draw(rt, "state")}
				if c.State == results.OK {
					c = cell(rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 4).Draw(rt, "values")...)
				}
				cells[r.ID] = append(cells[r.ID], c)
			}
		}
		r, err := Of(table(l, columns, cells), "table1", 3.0/7)
		if err != nil {
			rt.Fatal(err)
		}
		s := r.Summary
		if n := s.Match + s.Differs + s.Open + s.Missing + s.Failed + s.StandIn; n != len(r.Cells) || n != 36 || s.StandIn != 12 {
			rt.Fatalf("%d verdicts on %d cells, %d of them stand-ins", n, len(r.Cells), s.StandIn)
		}
		if s.Holds+s.Fails+s.Undecided+s.NotTested+s.StandInClaims+s.VariantClaims != len(r.Claims) {
			rt.Fatalf("summary %+v of %d findings", s, len(r.Claims))
		}
		for _, f := range r.Claims {
			if (f.Lacks == "") == (f.Decision == NotTested) {
				rt.Fatalf("finding %+v: is it tested?", f)
			}
			if f.Lacks == "" && f.Decisive == nil && len(f.Missing) == 0 {
				rt.Fatalf("finding %+v gives no reason", f)
			}
		}
		if _, err := json.Marshal(r); err != nil { // JSON refuses what is not finite
			rt.Fatal(err)
		}
	})
}

func TestRanks(t *testing.T) {
	l := paper.Tables()[1]
	for _, v := range []map[string][]results.Cell{
		{"gl": {cell(1)}, "hl": {cell(2)}},
		{"gl": {cell(1)}, "hl": {cell(1)}, "hlw": {cell(1)}},
	} {
		if k := verdicts(t, table(l, stanford, v), "table2").Ranks[0]; k.Rho != nil || k.N != len(v) {
			t.Errorf("rank %+v of %d methods, want no correlation", k, len(v))
		}
	}
	// The paper has gl < dhsl < hlw.
	k := verdicts(t, table(l, stanford, map[string][]results.Cell{"gl": {cell(1)}, "hlw": {cell(2)}, "dhsl": {cell(3)}}), "table2").Ranks[0]
	if k.Rho == nil || math.Abs(*k.Rho-0.5) > 1e-12 || k.N != 3 {
		t.Errorf("rank %+v, want a correlation of 0.5", k)
	}
}

func TestBadInput(t *testing.T) {
	tab := table(paper.Tables()[0], stanford, nil)
	for _, ratio := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Of(tab, "table1", ratio); err == nil || !strings.Contains(err.Error(), "ratio") {
			t.Errorf("ratio %v: error %v", ratio, err)
		}
	}
	tab.Groups[0].Rows[0].Cells = nil
	if _, err := Of(tab, "table1", 0); err == nil || !strings.Contains(err.Error(), "row src") {
		t.Errorf("a row without cells: error %v", err)
	}
}

func TestSummaryAdd(t *testing.T) {
	a := Summary{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	if got, want := a.Add(a), (Summary{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A table of another metric than the paper's is not compared.
func TestAnotherMetricIsNotCompared(t *testing.T) {
	l := paper.Tables()[0]
	tab := table(l, stanford, map[string][]results.Cell{"src": {cell(66, 66)}})
	tab.Metric = results.MetricOf("macro-f1")
	if v := verdicts(t, tab, "table1"); len(v.Cells)+len(v.Ranks)+len(v.Claims) != 0 {
		t.Errorf("%+v", v)
	}
}

func TestTally(t *testing.T) {
	own, standIns := TallyOf([]Finding{
		{Decision: Holds},
		{Decision: Fails},
		{Decision: Fails},
		{Decision: Undecided},
		{Decision: NotTested, Lacks: LacksColumn},
		{Decision: Holds, StandsFor: "uiuc-se"},
		{Decision: NotTested, StandsFor: "uiuc-se", Lacks: LacksRow},
	})
	if own != (Tally{1, 2, 1, 1}) || standIns != (Tally{1, 0, 0, 1}) || own.Tested() != 4 {
		t.Errorf("%+v and %+v", own, standIns)
	}
}
