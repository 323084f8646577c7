package verify

import (
	"fmt"
	"math"
	"slices"

	"ssdl/harness/report"
	"ssdl/harness/stats"
)

// Comparison holds the methods of a table against one of them, data set by data set, and
// ranks them all.
type Comparison struct {
	Table   string        `json:"table"`
	Columns []Competition `json:"columns"`
	Ranking Ranking       `json:"ranking"`

	decimals int
	unit     string
	lower    bool
}

// Competition is a column of a Comparison.
type Competition struct {
	Column string `json:"column"`
	Title  string `json:"title"`
	// StandsFor is the paper's data set in whose place this one is used; Synthetic marks
	// generated data.
	StandsFor string `json:"stands_for,omitempty"`
	Synthetic bool   `json:"synthetic,omitempty"`
	// Against is the row that all others are held against; empty if it has no result. Picked
	// says that it was taken because it has the best mean, which flatters it: the p-values
	// are then too small.
	Against string  `json:"against"`
	Picked  bool    `json:"picked"`
	Rows    []Rival `json:"rows"`
}

// Rival is a method held against another. All differences are paired by seed.
type Rival struct {
	Row   string `json:"row"`
	Title string `json:"title"`
	// Mean is over N of the Declared seeds, nil without any; State then says why.
	State    report.State `json:"state"`
	Mean     *float64     `json:"mean,omitempty"`
	N        int          `json:"n"`
	Declared int          `json:"declared"`
	Dagger   bool         `json:"dagger,omitempty"`
	// Contrast is nil for the row that is held against, and without a common seed.
	Contrast *Contrast `json:"contrast,omitempty"`
	// WilcoxonHolm is the signed-rank P adjusted over the column.
	WilcoxonHolm *float64 `json:"p_wilcoxon_holm,omitempty"`
	// Wins, Ties and Losses count the common seeds.
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
	// Standing is Better or Worse if Holm's adjustment of the corrected t test is below 5 %,
	// and else Level.
	Standing Standing `json:"verdict,omitempty"`

	group int // of the table, for the rules between rows
}

// Standing is where a method stands against another.
type Standing string

// The standings. Level does not say that two methods are equal.
const (
	Better Standing = "better"
	Worse  Standing = "worse"
	Level  Standing = "undecided"
)

// significance is the level at which methods are told apart.
const significance = 0.05

// Ranking is Friedman's test over blocks, one per seed and data set, with Nemenyi's
// critical difference. Seeds of one data set are not independent blocks, since their
// training and test parts overlap: the P and the critical difference are then too small
// and describe the order on these splits.
type Ranking struct {
	// Why is the reason why there is no ranking, and empty if there is one.
	Why     string   `json:"why,omitempty"`
	Blocks  int      `json:"blocks"`
	Columns []string `json:"columns,omitempty"`
	// Methods are in the order of their mean ranks.
	Methods []Ranked `json:"methods,omitempty"`
	// LeftOut are the rows that lack a seed which another row has.
	LeftOut   []string `json:"left_out,omitempty"`
	leftOut   []string // their titles
	ChiSquare float64  `json:"chi_square"`
	P         float64  `json:"p"`
	// F is Iman and Davenport's statistic, nil if it is infinite: all blocks agree.
	F        *float64 `json:"f"`
	PF       float64  `json:"p_f"`
	Critical float64  `json:"critical_difference"`
	// Cliques are the largest groups of methods that Nemenyi's test does not tell apart.
	Cliques [][]string `json:"cliques,omitempty"`

	test stats.FriedmanTest
}

// Ranked is a method with its mean rank; 1 is the best.
type Ranked struct {
	Row   string  `json:"row"`
	Title string  `json:"title"`
	Rank  float64 `json:"rank"`
	// Letters are those of the cliques that it is in: methods without a common letter differ.
	Letters string `json:"letters,omitempty"`
}

// Compare holds the rows of t against the row with the id against, or against the best of
// each column if it is empty. Columns without results are left out.
func Compare(t report.Table, against string, testToTrain float64) (Comparison, error) {
	if err := t.Check(); err != nil {
		return Comparison{}, err
	}
	if !(testToTrain >= 0) || math.IsInf(testToTrain, 1) {
		return Comparison{}, fmt.Errorf("compare %s: test to train ratio %v, want a finite ratio of at least 0", t.ID, testToTrain)
	}
	if against != "" && !slices.ContainsFunc(t.Rows(), func(r report.Row) bool { return r.ID == against }) {
		return Comparison{}, fmt.Errorf("compare %s: there is no row %q to compare with", t.ID, against)
	}
	out := Comparison{Table: t.ID, decimals: t.Decimals, unit: t.Unit, lower: t.LowerIsBetter}
	var columns []int
	for j, col := range t.Columns {
		has := func(r report.Row) bool { return r.Cells[j].State == report.OK }
		if col.Published || !slices.ContainsFunc(t.Rows(), has) {
			continue
		}
		columns = append(columns, j)
		out.Columns = append(out.Columns, compete(t, j, against, testToTrain))
	}
	out.Ranking = rankAll(t, columns)
	return out, nil
}

func compete(t report.Table, j int, against string, testToTrain float64) Competition {
	col := t.Columns[j]
	c := Competition{Column: col.ID, Title: col.Title, StandsFor: col.StandsFor, Synthetic: col.Synthetic, Against: against}
	if against == "" {
		c.Against, c.Picked = bestOf(t, j), true
	}
	var base report.Cell
	for _, r := range t.Rows() {
		if r.ID == c.Against {
			base = r.Cells[j]
		}
	}
	if base.State != report.OK {
		c.Against = ""
	}
	for g, group := range t.Groups {
		for _, r := range group.Rows {
			cell := r.Cells[j]
			rival := Rival{Row: r.ID, Title: r.Title, State: cell.State, N: cell.N, Declared: cell.Declared, Dagger: cell.Dagger, group: g}
			if cell.State == report.OK {
				rival.Mean = &cell.Mean
			}
			if r.ID != c.Against && c.Against != "" && cell.State == report.OK {
				rival.meet(paired(cell, base, t.LowerIsBetter), r.ID+" over "+c.Against, testToTrain)
			}
			c.Rows = append(c.Rows, rival)
		}
	}
	c.adjust()
	return c
}

// bestOf is the row with the best mean of the column, of those that have all their seeds
// and are no controls; if there is none, of all.
func bestOf(t report.Table, j int) string {
	for _, strict := range []bool{true, false} {
		best, id := 0.0, ""
		for _, r := range t.Rows() {
			c := r.Cells[j]
			if c.State != report.OK || strict && (r.Aside || c.N < c.Declared) {
				continue
			}
			if v := c.Mean; id == "" || (t.LowerIsBetter && v < best) || (!t.LowerIsBetter && v > best) {
				best, id = v, r.ID
			}
		}
		if id != "" {
			return id
		}
	}
	return ""
}

// meet compares the rival with the row that is held against, on their common seeds.
func (r *Rival) meet(p pairs, what string, testToTrain float64) {
	if len(p.seeds) == 0 {
		return
	}
	c := contrast(what, p, testToTrain)
	r.Contrast, r.Standing = &c, Level
	for i := range p.seeds {
		switch d := p.x[i] - p.y[i]; {
		case d > rounding:
			r.Wins++
		case d < -rounding:
			r.Losses++
		default:
			r.Ties++
		}
	}
}

// adjust applies Holm's procedure to the rows of the column and judges them.
func (c *Competition) adjust() {
	var met []int
	var family, signed []Contrast
	for i, r := range c.Rows {
		if r.Contrast != nil {
			met, family = append(met, i), append(family, *r.Contrast)
			signed = append(signed, Contrast{P: r.Contrast.Wilcoxon})
		}
	}
	adjust(family)
	adjust(signed)
	for k, i := range met {
		r, f := &c.Rows[i], family[k]
		switch {
		case f.Holm == nil || *f.Holm >= significance:
		case f.Gain > 0:
			r.Standing = Better
		default:
			r.Standing = Worse
		}
		r.Contrast, r.WilcoxonHolm = &f, signed[k].Holm
	}
}

// rankAll ranks the rows that have every seed that any row has, in all the columns.
func rankAll(t report.Table, columns []int) Ranking {
	var out Ranking
	seeds := map[int][]uint64{} // by column, of any row
	for _, j := range columns {
		out.Columns = append(out.Columns, t.Columns[j].ID)
		for _, r := range t.Rows() {
			for _, s := range samples(r.Cells[j]) {
				if !slices.Contains(seeds[j], s.Seed) {
					seeds[j] = append(seeds[j], s.Seed)
				}
			}
		}
	}
	var rows []report.Row
	var x [][]float64
	for _, r := range t.Rows() {
		var values []float64
		complete, any := true, false
		for _, j := range columns {
			found := samples(r.Cells[j])
			complete = complete && len(found) == len(seeds[j])
			for _, s := range found { // all rows have them in the same order
				any = true
				if t.LowerIsBetter {
					s.Value = -s.Value
				}
				values = append(values, s.Value)
			}
		}
		switch {
		case complete && any:
			rows, x = append(rows, r), append(x, values)
		case any:
			out.LeftOut, out.leftOut = append(out.LeftOut, r.ID), append(out.leftOut, r.Title)
		}
	}
	if len(rows) > 0 {
		out.Blocks = len(x[0])
	}
	switch {
	case len(rows) < 2:
		out.Why = fmt.Sprintf("%d method(s) have all seeds of all data sets, a ranking needs 2", len(rows))
		return out
	case out.Blocks < 2:
		out.Why = "one seed on one data set: a ranking needs 2 blocks"
		return out
	}
	test, err := stats.Friedman(x)
	if err != nil {
		out.Why = err.Error()
		return out
	}
	out.test, out.ChiSquare, out.P, out.PF, out.Critical = test, test.ChiSquare, test.P, test.PF, test.Critical
	if !math.IsInf(test.F, 0) {
		out.F = &test.F
	}
	order := test.Order()
	for _, i := range order {
		out.Methods = append(out.Methods, Ranked{Row: rows[i].ID, Title: rows[i].Title, Rank: test.Ranks[i]})
	}
	for k, c := range test.Cliques() {
		var ids []string
		for at := c[0]; at <= c[1]; at++ {
			out.Methods[at].Letters += letter(k)
			ids = append(ids, out.Methods[at].Row)
		}
		out.Cliques = append(out.Cliques, ids)
	}
	return out
}

// samples are those of an OK cell.
func samples(c report.Cell) []report.Sample {
	if c.State != report.OK {
		return nil
	}
	return c.Samples
}

// letter is a, b, ... z, A, ... Z and then a number in brackets.
func letter(k int) string {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if k < len(all) {
		return all[k : k+1]
	}
	return fmt.Sprintf("(%d)", k)
}
