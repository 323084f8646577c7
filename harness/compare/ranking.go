package compare

import (
	"fmt"
	"math"
	"slices"

	"ssdl/harness/results"
	"ssdl/harness/stats"
)

// Ranking is Friedman's test over blocks, one per seed and data set, with Nemenyi's critical
// difference. Seeds of one data set are not independent, because their training and test parts
// overlap: P and Critical are then too small, and hold for these splits only.
type Ranking struct {
	// Lacks is why there is no ranking; empty if there is one.
	Lacks   Lack     `json:"lacks,omitempty"`
	Blocks  int      `json:"blocks"`
	Columns []string `json:"columns,omitempty"`
	// Rows are the rows that have every seed of any row, ordered by mean rank; in the order of the
	// table without a ranking.
	Rows []Ranked `json:"rows,omitempty"`
	// LeftOut are the rows that lack a seed of another row.
	LeftOut   []Ranked `json:"left_out,omitempty"`
	ChiSquare float64  `json:"chi_square"`
	P         float64  `json:"p"`
	// F is Iman and Davenport's statistic; nil if it is infinite because all blocks agree.
	F        *float64 `json:"f"`
	PF       float64  `json:"p_f"`
	Critical float64  `json:"critical_difference"`
	// Cliques are the maximal groups of rows that Nemenyi's test does not tell apart, as ranges
	// from..to of Rows, both included.
	Cliques [][2]int `json:"cliques,omitempty"`
}

// Lack is why there is no ranking.
type Lack string

// A ranking needs two rows with all seeds, and two blocks.
const (
	LacksRows   Lack = "rows"
	LacksBlocks Lack = "blocks"
)

// Ranked is a row with its mean rank; 1 is the best, 0 means none.
type Ranked struct {
	Row         string  `json:"row"`
	Title       string  `json:"title"`
	Rank        float64 `json:"rank,omitempty"`
	TunedOnTest bool    `json:"tuned_on_test,omitempty"` // on any of the data sets
	// Letters name the cliques of the row: rows without a common letter differ.
	Letters string `json:"letters,omitempty"`
}

// rankAll ranks the rows that have, in all columns, every seed of any row.
func rankAll(t results.Table, columns []int) (Ranking, error) {
	var out Ranking
	seeds := map[int][]uint64{} // by column: the seeds of any row
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
	var rows []Ranked
	var x [][]float64
	for _, r := range t.Rows() {
		is := Ranked{Row: r.ID, Title: r.FullTitle()}
		var values []float64
		complete := true
		for _, j := range columns {
			found := samples(r.Cells[j])
			complete = complete && len(found) == len(seeds[j])
			is.TunedOnTest = is.TunedOnTest || r.Cells[j].TunedOnTest
			for _, s := range found { // all rows have them in the same order
				if !t.Metric.HigherIsBetter {
					s.Value = -s.Value
				}
				values = append(values, s.Value)
			}
		}
		switch {
		case len(values) == 0:
		case complete:
			rows, x = append(rows, is), append(x, values)
		default:
			out.LeftOut = append(out.LeftOut, is)
		}
	}
	if out.Rows = rows; len(rows) > 0 {
		out.Blocks = len(x[0])
	}
	switch {
	case len(rows) < 2:
		out.Lacks = LacksRows
		return out, nil
	case out.Blocks < 2:
		out.Lacks = LacksBlocks
		return out, nil
	}
	test, err := stats.Friedman(x)
	if err != nil {
		return out, err
	}
	out.ChiSquare, out.P, out.PF, out.Critical, out.Cliques = test.ChiSquare, test.P, test.PF, test.Critical, test.Cliques()
	if !math.IsInf(test.F, 0) {
		out.F = &test.F
	}
	out.Rows = nil
	for _, i := range test.Order() {
		rows[i].Rank = test.Ranks[i]
		out.Rows = append(out.Rows, rows[i])
	}
	for k, c := range out.Cliques {
		for i := c[0]; i <= c[1]; i++ {
			out.Rows[i].Letters += letter(k)
		}
	}
	return out, nil
}

// samples returns the samples of an OK cell, nil for others.
func samples(c results.Cell) []results.Sample {
	if c.State != results.OK {
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
