// Package compare compares the rows of a table with each other: differences paired by seed, tests
// adjusted over the rows, and a ranking over all seeds and data sets. It prints nothing.
package compare

import (
	"fmt"
	"math"
	"slices"

	"ssdl/harness/results"
)

// Comparison compares the rows of a table with a reference row on each data set, and ranks all
// rows. If the table has several losses, it is about the rows with the loss of the reference.
type Comparison struct {
	Table   string             `json:"table"`
	Metric  results.Metric     `json:"metric"`
	Columns []ColumnComparison `json:"columns"`
	Ranking Ranking            `json:"ranking"`
	// OtherLosses has the rows with another loss that have a result.
	OtherLosses []OtherLoss `json:"other_losses,omitempty"`
}

// OtherLoss is a loss with the ids of its rows.
type OtherLoss struct {
	Metric results.Metric `json:"metric"`
	Rows   []string       `json:"rows"`
}

// ColumnComparison is the comparison on one data set.
type ColumnComparison struct {
	Column results.Column `json:"column"`
	// Against is the reference row; empty if it has no result. Picked says that it was picked for
	// its best mean, which makes the p-values too small.
	Against string `json:"against"`
	Picked  bool   `json:"picked"`
	Rows    []Row  `json:"rows"`
}

// Row compares a row with the reference, paired by seed.
type Row struct {
	Row   string `json:"row"`
	Title string `json:"title"`
	// Group is the index of the row's block in the table.
	Group int `json:"group"`
	// Mean is over N of the RequestedSeeds. It is nil without a value; State then says why.
	State          results.State `json:"state"`
	Mean           *float64      `json:"mean,omitempty"`
	N              int           `json:"n"`
	RequestedSeeds int           `json:"requested_seeds"`
	TunedOnTest    bool          `json:"tuned_on_test,omitempty"`
	// Difference is nil for the reference, and without a common seed.
	Difference *Difference `json:"difference,omitempty"`
	// WilcoxonHolm is the signed-rank P adjusted over the column.
	WilcoxonHolm *float64 `json:"p_wilcoxon_holm,omitempty"`
	// Wins, Ties and Losses count the common seeds.
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
	// Outcome is Better or Worse if the p-value of the corrected t test is below 5 % after Holm's
	// adjustment, otherwise Undecided. It is empty if Difference is nil.
	Outcome Outcome `json:"outcome,omitempty"`
}

// Outcome is the result of a comparison. Undecided does not mean equal.
type Outcome string

// The outcomes.
const (
	Better    Outcome = "better"
	Worse     Outcome = "worse"
	Undecided Outcome = "undecided"
)

// Level is the significance level of all tests.
const Level = 0.05

// Compare compares the rows of t with the reference row against. If against is empty, the reference
// is the best row of each column. Columns without results are left out. testToTrain is as in
// Pairs.Difference.
func Compare(t results.Table, against string, testToTrain float64) (Comparison, error) {
	if err := t.Check(); err != nil {
		return Comparison{}, err
	}
	if !(testToTrain >= 0) || math.IsInf(testToTrain, 1) {
		return Comparison{}, fmt.Errorf("compare %s: test to train ratio %v, want a finite ratio of at least 0", t.ID, testToTrain)
	}
	if _, ok := t.Row(against); !ok && against != "" {
		return Comparison{}, fmt.Errorf("compare %s: there is no row %q to compare with", t.ID, against)
	}
	t, others := ofOneLoss(t, against)
	out := Comparison{Table: t.ID, Metric: t.Metric, OtherLosses: others}
	var columns []int
	for j, col := range t.Columns {
		has := func(r results.Row) bool { return r.Cells[j].State == results.OK }
		if col.Published || !slices.ContainsFunc(t.Rows(), has) {
			continue
		}
		columns = append(columns, j)
		out.Columns = append(out.Columns, compareColumn(t, j, against, testToTrain))
	}
	var err error
	out.Ranking, err = rankAll(t, columns)
	return out, err
}

// ofOneLoss returns t with only the rows that have the metric of the reference or, without one, of the
// first row with a result, and the other rows that have a result.
func ofOneLoss(t results.Table, against string) (results.Table, []OtherLoss) {
	hasResult := func(r results.Row) bool {
		for j, c := range r.Cells {
			if c.State == results.OK && !t.Columns[j].Published {
				return true
			}
		}
		return false
	}
	rows := t.Rows()
	i := slices.IndexFunc(rows, func(r results.Row) bool { return r.ID == against || against == "" && hasResult(r) })
	if i < 0 {
		return t, nil
	}
	out := t
	out.Metric, out.Groups = t.RowMetric(rows[i]), nil
	var others []OtherLoss
	for _, g := range t.Groups {
		var same results.Group
		for _, r := range g.Rows {
			m := t.RowMetric(r)
			switch {
			case m.Name == out.Metric.Name:
				same.Rows = append(same.Rows, r)
			case hasResult(r):
				k := slices.IndexFunc(others, func(o OtherLoss) bool { return o.Metric.Name == m.Name })
				if k < 0 {
					k = len(others)
					others = append(others, OtherLoss{Metric: m})
				}
				others[k].Rows = append(others[k].Rows, r.ID)
			}
		}
		out.Groups = append(out.Groups, same)
	}
	return out, others
}

func compareColumn(t results.Table, j int, against string, testToTrain float64) ColumnComparison {
	c := ColumnComparison{Column: t.Columns[j], Against: against}
	if against == "" {
		c.Against, c.Picked = bestOf(t, j), true
	}
	var base results.Cell
	if r, ok := t.Row(c.Against); ok {
		base = r.Cells[j]
	}
	if base.State != results.OK {
		c.Against = ""
	}
	for g, group := range t.Groups {
		for _, r := range group.Rows {
			cell := r.Cells[j]
			row := Row{
				Row: r.ID, Title: r.FullTitle(), Group: g, State: cell.State,
				N: cell.N, RequestedSeeds: cell.RequestedSeeds, TunedOnTest: cell.TunedOnTest,
			}
			if cell.State == results.OK {
				row.Mean = &cell.Mean
			}
			if r.ID != c.Against && c.Against != "" && cell.State == results.OK {
				row.compareTo(Pair(cell, base, t.Metric), testToTrain)
			}
			c.Rows = append(c.Rows, row)
		}
	}
	c.adjust()
	return c
}

// bestOf returns the row with the best mean of column j among ranked rows with all seeds; without
// any, among all rows.
func bestOf(t results.Table, j int) string {
	for _, strict := range []bool{true, false} {
		best, id := 0.0, ""
		for _, r := range t.Rows() {
			c := r.Cells[j]
			if c.State != results.OK || strict && (!r.Ranked() || c.Partial()) {
				continue
			}
			if id == "" || t.Metric.Better(c.Mean, best) {
				best, id = c.Mean, r.ID
			}
		}
		if id != "" {
			return id
		}
	}
	return ""
}

// compareTo fills in the difference from the reference on the common seeds.
func (r *Row) compareTo(p Pairs, testToTrain float64) {
	if len(p.Seeds) == 0 {
		return
	}
	d := p.Difference(testToTrain)
	r.Difference, r.Outcome = &d, Undecided
	for i := range p.Seeds {
		switch d := p.X[i] - p.Y[i]; {
		case d > Rounding:
			r.Wins++
		case d < -Rounding:
			r.Losses++
		default:
			r.Ties++
		}
	}
}

// adjust applies Holm's procedure to the rows and decides their outcomes.
func (c *ColumnComparison) adjust() {
	p, signed := make([]*float64, len(c.Rows)), make([]*float64, len(c.Rows))
	for i, r := range c.Rows {
		if r.Difference != nil {
			p[i], signed[i] = r.Difference.P, r.Difference.Wilcoxon
		}
	}
	p, signed = Holm(p), Holm(signed)
	for i := range c.Rows {
		r := &c.Rows[i]
		if p[i] == nil {
			continue
		}
		r.Difference.Holm, r.WilcoxonHolm = p[i], signed[i]
		switch {
		case *p[i] >= Level:
		case r.Difference.Gain > 0:
			r.Outcome = Better
		default:
			r.Outcome = Worse
		}
	}
}
