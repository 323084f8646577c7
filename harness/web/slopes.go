package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"ssdl/harness/chart"
	"ssdl/harness/report"
	"ssdl/harness/results"
)

// slope shows the paper's numbers and ours on one data set. A stand-in has only ours: the paper has no numbers for it.
type slope struct {
	Table, Title, Note string
	Chart              template.HTML
}

const (
	slopeWidth  = 252
	slopeHeight = 330
)

// slopes draws a table of the paper, a chart for each data set. The paper's own method is emphasised.
func (v view) slopes(s *study) []slope {
	var out []slope
	t := s.table
	for j, col := range t.Columns {
		if col.Published {
			continue
		}
		is := slope{Table: s.id, Title: tableTitle(s) + ", " + col.Title}
		notes := []string{}
		switch kind := kindOfSet(col); {
		case kind != "":
			is.Chart = v.oursAlone(s, j)
			notes = append(notes, kind+", ours alone")
		case j+1 < len(t.Columns) && t.Columns[j+1].Published: // the published column follows ours
			is.Chart = v.printedAndOurs(s, j)
		}
		if is.Chart == "" {
			continue
		}
		if !t.Metric.HigherIsBetter {
			notes = append(notes, "lower is better")
		}
		is.Note = strings.Join(notes, "; ")
		out = append(out, is)
	}
	return out
}

// printedAndOurs draws the paper's number of each method beside our mean. It is empty without a pair.
func (v view) printedAndOurs(s *study, j int) template.HTML {
	t, col := s.table, s.table.Columns[j]
	c := chart.Slope{
		Title: fmt.Sprintf("%s of each method on %s, in the paper and here", t.Metric.Title, col.Title),
		Axis:  chart.Axis{Title: report.Quantity(t.Metric)}, Left: "paper", Right: "ours", Width: slopeWidth, Height: slopeHeight,
	}
	for _, r := range t.Rows() {
		printed, ours := r.Cells[j+1], r.Cells[j]
		if printed.State != results.OK || ours.State != results.OK {
			continue
		}
		a, b := number(t.Metric, printed.Mean, false), number(t.Metric, ours.Mean, false)
		c.Items = append(c.Items, chart.SlopeItem{
			Name: r.Title, Left: printed.Mean, Right: ours.Mean, LeftText: a, RightText: b, Strong: r.Bold,
			Title: fmt.Sprintf("%s: paper %s, ours %s", r.FullTitle(), a, b), Link: v.href(cellPath(s.id, r.ID, col.ID)),
		})
	}
	if len(c.Items) == 0 {
		return ""
	}
	return drawing(c.Draw())
}

// oursAlone draws our means of the paper's methods with their standard deviations, the best first. It is empty
// without a mean.
func (v view) oursAlone(s *study, j int) template.HTML {
	t, col := s.table, s.table.Columns[j]
	c := chart.Intervals{
		Title: fmt.Sprintf("%s of each method on %s, here alone", t.Metric.Title, col.Title),
		Axis:  chart.Axis{Title: report.Quantity(t.Metric)}, Width: slopeWidth,
	}
	rows := slices.DeleteFunc(t.Rows(), func(r results.Row) bool { return r.Role != results.PaperRow || r.Cells[j].State != results.OK })
	slices.SortStableFunc(rows, func(a, b results.Row) int {
		if t.Metric.HigherIsBetter {
			a, b = b, a
		}
		return cmp.Compare(a.Cells[j].Mean, b.Cells[j].Mean)
	})
	for _, r := range rows {
		cell := r.Cells[j]
		row := chart.Row{Name: r.Title, Value: cell.Mean, Low: cell.Mean - cell.SD, High: cell.Mean + cell.SD, Text: number(t.Metric, cell.Mean, false), Link: v.href(cellPath(s.id, r.ID, col.ID))}
		if !r.Bold {
			row.Ink = chart.Soft
		}
		c.Rows = append(c.Rows, row)
	}
	if len(rows) == 0 {
		return ""
	}
	return drawing(c.Draw())
}
