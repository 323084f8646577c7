package verify

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

// cell gives values to the seeds from 1000 on; all of eight are declared.
func cell(values ...float64) report.Cell {
	m := map[uint64]float64{}
	for i, v := range values {
		m[1000+uint64(i)] = v
	}
	return report.NewCell(m, 8)
}

// table has the rows of a layout, all of them NotYet but the ones given, in the columns.
func table(l paper.Layout, columns []report.Column, cells map[string][]report.Cell) report.Table {
	t := report.Table{ID: l.ID, Title: l.Title, Caption: l.Caption, RowHead: l.RowHead, Columns: columns, Unit: l.Unit, Decimals: l.Decimals, LowerIsBetter: l.LowerIsBetter}
	for _, rows := range l.Groups {
		var g report.Group
		for _, lr := range rows {
			r := report.Row{ID: lr.ID, Title: lr.Title, Cells: make([]report.Cell, len(columns))}
			for j := range r.Cells {
				r.Cells[j] = report.Cell{State: report.NotYet, Declared: 8}
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

func verify(t *testing.T, tab report.Table, id string) Result {
	t.Helper()
	r, err := Verify(tab, id, 3.0/7)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var stanford = []report.Column{{ID: "stanford40", Title: "Stanford40"}}

func TestVerdicts(t *testing.T) {
	l := paper.Tables()[0]
	// Three values a, a, a+3e have the mean a+e, the deviation sqrt(3)e and the half interval 4.303e.
	for _, c := range []struct {
		name string
		cell report.Cell
		want Verdict
	}{
		{"inside the interval", cell(66.5, 65.5), Match},
		{"inside by the rounding", cell(66.05, 66.05, 66.05), Match},
		{"outside by more than the rounding", cell(66.06, 66.06, 66.06), Close},
		{"interval ends below the rounding", cell(65.9, 65.9, 65.93), Match},
		{"one seed", cell(67.9), TooFew},
		{"one seed with the same digits", cell(66.04), TooFew},
		{"one seed far below", cell(50), TooFew},
		{"at the tolerance", cell(68, 68), Close},
		{"past the tolerance", cell(68.1, 68.1), Off},
		{"far below", cell(50, 51, 50), Off},
		{"not run", report.Cell{State: report.NotYet}, Missing},
		{"no data", report.Cell{State: report.Missing}, Missing},
		{"left out", report.Cell{State: report.Excluded, Detail: "why"}, Missing},
		{"error", report.Cell{State: report.Failed}, Failed},
		{"time", report.Cell{State: report.Timeout}, Failed},
	} {
		r := verify(t, table(l, stanford, map[string][]report.Cell{"src": {c.cell}}), "table1")
		got := r.Cells[0]
		if got.Row != "src" || got.Column != "stanford40" || got.Published != 66.0 || got.Verdict != c.want {
			t.Errorf("%s: %+v, want the verdict %s", c.name, got, c.want)
		}
		if (got.Ours == nil) != (c.cell.State != report.OK) || (got.Difference == nil) != (got.Ours == nil) {
			t.Errorf("%s: ours %v and difference %v", c.name, got.Ours, got.Difference)
		}
		if c.cell.State != report.OK && got.Detail == "" {
			t.Errorf("%s: no reason is given", c.name)
		}
	}
}

func TestLossTolerance(t *testing.T) {
	l := paper.Tables()[1]
	for v, want := range map[float64]Verdict{0.474: Match, 0.48: Close, 0.52: Close, 0.53: Off, 0.41: Off} {
		r := verify(t, table(l, stanford, map[string][]report.Cell{"gl": {cell(v, v)}}), "table2")
		if r.Cells[0].Verdict != want {
			t.Errorf("loss %v against 0.47 is %s, want %s", v, r.Cells[0].Verdict, want)
		}
	}
}

// A table that repeats the paper's own numbers matches in every cell and bears out every
// claim that can be read off the two tables.
func TestPaperAgreesWithItself(t *testing.T) {
	for _, l := range paper.Tables() {
		columns := []report.Column{{ID: "stanford40", Title: "Stanford40"}, {ID: "uiuc-se", Title: "UIUC-SE"}}
		cells := map[string][]report.Cell{}
		for _, r := range l.Rows() {
			for _, c := range l.Columns {
				v := r.Values[c.ID]
				cells[r.ID] = append(cells[r.ID], cell(v, v, v, v, v, v, v, v))
			}
		}
		tab := report.WithPublished(table(l, columns, cells), l)
		r := verify(t, tab, l.ID)
		s := r.Summary
		if n := len(l.Rows()) * 2; s.Match != n || len(r.Cells) != n {
			t.Errorf("%s: %d of %d cells match, want %d", l.ID, s.Match, len(r.Cells), n)
		}
		if s.Fails+s.Undecided != 0 || s.Holds != len(r.Claims) || s.Holds == 0 {
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
	columns := []report.Column{
		{ID: "sports8", Title: "Sports8", StandsFor: "uiuc-se"},
		{ID: "synth40", Title: "Synth40", StandsFor: "stanford40", Synthetic: true},
		// Generated data under the name of the paper's set is still generated data.
		{ID: "stanford40", Title: "Stanford40", Synthetic: true},
	}
	r := verify(t, table(l, columns, map[string][]report.Cell{
		"src":  {cell(88.4, 88.4), cell(66, 66), cell(66, 66)},
		"ssdl": {cell(99, 99), cell(99, 99), cell(99, 99)},
	}), "table1")
	s := r.Summary
	if s.Match+s.Close+s.Off != 0 || s.StandIn != 36 || s.Missing != 24 || len(r.Ranks) != 0 {
		t.Errorf("summary %+v, ranks %v: want 36 stand-ins, 24 missing and nothing compared", s, r.Ranks)
	}
	if s.Holds+s.Fails != 0 || s.Undecided != 10 || s.StandInClaims != 15 {
		t.Errorf("summary %+v: want 10 undecided claims and 15 findings on stand-ins", s)
	}
	for _, c := range r.Cells {
		if c.Column == "sports8" && c.Row == "src" && (c.Published != 88.4 || c.StandsFor != "uiuc-se" || c.Ours == nil || c.Difference != nil) {
			t.Errorf("stand-in cell %+v", c)
		}
	}
}

func TestVerdictsOfAnything(t *testing.T) {
	l := paper.Tables()[0]
	states := []report.State{report.OK, report.NotYet, report.Missing, report.Failed, report.Timeout, report.Excluded}
	rapid.Check(t, func(rt *rapid.T) {
		columns := []report.Column{{ID: "stanford40"}, {ID: "s", StandsFor: "uiuc-se", Synthetic: rapid.Bool().Draw(rt, "synthetic")}}
		cells := map[string][]report.Cell{}
		for _, r := range l.Rows() {
			for range columns {
				c := report.Cell{State: rapid.SampledFrom(states).Draw(rt, "state")}
				if c.State == report.OK {
					c = cell(rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 4).Draw(rt, "values")...)
				}
				cells[r.ID] = append(cells[r.ID], c)
			}
		}
		r, err := Verify(table(l, columns, cells), "table1", 3.0/7)
		if err != nil {
			rt.Fatal(err)
		}
		s := r.Summary
		if n := s.Match + s.Close + s.Off + s.TooFew + s.Missing + s.Failed + s.StandIn; n != len(r.Cells) || n != 36 || s.StandIn != 12 {
			rt.Fatalf("%d verdicts on %d cells, %d of them stand-ins", n, len(r.Cells), s.StandIn)
		}
		if s.Holds+s.Fails+s.Undecided+s.StandInClaims != len(r.Claims) {
			rt.Fatalf("summary %+v of %d findings", s, len(r.Claims))
		}
		for _, f := range r.Claims {
			if f.Why == "" || strings.Contains(f.Why, "NaN") {
				rt.Fatalf("finding %+v", f)
			}
		}
		for _, format := range Formats() { // JSON refuses what is not finite
			if err := Render(&bytes.Buffer{}, r, format); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

func TestRanks(t *testing.T) {
	l := paper.Tables()[1]
	for _, v := range []map[string][]report.Cell{
		{"gl": {cell(1)}, "hl": {cell(2)}},
		{"gl": {cell(1)}, "hl": {cell(1)}, "hlw": {cell(1)}},
	} {
		if k := verify(t, table(l, stanford, v), "table2").Ranks[0]; k.Rho != nil || k.N != len(v) {
			t.Errorf("rank %+v of %d methods, want no correlation", k, len(v))
		}
	}
	// The paper has gl < dhsl < hlw.
	k := verify(t, table(l, stanford, map[string][]report.Cell{"gl": {cell(1)}, "hlw": {cell(2)}, "dhsl": {cell(3)}}), "table2").Ranks[0]
	if k.Rho == nil || math.Abs(*k.Rho-0.5) > 1e-12 || k.N != 3 {
		t.Errorf("rank %+v, want a correlation of 0.5", k)
	}
}

func TestBadInput(t *testing.T) {
	tab := table(paper.Tables()[0], stanford, nil)
	for _, ratio := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Verify(tab, "table1", ratio); err == nil || !strings.Contains(err.Error(), "ratio") {
			t.Errorf("ratio %v: error %v", ratio, err)
		}
	}
	tab.Groups[0].Rows[0].Cells = nil
	if _, err := Verify(tab, "table1", 0); err == nil || !strings.Contains(err.Error(), "row src") {
		t.Errorf("a row without cells: error %v", err)
	}
	if err := Render(&bytes.Buffer{}, Result{}, "html"); err == nil || !strings.Contains(err.Error(), "txt, md, tex, csv, json") {
		t.Errorf("error %v, want the list of formats", err)
	}
}

// golden is a result with every kind of verdict.
func golden(t *testing.T) Result {
	l := paper.Tables()[0]
	columns := []report.Column{{ID: "stanford40", Title: "Stanford40"}, {ID: "sports8", Title: "Sports8", StandsFor: "uiuc-se"}}
	dagger := cell(75, 75.3, 74.8)
	dagger.Dagger = true
	return verify(t, table(l, columns, map[string][]report.Cell{
		"src":    {cell(66.1, 65.7, 66.4), cell(91, 91.4)},
		"crc":    {cell(71.5, 71.6, 71.4), cell(92, 92.4)},
		"lcksvd": {dagger, cell(88, 88.5)},
		"fddl":   {{State: report.Failed, Declared: 8, Detail: "singular | \x1b[31mmatrix"}, {State: report.Timeout, Declared: 8}},
		"ledl":   {cell(73), cell(92)},
		"ssdl":   {cell(76.9, 76.5, 77.0), cell(93, 94)},
	}), "table1")
}

func TestGolden(t *testing.T) {
	r := golden(t)
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := Render(&b, r, format); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "table1."+format)
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
			var back Result
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Summary != r.Summary {
				t.Errorf("summary %+v, error %v; want %+v", back.Summary, err, r.Summary)
			}
		}
	}
}

func TestSummaryAdd(t *testing.T) {
	a := Summary{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	if got, want := a.Add(a), (Summary{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	want := "cells: 1 match, 2 close, 3 off, 4 undecided (one seed), 7 on stand-ins, 5 missing, 6 failed; " +
		"claims: 8 hold, 9 fail, 10 undecided, 11 on stand-ins; 12 numbers were chosen on the test part (†)"
	if got := a.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (Summary{Daggers: 1}).String(); !strings.HasSuffix(got, "; 1 number was chosen on the test part (†)") {
		t.Errorf("%s", got)
	}
	if got := (Summary{}).String(); strings.Contains(got, "†") {
		t.Errorf("%s", got)
	}
}
