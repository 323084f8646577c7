package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"ssdl/experiments/paper"
	"ssdl/harness/stats"
)

// DataSet describes a data set for PaperCheck.
type DataSet struct {
	Name             string
	Samples, Classes int
}

// GrimCheck says whether the numbers of one column of the paper can be mean accuracies over Splits
// splits, whose test parts all have one size in From..To.
type GrimCheck struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Splits int    `json:"splits"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	// Numbers is how many numbers the column has. Most is how many are possible at the best size.
	// Sizes are the sizes at which all are possible. Never lists the numbers possible at no size.
	Numbers int      `json:"numbers"`
	Most    int      `json:"most"`
	Sizes   []int    `json:"sizes"`
	Never   []string `json:"never"`
	// Smallest is the smallest test part at which all numbers are possible; 0 if the data set is
	// too small for one.
	Smallest int `json:"smallest"`
}

// PaperCheck checks whether the paper's accuracies can come from counts of correct predictions
// (GRIM), with share of each class as the test part: for one split, for two and so on, until all
// numbers are possible at all sizes. It skips losses, which count nothing.
func PaperCheck(sets []DataSet, share float64) ([]GrimCheck, error) {
	var out []GrimCheck
	for _, l := range paper.Tables() {
		if l.Unit != "%" {
			continue
		}
		for _, col := range l.Columns {
			i := slices.IndexFunc(sets, func(d DataSet) bool { return d.Name == col.ID })
			if i < 0 {
				return nil, fmt.Errorf("paper check of %s: the size of the data set %s is not known", l.ID, col.ID)
			}
			var printed []string
			for _, r := range l.Rows() {
				if v, ok := r.Values[col.ID]; ok {
					printed = append(printed, strconv.FormatFloat(v, 'f', l.Decimals, 64))
				}
			}
			for splits := 1; ; splits++ {
				g, err := grim(sets[i], printed, share, splits)
				if err != nil {
					return nil, fmt.Errorf("paper check of %s, %s: %w", l.ID, col.ID, err)
				}
				g.Table, g.Column = l.ID, col.ID
				out = append(out, g)
				if g.Most == g.Numbers && len(g.Sizes) == g.To-g.From+1 {
					break
				}
			}
		}
	}
	return out, nil
}

func grim(d DataSet, printed []string, share float64, splits int) (GrimCheck, error) {
	// Rounding changes the test part of each class by at most a half.
	middle, half := share*float64(d.Samples), float64(d.Classes)/2
	g := GrimCheck{Splits: splits, Numbers: len(printed), Sizes: []int{}, Never: []string{}, From: max(1, int(math.Ceil(middle-half))), To: int(math.Floor(middle + half))}
	if !(share > 0 && share < 1) || g.To < g.From {
		return g, fmt.Errorf("a share of %v of %d samples has no test part", share, d.Samples)
	}
	// possible reports, for each number, whether this size allows it.
	possible := func(size int) ([]bool, int, error) {
		out, n := make([]bool, len(printed)), 0
		for i, p := range printed {
			ok, err := stats.Grim(p, size, splits)
			if err != nil {
				return nil, 0, err
			}
			if out[i] = ok; ok {
				n++
			}
		}
		return out, n, nil
	}
	ever := make([]bool, len(printed))
	for size := g.From; size <= g.To; size++ {
		ok, n, err := possible(size)
		if err != nil {
			return g, err
		}
		g.Most = max(g.Most, n)
		if n == len(printed) {
			g.Sizes = append(g.Sizes, size)
		}
		for i := range ok {
			ever[i] = ever[i] || ok[i]
		}
	}
	for i, p := range printed {
		if !ever[i] && !slices.Contains(g.Never, p) {
			g.Never = append(g.Never, p)
		}
	}
	for size := 1; size <= d.Samples; size++ {
		_, n, err := possible(size)
		if err != nil {
			return g, err
		}
		if n == len(printed) {
			g.Smallest = size
			break
		}
	}
	return g, nil
}
