package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"ssdl/experiments/paper"
	"ssdl/harness/stats"
)

// DataSet is what PaperCheck needs to know of a data set.
type DataSet struct {
	Name             string
	Samples, Classes int
}

// GrimCheck says whether the numbers of a column of the paper can be mean accuracies over
// so many splits, each with a test part of one of the sizes From..To.
type GrimCheck struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Splits int    `json:"splits"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	// Numbers is how many the column has, Most how many of them are possible at the best of
	// the sizes, Sizes at which sizes all are, and Never which are possible at none.
	Numbers int      `json:"numbers"`
	Most    int      `json:"most"`
	Sizes   []int    `json:"sizes"`
	Never   []string `json:"never"`
	// Smallest is the smallest test part at all at which all numbers are possible; 0 if
	// the data set is too small for it.
	Smallest int `json:"smallest"`
}

// PaperCheck holds the paper's accuracies against what counts of correct predictions can
// give (GRIM), for test parts of the given share of each class: for one split, for two and
// so on, until all numbers are possible at all sizes. Losses have no counts behind them.
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
	// Rounding moves the part of each class by at most a half.
	middle, half := share*float64(d.Samples), float64(d.Classes)/2
	g := GrimCheck{Splits: splits, Numbers: len(printed), From: max(1, int(math.Ceil(middle-half))), To: int(math.Floor(middle + half))}
	if !(share > 0 && share < 1) || g.To < g.From {
		return g, fmt.Errorf("a share of %v of %d samples has no test part", share, d.Samples)
	}
	// possible says of each number whether it is at this size.
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
