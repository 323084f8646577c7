package report

import (
	"fmt"
	"strconv"
	"strings"

	"ssdl/harness/verdict"
)

// OfPaperCheck is the document of the result of verdict.PaperCheck.
func OfPaperCheck(checks []verdict.GrimCheck) Document {
	d := Document{
		Grids: []Grid{grimGrid(checks)}, Value: checks,
		Head: []string{"table", "column", "splits", "from", "to", "numbers", "most", "sizes", "never", "smallest"},
	}
	for _, g := range checks {
		d.Lines = append(d.Lines, []string{
			g.Table, g.Column, strconv.Itoa(g.Splits), strconv.Itoa(g.From), strconv.Itoa(g.To), strconv.Itoa(g.Numbers), strconv.Itoa(g.Most),
			ranges(g.Sizes), strings.Join(g.Never, " "), strconv.Itoa(g.Smallest),
		})
	}
	return d
}

func grimGrid(checks []verdict.GrimCheck) Grid {
	grid := Grid{
		Heading: "Which of the paper's accuracies are possible means over a number of splits (GRIM)",
		Head:    []string{"Table", "Data", "Splits", "Test part", "Possible at best", "All possible at", "Possible nowhere", "Smallest size"},
		Align:   "llrrrllr",
	}
	for i, g := range checks {
		if i == 0 || g.Column != checks[i-1].Column || g.Table != checks[i-1].Table {
			grid.Groups = append(grid.Groups, nil)
		}
		sizes, smallest := ranges(g.Sizes), strconv.Itoa(g.Smallest)
		switch {
		case len(g.Sizes) == 0:
			sizes = "none"
		case len(g.Sizes) == g.To-g.From+1:
			sizes = "all"
		}
		if g.Smallest == 0 {
			smallest = "none"
		}
		grid.add(items(g.Table, g.Column, strconv.Itoa(g.Splits), fmt.Sprintf("%d..%d", g.From, g.To),
			fmt.Sprintf("%d/%d", g.Most, g.Numbers), sizes, strings.Join(g.Never, ", "), smallest)...)
	}
	grid.note(
		"A mean accuracy over k splits with n test samples each is a multiple of 100/(kn) %, rounded; a number halfway may be rounded either way.",
		"Test part: the sizes that 30 % of each class can have, whatever the sizes of the classes.",
		"If the last line says all, every larger number of splits is possible.",
		"Smallest size: the smallest test part that could give the whole column.",
		"From 1000 predictions on, every number with one decimal is possible, and the check decides nothing. Losses (Table 2) are not checked.",
	)
	return grid
}

// ranges formats ascending numbers, such as "470..472, 475".
func ranges(v []int) string {
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
