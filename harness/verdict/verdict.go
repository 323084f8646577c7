// Package verdict compares a table of results with the paper: cell by cell, by the order of the
// methods, and claim by claim. It prints nothing. The caller decides whether a verdict is an error.
package verdict

import (
	"fmt"
	"math"
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/compare"
	"ssdl/harness/results"
	"ssdl/harness/stats"
)

// Verdict compares one of our cells with the published one.
type Verdict string

// The verdicts on a cell.
const (
	Match   Verdict = "match"     // our 95 % interval lies within the tolerance around the published value
	Differs Verdict = "differs"   // it lies outside
	Open    Verdict = "undecided" // any other case, and always below three seeds
	Missing Verdict = "missing"   // we have no value
	Failed  Verdict = "failed"    // every run failed or timed out, or the runs are inconsistent
	StandIn Verdict = "stand-in"  // the data set is a stand-in: not compared
)

// Verdicts holds all findings on a table.
type Verdicts struct {
	// Table is the id of the published table or figure.
	Table   string         `json:"table"`
	Metric  results.Metric `json:"metric"`
	Cells   []Cell         `json:"cells"`
	Ranks   []Rank         `json:"ranks"`
	Claims  []Finding      `json:"claims"`
	Summary Summary        `json:"summary"`
	// Tolerance is the difference from a published value up to which ours matches, in the unit of
	// the table; 0 if the paper has no such table.
	Tolerance float64 `json:"tolerance,omitempty"`
}

// Cell compares a published cell with ours, in the unit of the table.
type Cell struct {
	Row    string `json:"row"`
	Title  string `json:"title"`
	Column string `json:"column"`
	// StandsFor is the paper's data set if Column is its stand-in; Published then belongs to
	// StandsFor.
	StandsFor string  `json:"stands_for,omitempty"`
	Published float64 `json:"published"`
	// State is the state of our cell, or NoColumn or NoRow. Ours is nil without a value.
	State results.State `json:"state"`
	Ours  *Estimate     `json:"ours,omitempty"`
	// Difference is ours minus published; nil if the cell is not compared.
	Difference *float64 `json:"difference,omitempty"`
	Verdict    Verdict  `json:"verdict"`
	results.Remarks
}

// The states of a published cell that our table lacks.
const (
	NoColumn results.State = "no column"
	NoRow    results.State = "no row"
)

// Estimate is a mean over N of the RequestedSeeds.
type Estimate struct {
	Mean           float64 `json:"mean"`
	N              int     `json:"n"`
	RequestedSeeds int     `json:"requested_seeds"`
	// TunedOnTest is true if the parameters were chosen on the test part.
	TunedOnTest bool `json:"tuned_on_test,omitempty"`
	// Modified is the number of runs from modified sources.
	Modified int `json:"modified_sources,omitempty"`
	// Interval is the 95 % interval of the mean. It covers the spread over seeds and, for a metric
	// in %, the finite number of tested samples. It is nil for a single seed.
	Interval *results.Interval `json:"interval,omitempty"`
}

// Rank is Spearman's correlation of the paper's order of the methods with ours.
type Rank struct {
	Column string `json:"column"`
	// N is the number of methods with a value on both sides.
	N int `json:"n"`
	// Rho is in -1..1; nil for fewer than three methods, or if all values of one side are equal.
	Rho *float64 `json:"rho,omitempty"`
}

// Summary counts verdicts. Claims on stand-ins are counted separately.
type Summary struct {
	Match     int `json:"match"`
	Differs   int `json:"differs"`
	Open      int `json:"undecided_cells"`
	Missing   int `json:"missing"`
	Failed    int `json:"failed"`
	StandIn   int `json:"stand_in"`
	Holds     int `json:"holds"`
	Fails     int `json:"fails"`
	Undecided int `json:"undecided"`
	NotTested int `json:"not_tested"`
	// StandInClaims counts all findings on stand-ins. VariantClaims counts the findings on the
	// paper's own data about rows that are not in the paper.
	StandInClaims int `json:"stand_in_claims"`
	VariantClaims int `json:"variant_claims"`
	// TunedOnTest counts our cells with parameters chosen on the test part.
	TunedOnTest int `json:"tuned_on_test"`
}

// Add returns the sum of two summaries.
func (s Summary) Add(o Summary) Summary {
	return Summary{
		s.Match + o.Match, s.Differs + o.Differs, s.Open + o.Open, s.Missing + o.Missing, s.Failed + o.Failed,
		s.StandIn + o.StandIn, s.Holds + o.Holds, s.Fails + o.Fails, s.Undecided + o.Undecided, s.NotTested + o.NotTested,
		s.StandInClaims + o.StandInClaims, s.VariantClaims + o.VariantClaims, s.TunedOnTest + o.TunedOnTest,
	}
}

// Of compares t with the published table of this id, if the paper has one with the same metric, and
// tests the paper's claims about it. It ignores published columns of t. testToTrain is as in
// compare.Pairs.Difference.
func Of(t results.Table, table string, testToTrain float64) (Verdicts, error) {
	if err := t.Check(); err != nil {
		return Verdicts{}, err
	}
	if !(testToTrain >= 0) || math.IsInf(testToTrain, 1) {
		return Verdicts{}, fmt.Errorf("verify %s: test to train ratio %v, want a finite ratio of at least 0", table, testToTrain)
	}
	v := Verdicts{Table: table, Metric: t.Metric, Cells: []Cell{}, Ranks: []Rank{}, Claims: []Finding{}}
	var layout paper.Layout
	if i := slices.IndexFunc(paper.Tables(), func(l paper.Layout) bool { return l.ID == table }); i >= 0 {
		if layout = paper.Tables()[i]; layout.Metric != t.Metric.Name {
			v.count(t)
			return v, nil
		}
		v.Cells, v.Ranks, v.Tolerance = compareCells(t, layout), ranks(t, layout), layout.Tolerance
	}
	for _, c := range paper.Claims() {
		if c.Table == table {
			v.Claims = append(v.Claims, test(t, c, testToTrain)...)
		}
	}
	v.count(t)
	return v, nil
}

// LeaveOutNotTested removes the claims that are not tested: in a table of some rows of a spec most are about others.
func (v *Verdicts) LeaveOutNotTested() {
	v.Claims = slices.DeleteFunc(v.Claims, func(f Finding) bool { return f.Decision == NotTested })
	v.countClaims()
}

func (v *Verdicts) count(t results.Table) {
	s := &v.Summary
	cells := map[Verdict]*int{Match: &s.Match, Differs: &s.Differs, Open: &s.Open, Missing: &s.Missing, Failed: &s.Failed, StandIn: &s.StandIn}
	for _, c := range v.Cells {
		*cells[c.Verdict]++
	}
	v.countClaims()
	for _, row := range t.Rows() {
		for j, c := range row.Cells {
			if c.TunedOnTest && c.State == results.OK && !t.Columns[j].Published {
				s.TunedOnTest++
			}
		}
	}
}

// countClaims counts the claims anew.
func (v *Verdicts) countClaims() {
	s := &v.Summary
	s.StandInClaims, s.VariantClaims = 0, 0
	s.Holds, s.Fails, s.Undecided, s.NotTested = 0, 0, 0, 0
	claims := map[Decision]*int{Holds: &s.Holds, Fails: &s.Fails, Undecided: &s.Undecided, NotTested: &s.NotTested}
	for _, f := range v.Claims {
		if f.StandsFor != "" {
			s.StandInClaims++
		} else if f.Variant {
			s.VariantClaims++
		} else {
			*claims[f.Decision]++
		}
	}
}

// compareCells compares the cells of each of the paper's columns: first with ours on the same data
// set (or its absence), then with our stand-ins.
func compareCells(t results.Table, l paper.Layout) []Cell {
	out := []Cell{}
	for _, col := range l.Columns {
		columns := []int{-1}
		for j, c := range t.Columns {
			switch {
			case c.ID == col.ID && c.IsPapers():
				columns[0] = j
			case !c.Published && (c.StandsFor == col.ID || c.ID == col.ID):
				columns = append(columns, j)
			}
		}
		for _, j := range columns {
			for _, r := range l.Rows() {
				published, ok := r.Values[col.ID]
				if !ok {
					continue
				}
				cell := Cell{Row: r.ID, Title: r.Title, Column: col.ID, Published: published, Verdict: Missing}
				row, have := rowOf(t, r.ID)
				switch {
				case j < 0:
					cell.State = NoColumn
				case !have:
					cell.State = NoRow
				default:
					cell.judge(row.Cells[j], l, t)
				}
				if j >= 0 && !t.Columns[j].IsPapers() {
					cell.Column, cell.StandsFor = t.Columns[j].ID, col.ID
					cell.Verdict, cell.Difference = StandIn, nil
				}
				out = append(out, cell)
			}
		}
	}
	return out
}

// judge fills in our value and the verdict.
func (c *Cell) judge(ours results.Cell, l paper.Layout, t results.Table) {
	c.State, c.Remarks = ours.State, ours.Remarks
	switch ours.State {
	case results.OK:
	case results.Failed, results.Timeout, results.OutOfMemory, results.Damaged, results.Inconsistent:
		c.Verdict = Failed
		return
	default:
		return
	}
	c.Ours = &Estimate{Mean: ours.Mean, N: ours.N, RequestedSeeds: ours.RequestedSeeds, TunedOnTest: ours.TunedOnTest, Modified: ours.Modified, Interval: ours.Interval(t.Metric)}
	d := ours.Mean - c.Published
	c.Difference = &d
	c.Verdict = Open
	if c.Ours.N < minSeeds {
		return
	}
	low, high := c.Published-l.Tolerance-compare.Rounding, c.Published+l.Tolerance+compare.Rounding
	switch i := c.Ours.Interval; {
	case i.Low >= low && i.High <= high:
		c.Verdict = Match
	case i.Low > high || i.High < low:
		c.Verdict = Differs
	}
}

// rowOf returns our row for the paper's row of this id.
func rowOf(t results.Table, id string) (results.Row, bool) {
	r, ok := t.Row(id)
	return r, ok && r.Role != results.Misnamed
}

// minSeeds is the smallest number of seeds for which a cell is judged.
const minSeeds = 3

// ranks correlates the orders of the methods on each of the paper's own data sets.
func ranks(t results.Table, l paper.Layout) []Rank {
	out := []Rank{}
	for j, c := range t.Columns {
		if !c.IsPapers() {
			continue
		}
		var printed, ours []float64
		for _, r := range l.Rows() {
			published, ok := r.Values[c.ID]
			row, have := rowOf(t, r.ID)
			if ok && have && row.Cells[j].State == results.OK {
				printed, ours = append(printed, published), append(ours, row.Cells[j].Mean)
			}
		}
		rank := Rank{Column: c.ID, N: len(printed)}
		if rho, err := stats.Spearman(printed, ours); rank.N >= 3 && err == nil { // an error means that all values are equal
			rank.Rho = &rho
		}
		out = append(out, rank)
	}
	return out
}

// Tally counts findings by decision.
type Tally struct {
	Holds     int `json:"holds"`
	Fails     int `json:"fails"`
	Undecided int `json:"undecided"`
	NotTested int `json:"not_tested"`
}

// Tested is the number of tested claims.
func (t Tally) Tested() int { return t.Holds + t.Fails + t.Undecided }

// TallyOf counts findings, except those about variants, on the paper's own data sets and on
// stand-ins.
func TallyOf(findings []Finding) (own, standIns Tally) {
	for _, f := range findings {
		if f.Variant {
			continue
		}
		t := &own
		if f.StandsFor != "" {
			t = &standIns
		}
		switch f.Decision {
		case Holds:
			t.Holds++
		case Fails:
			t.Fails++
		case Undecided:
			t.Undecided++
		case NotTested:
			t.NotTested++
		}
	}
	return own, standIns
}
