package verify

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
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

// RenderPaperCheck writes the outcome of PaperCheck in one of the Formats.
func RenderPaperCheck(w io.Writer, checks []GrimCheck, format string) error {
	switch format {
	case "json":
		return writeJSON(w, checks)
	case "csv":
		var lines [][]string
		for _, g := range checks {
			lines = append(lines, []string{
				g.Table, g.Column, strconv.Itoa(g.Splits), strconv.Itoa(g.From), strconv.Itoa(g.To), strconv.Itoa(g.Numbers), strconv.Itoa(g.Most),
				runsOf(g.Sizes), strings.Join(g.Never, " "), strconv.Itoa(g.Smallest),
			})
		}
		return report.CSV(w, []string{"table", "column", "splits", "from", "to", "numbers", "most", "sizes", "never", "smallest"}, lines)
	}
	return writeGrids(w, []report.Grid{paperGrid(checks)}, format)
}

func paperGrid(checks []GrimCheck) report.Grid {
	grid := report.Grid{
		Heading: "Which of the paper's accuracies can be means over so many splits (GRIM)",
		Head:    []string{"Table", "Data", "Splits", "Test part", "Possible at best", "All possible at", "Possible nowhere", "Smallest size"},
		Align:   "llrrrllr",
	}
	for i, g := range checks {
		if i == 0 || g.Column != checks[i-1].Column || g.Table != checks[i-1].Table {
			grid.Groups = append(grid.Groups, nil)
		}
		sizes, smallest := runsOf(g.Sizes), strconv.Itoa(g.Smallest)
		switch {
		case len(g.Sizes) == 0:
			sizes = "none"
		case len(g.Sizes) == g.To-g.From+1:
			sizes = "all"
		}
		if g.Smallest == 0 {
			smallest = "none"
		}
		last := len(grid.Groups) - 1
		grid.Groups[last] = append(grid.Groups[last], report.Items(g.Table, g.Column, strconv.Itoa(g.Splits), fmt.Sprintf("%d..%d", g.From, g.To),
			fmt.Sprintf("%d/%d", g.Most, g.Numbers), sizes, strings.Join(g.Never, ", "), smallest))
	}
	for _, text := range []string{
		"A mean accuracy over k splits with n test samples each is a multiple of 100/(kn) %, rounded. A number halfway may be rounded either way.",
		"Test part: the sizes that 30 % of each class can have, whatever the sizes of the classes. All further numbers of splits are possible where the last line says all.",
		"Smallest size: the smallest test part at all that could give the whole column.",
		"From 1000 predictions on every number with one decimal is possible, and the check says nothing. It does not apply to losses (Table 2).",
	} {
		grid.Notes = append(grid.Notes, report.Note{Text: text})
	}
	return grid
}

// runsOf writes ascending numbers as in "470..472, 475".
func runsOf(v []int) string {
	var parts []string
	for from := 0; from < len(v); {
		to := from
		for to+1 < len(v) && v[to+1] == v[to]+1 {
			to++
		}
		part := strconv.Itoa(v[from])
		if to > from {
			part += ".." + strconv.Itoa(v[to])
		}
		parts = append(parts, part)
		from = to + 1
	}
	return strings.Join(parts, ", ")
}
