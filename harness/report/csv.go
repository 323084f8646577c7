package report

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tidy writes one line per measured cell, with the published value of the same data set
// beside it where the table has it. A table of published columns alone gives their cells.
// Numbers keep all their digits.
func tidy(w io.Writer, t Table) error {
	out := csv.NewWriter(w)
	head := []string{
		"table", "row", "title", "at", "column", "synthetic", "stands_for", "unit", "mean", "sd", "n", "declared",
		"state", "selection", "tried", "dagger", "best", "published_column", "published", "runs", "detail",
	}
	if err := out.Write(head); err != nil {
		return err
	}
	mixed := t.mixed()
	for _, r := range t.Rows() {
		for j, c := range t.Columns {
			if c.Published && mixed {
				continue
			}
			cell := r.Cells[j]
			mean, sd, seeds, declared, tried, set, printed := "", "", "", "", "", "", ""
			if cell.State == OK && !c.Published {
				mean = number(cell.Mean)
				if cell.N > 1 {
					sd = number(cell.SD)
				}
			}
			if !c.Published {
				seeds, declared, tried = strconv.Itoa(cell.N), strconv.Itoa(cell.Declared), strconv.Itoa(cell.Tried)
			}
			if k, ok := t.publishedBeside(j); ok {
				set = t.Columns[k].ID
				if r.Cells[k].State == OK {
					printed = number(r.Cells[k].Mean)
				}
			}
			line := []string{
				t.ID, r.ID, r.Title, r.at(), c.ID, strconv.FormatBool(c.Synthetic), c.StandsFor, t.Unit, mean, sd, seeds, declared,
				string(cell.State), cell.Selection, tried, strconv.FormatBool(cell.Dagger), strconv.FormatBool(cell.Best), set, printed,
				strings.Join(cell.RunIDs, " "), cell.Detail,
			}
			for i := range line {
				line[i] = csvCell(line[i])
			}
			if err := out.Write(line); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// at lists the swept settings of a row, as in "alpha=0.001 gamma=0.5".
func (r Row) at() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.At)) {
		parts = append(parts, name+"="+number(r.At[name]))
	}
	return strings.Join(parts, " ")
}

// publishedBeside is the published column of the data set of column j, or of the one it
// stands for.
func (t Table) publishedBeside(j int) (int, bool) {
	set := t.Columns[j].ID
	if s := t.Columns[j].StandsFor; s != "" {
		set = s
	}
	for k, c := range t.Columns {
		if c.Published && c.ID == set {
			return k, true
		}
	}
	return 0, false
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// csvCell keeps a spreadsheet from taking text for a formula: what begins with one of
// = + - @ or a tab, and is no number, gets an apostrophe in front.
func csvCell(s string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " "))
	if !strings.ContainsRune("=+-@\t＝＋－＠", first) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
