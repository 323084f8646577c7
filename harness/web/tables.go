package web

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ssdl/harness/report"
	"ssdl/harness/results"
)

// tableData is a table on a page.
type tableData struct {
	ID, Title, Caption, RowHead string
	Unit                        string
	LowerIsBetter               bool
	Sets                        []tableSet
	Groups                      [][]tableRow
	Notes                       []report.Note
	// Roles and Marks are the roles and marks of rows, for the filters.
	Roles, Marks []string
	Figures      int
	Readings     bool
	Rows         int
	// Sorts makes the heads sort the rows on a click.
	Sorts bool
}

// tableSet is a data set: the paper's column, ours and the difference.
type tableSet struct {
	ID, Title, Kind string // Kind is "stand-in", "synthetic", "other data" or ""
	Printed         string // the paper's name of the set; "" without a published column
	Judged          bool   // has differences and verdicts
}

// tableRow is a row.
type tableRow struct {
	ID, Title, Setting string
	Source             string
	Notes              []string // letters
	Role               string
	Marks              []string
	Bold               bool
	Cells              []tableCell // one per data set
}

// tableCell is our value beside the paper's.
type tableCell struct {
	Path            string
	Value           string // for sorting; "" for none
	Text, SD        string
	State, Why      string // if there is no value
	Best            bool
	Letters         []string
	Chips           []chip
	Printed         string
	PrintedValue    string
	PrintedBest     bool
	Difference      string
	DifferenceValue string
	Verdict         string
}

// chip is a short remark: "4/8", "tuned on test", "inconsistent".
type chip struct{ Kind, Text, Title string }

func (v view) tablesPage(ctx context.Context) (page, error) {
	all, err := v.loadAll(ctx)
	if err != nil {
		return page{}, err
	}
	var list []studyLink
	for _, s := range all {
		list = append(list, linkTo(s))
	}
	return page{Title: "Tables", Section: "/tables", Template: "tables", Data: list}, nil
}

func (v view) tablePage(ctx context.Context, id string) (page, error) {
	s, _, err := v.study(ctx, id)
	if err != nil {
		return page{}, err
	}
	d := v.tableOf(s)
	d.Sorts = true
	return page{Title: d.Title, Section: "/tables", Template: "table", Data: d}, nil
}

// tableTitle is a title such as "Table 1".
func tableTitle(s *study) string {
	if s.table.Title == "" {
		return s.id
	}
	return s.table.Title
}

// tableOf lays out a table, with the texts and notes of its other formats.
func (v view) tableOf(s *study) tableData {
	t, grid, notations := s.table, report.OfTable(s.table).Grids[0], s.table.Notations()
	d := tableData{
		ID: s.id, Title: tableTitle(s), Caption: grid.Heading, RowHead: t.RowHead, Unit: t.Metric.Unit, LowerIsBetter: !t.Metric.HigherIsBetter,
		Notes: grid.Notes, Rows: len(t.Rows()), Figures: len(s.figures),
	}
	for _, f := range s.figures {
		d.Readings = d.Readings || f.Readings != nil
	}
	var ours, printed []int // columns by data set; -1 for none
	for j, c := range t.Columns {
		if c.Published {
			continue
		}
		set := tableSet{ID: c.ID, Title: c.Title, Kind: kindOfSet(c)}
		ours, printed = append(ours, j), append(printed, -1)
		if j+1 < len(t.Columns) && t.Columns[j+1].Published {
			printed[len(printed)-1] = j + 1
			set.Printed, set.Judged = t.Columns[j+1].Title, set.Kind == ""
		}
		d.Sets = append(d.Sets, set)
	}
	for g, group := range t.Groups {
		var rows []tableRow
		for i, r := range group.Rows {
			item := grid.Groups[g][i]
			row := tableRow{ID: r.ID, Title: r.Title, Setting: r.Setting.In(notations), Notes: item[0].Marks, Role: string(r.Role), Bold: r.Bold}
			row.Source = strings.Trim(strings.TrimPrefix(item[0].Text, r.FullTitle()), " ()")
			for k, j := range ours {
				cell := v.tableCell(s, r, j, printed[k])
				cell.Letters = item[j+1].Marks
				for _, c := range cell.Chips {
					row.Marks = addOnce(row.Marks, c.Kind)
				}
				if cell.State != "" {
					row.Marks = addOnce(row.Marks, cell.State)
				}
				row.Cells = append(row.Cells, cell)
			}
			for _, m := range row.Marks {
				d.Marks = addOnce(d.Marks, m)
			}
			if r.Role != "" && r.Role != results.PaperRow {
				d.Roles = addOnce(d.Roles, string(r.Role))
			}
			rows = append(rows, row)
		}
		d.Groups = append(d.Groups, rows)
	}
	d.dropCommon("imported") // the notes say so
	return d
}

// dropCommon removes a chip that every cell with a value has: it distinguishes none.
func (d *tableData) dropCommon(kind string) {
	is := func(c chip) bool { return c.Kind == kind }
	for _, rows := range d.Groups {
		for _, r := range rows {
			for _, c := range r.Cells {
				if c.Text != "" && !slices.ContainsFunc(c.Chips, is) {
					return
				}
			}
		}
	}
	d.Marks = slices.DeleteFunc(d.Marks, func(m string) bool { return m == kind })
	for _, rows := range d.Groups {
		for i := range rows {
			for k := range rows[i].Cells {
				rows[i].Cells[k].Chips = slices.DeleteFunc(rows[i].Cells[k].Chips, is)
			}
		}
	}
}

// kindOfSet is the kind of a data set that is not the paper's.
func kindOfSet(c results.Column) string {
	switch {
	case c.Synthetic:
		return "synthetic"
	case len(c.Differences) > 0:
		return "other data"
	case c.StandsFor != "":
		return "stand-in"
	}
	return ""
}

func addOnce(list []string, s string) []string {
	for _, o := range list {
		if o == s {
			return list
		}
	}
	return append(list, s)
}

func (v view) tableCell(s *study, r results.Row, j, printed int) tableCell {
	c, m := r.Cells[j], s.table.RowMetric(r)
	at := place{r.ID, s.table.Columns[j].ID}
	out := tableCell{Best: c.Best}
	if _, ok := s.explain(at); ok {
		out.Path = cellPath(s.id, at.row, at.column)
	}
	if c.State == results.OK {
		out.Text, out.Value = number(m, c.Mean, false), fmt.Sprint(c.Mean)
		if c.N > 1 {
			out.SD = number(m, c.SD, false)
		}
	}
	if out.Chips = chipsOf(c); c.State != results.OK {
		out.State, out.Why = string(c.State), report.Remarks(c.Remarks, c.State)
	}
	if printed >= 0 && r.Cells[printed].State == results.OK {
		p := r.Cells[printed]
		out.Printed, out.PrintedValue, out.PrintedBest = number(m, p.Mean, false), fmt.Sprint(p.Mean), p.Best
	}
	if is := s.verdictOf(at); is != nil && is.Difference != nil {
		out.Difference, out.DifferenceValue, out.Verdict = number(m, *is.Difference, true), fmt.Sprint(*is.Difference), string(is.Verdict)
	}
	return out
}

// chipsOf returns the short remarks on a cell.
func chipsOf(c results.Cell) []chip {
	var out []chip
	add := func(is bool, kind, text, title string) {
		if is {
			out = append(out, chip{kind, text, title})
		}
	}
	add(c.Partial(), "incomplete", fmt.Sprintf("%d/%d", c.N, c.RequestedSeeds), fmt.Sprintf("%d of %d seeds have a value", c.N, c.RequestedSeeds))
	add(c.TunedOnTest && c.State == results.OK, "tuned on test", "† tuned on test", report.TunedOnTestText)
	add(c.Modified > 0 && c.State == results.OK, "modified", "‡ modified sources", report.ModifiedText)
	add(c.Imported > 0, "imported", "imported", fmt.Sprintf("%d of its runs were imported", c.Imported))
	return out
}
