// Package verify holds a table of results against what the paper printed: cell by cell,
// by the order of the methods, and claim by claim. It judges; whether a verdict is an
// error is for the caller to say.
package verify

import (
	"fmt"
	"math"
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
	"ssdl/harness/stats"
)

// Verdict says how a cell of ours compares with the published one.
type Verdict string

// The verdicts on a cell.
const (
	Match   Verdict = "match"     // the published value, up to its rounding, lies in our 95 % interval
	Close   Verdict = "close"     // no match, but the difference is within the table's tolerance
	Off     Verdict = "off"       // neither
	TooFew  Verdict = "undecided" // a value of one seed, which has no interval
	Missing Verdict = "missing"   // no value of ours
	Failed  Verdict = "failed"    // every run failed or ran out of time, or they must not be averaged
	StandIn Verdict = "stand-in"  // another data set than the paper's: compared with nothing
)

// Result is all that verify finds out about a table.
type Result struct {
	// Table is the id of the published table, or of the figure, that was verified.
	Table   string    `json:"table"`
	Cells   []Cell    `json:"cells,omitempty"`
	Ranks   []Rank    `json:"ranks,omitempty"`
	Claims  []Finding `json:"claims,omitempty"`
	Summary Summary   `json:"summary"`

	decimals int
}

// Cell is a published cell and ours. Values are in the unit of the table.
type Cell struct {
	Row    string `json:"row"`
	Title  string `json:"title"`
	Column string `json:"column"`
	// StandsFor is the paper's data set in whose place Column is; Published is of that set.
	StandsFor string  `json:"stands_for,omitempty"`
	Published float64 `json:"published"`
	// Ours is nil without a value.
	Ours *Estimate `json:"ours,omitempty"`
	// Difference is ours minus published; nil where nothing is compared.
	Difference *float64 `json:"difference,omitempty"`
	Verdict    Verdict  `json:"verdict"`
	// Detail says why there is no value, or what must be known about it.
	Detail string `json:"detail,omitempty"`
}

// Estimate is a mean over N of the Declared seeds.
type Estimate struct {
	Mean     float64 `json:"mean"`
	N        int     `json:"n"`
	Declared int     `json:"declared"`
	// Dagger says that the parameters were chosen on the test part.
	Dagger bool `json:"dagger,omitempty"`
	// Interval is the 95 % t interval over seeds; nil for a single one.
	Interval *Interval `json:"interval,omitempty"`
}

// Interval is a closed interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Rank is Spearman's correlation between the paper's order of the methods and ours.
type Rank struct {
	Column string `json:"column"`
	// N methods have a value on both sides.
	N int `json:"n"`
	// Rho is in -1..1; nil for fewer than three methods, or if one side has but one value.
	Rho *float64 `json:"rho,omitempty"`
}

// Summary counts verdicts. Claims on stand-ins are counted apart.
type Summary struct {
	Match     int `json:"match"`
	Close     int `json:"close"`
	Off       int `json:"off"`
	TooFew    int `json:"undecided_cells"`
	Missing   int `json:"missing"`
	Failed    int `json:"failed"`
	StandIn   int `json:"stand_in"`
	Holds     int `json:"holds"`
	Fails     int `json:"fails"`
	Undecided int `json:"undecided"`
	// StandInClaims counts the findings on stand-ins, whatever they are.
	StandInClaims int `json:"stand_in_claims"`
	// Daggers counts our cells whose parameters were chosen on the test part.
	Daggers int `json:"daggers"`
}

// Add returns the sum of two summaries.
func (s Summary) Add(o Summary) Summary {
	return Summary{
		s.Match + o.Match, s.Close + o.Close, s.Off + o.Off, s.TooFew + o.TooFew, s.Missing + o.Missing, s.Failed + o.Failed,
		s.StandIn + o.StandIn, s.Holds + o.Holds, s.Fails + o.Fails, s.Undecided + o.Undecided,
		s.StandInClaims + o.StandInClaims, s.Daggers + o.Daggers,
	}
}

// String is the summary on one line.
func (s Summary) String() string {
	line := fmt.Sprintf("cells: %d match, %d close, %d off, %d undecided (one seed), %d on stand-ins, %d missing, %d failed; claims: %d hold, %d fail, %d undecided, %d on stand-ins",
		s.Match, s.Close, s.Off, s.TooFew, s.StandIn, s.Missing, s.Failed, s.Holds, s.Fails, s.Undecided, s.StandInClaims)
	if s.Daggers > 0 {
		line += "; " + daggers(s.Daggers)
	}
	return line
}

// daggers is as in "3 numbers were chosen on the test part (†)".
func daggers(n int) string {
	if n == 1 {
		return "1 number was chosen on the test part (†)"
	}
	return fmt.Sprintf("%d numbers were chosen on the test part (†)", n)
}

// Verify compares t with the published table of the given id, if the paper has one, and
// tests the paper's claims about it. Published columns of t are ignored. testToTrain is
// the size of the test part over that of the training part, which the corrected interval
// of paired differences needs; it is 0 where seeds do not change the split.
func Verify(t report.Table, table string, testToTrain float64) (Result, error) {
	if err := t.Check(); err != nil {
		return Result{}, err
	}
	if !(testToTrain >= 0) || math.IsInf(testToTrain, 1) {
		return Result{}, fmt.Errorf("verify %s: test to train ratio %v, want a finite ratio of at least 0", table, testToTrain)
	}
	r := Result{Table: table, decimals: t.Decimals}
	var layout paper.Layout
	if i := slices.IndexFunc(paper.Tables(), func(l paper.Layout) bool { return l.ID == table }); i >= 0 {
		layout = paper.Tables()[i]
		r.Cells, r.Ranks = compare(t, layout), ranks(t, layout)
	}
	for _, c := range paper.Claims() {
		if c.Table == table {
			r.Claims = append(r.Claims, test(t, c, layout, testToTrain)...)
		}
	}
	r.count(t)
	return r, nil
}

func (r *Result) count(t report.Table) {
	s := &r.Summary
	cells := map[Verdict]*int{Match: &s.Match, Close: &s.Close, Off: &s.Off, TooFew: &s.TooFew, Missing: &s.Missing, Failed: &s.Failed, StandIn: &s.StandIn}
	for _, c := range r.Cells {
		*cells[c.Verdict]++
	}
	claims := map[Decision]*int{Holds: &s.Holds, Fails: &s.Fails, Undecided: &s.Undecided}
	for _, f := range r.Claims {
		if f.StandIn {
			s.StandInClaims++
		} else {
			*claims[f.Decision]++
		}
	}
	for _, row := range t.Rows() {
		for j, c := range row.Cells {
			if c.Dagger && c.State == report.OK && !t.Columns[j].Published {
				s.Daggers++
			}
		}
	}
}

// direct reports whether a column of ours is of the paper's own data set.
func direct(c report.Column) bool { return !c.Published && !c.Synthetic && c.StandsFor == "" }

// compare goes through the paper's columns; of each first ours of the same data set, or
// its absence, then ours in its place.
func compare(t report.Table, l paper.Layout) []Cell {
	ours := map[string]report.Row{}
	for _, r := range t.Rows() {
		ours[r.ID] = r
	}
	var out []Cell
	for _, col := range l.Columns {
		columns := []int{-1}
		for j, c := range t.Columns {
			switch {
			case c.ID == col.ID && direct(c):
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
				row, have := ours[r.ID]
				switch {
				case j < 0:
					cell.Detail = "no such column"
				case !have:
					cell.Detail = "no such row"
				default:
					cell.judge(row.Cells[j], l)
				}
				if j >= 0 && !direct(t.Columns[j]) {
					cell.Column, cell.StandsFor = t.Columns[j].ID, col.ID
					cell.Verdict, cell.Difference = StandIn, nil
				}
				out = append(out, cell)
			}
		}
	}
	return out
}

// judge fills in our side of the cell and the verdict.
func (c *Cell) judge(ours report.Cell, l paper.Layout) {
	c.Detail = ours.Detail
	switch ours.State {
	case report.OK:
	case report.Failed, report.Timeout, report.Mixed:
		c.Verdict = Failed
		if c.Detail == "" {
			c.Detail = string(ours.State)
		}
		return
	default:
		if c.Detail == "" {
			c.Detail = string(ours.State)
		}
		return
	}
	c.Ours = &Estimate{Mean: ours.Mean, N: ours.N, Declared: ours.Declared, Dagger: ours.Dagger, Interval: seedInterval(ours)}
	d := ours.Mean - c.Published
	c.Difference = &d
	if c.Ours.Interval == nil {
		c.Verdict = TooFew
		return
	}
	half := l.HalfUnit() + rounding
	switch {
	case c.Published >= c.Ours.Interval.Low-half && c.Published <= c.Ours.Interval.High+half:
		c.Verdict = Match
	case math.Abs(d) <= l.Tolerance+rounding:
		c.Verdict = Close
	default:
		c.Verdict = Off
	}
}

// rounding forgives the last bits of decimal numbers: 1.1 is not 75.9 - 74.8.
const rounding = 1e-9

// ranks correlates the order of the methods per column of the paper's own data.
func ranks(t report.Table, l paper.Layout) []Rank {
	var out []Rank
	for j, c := range t.Columns {
		if !direct(c) {
			continue
		}
		var printed, ours []float64
		for _, r := range l.Rows() {
			published, ok := r.Values[c.ID]
			i := slices.IndexFunc(t.Rows(), func(row report.Row) bool { return row.ID == r.ID })
			if !ok || i < 0 || t.Rows()[i].Cells[j].State != report.OK {
				continue
			}
			printed, ours = append(printed, published), append(ours, t.Rows()[i].Cells[j].Mean)
		}
		rank := Rank{Column: c.ID, N: len(printed)}
		if rho, err := stats.Spearman(printed, ours); rank.N >= 3 && err == nil { // an error: all are equal
			rank.Rho = &rho
		}
		out = append(out, rank)
	}
	return out
}

// seedInterval is the 95 % t interval of a cell's mean over its seeds; nil for a single one.
func seedInterval(c report.Cell) *Interval {
	xs := make([]float64, len(c.Samples))
	for i, s := range c.Samples {
		xs[i] = s.Value
	}
	low, high, ok := stats.Summarize(xs).Interval()
	if !ok {
		return nil
	}
	return &Interval{low, high}
}
