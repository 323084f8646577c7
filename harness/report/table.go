package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/job"
	"ssdl/harness/results"
	"ssdl/harness/sanitize"
)

// OfTable is the document of a table of results.
func OfTable(t results.Table) Document {
	return Document{Grids: []Grid{tableGrid(&t)}, Head: tableHead, Lines: tableLines(&t), Value: t}
}

// OfTableInBrief is the document of a table with only the notes that its cells refer to.
func OfTableInBrief(t results.Table) Document {
	d := OfTable(t)
	d.Grids[0].Notes = slices.DeleteFunc(d.Grids[0].Notes, func(n Note) bool { return n.Mark == "" })
	return d
}

func tableGrid(t *results.Table) Grid {
	g := Grid{Title: t.Title, Heading: caption(t), Label: t.Label, Head: []string{t.RowHead}, Align: "l" + strings.Repeat("c", len(t.Columns))}
	for j := range t.Columns {
		g.Head = append(g.Head, columnHead(t, j))
	}
	var notes footnotes
	for _, group := range t.Groups {
		var rows [][]Item
		for _, r := range group.Rows {
			row := []Item{rowTitle(r)}
			row[0].Marks = notes.mark(rowNote(r))
			for j, c := range r.Cells {
				it := cellItem(t.RowMetric(r), c)
				if c.State != results.NoData { // a note on the column says why
					it.Marks = notes.mark(Remarks(c.Remarks, c.State))
				}
				if len(c.RunIDs) > 0 {
					it.Comment = fmt.Sprintf("%s, %s: %s", r.ID, t.Columns[j].ID, strings.Join(c.RunIDs, " "))
				}
				row = append(row, it)
			}
			rows = append(rows, row)
		}
		g.Groups = append(g.Groups, rows)
	}
	g.note(missingData(t)...)
	g.Notes = append(append(g.Notes, notes.notes...), legend(t)...)
	return g
}

// rowNote is the note on a row; may be empty.
func rowNote(r results.Row) string {
	var external string
	switch {
	case r.Program != nil:
		external = fmt.Sprintf("External program: %s.", strings.Join(r.Program, " "))
	case r.Predictions != "":
		external = fmt.Sprintf("Not run here: predictions made elsewhere, %s.", r.Predictions)
	}
	return strings.TrimSpace(r.Note + " " + external)
}

// missingData says why columns have no data.
func missingData(t *results.Table) (lines []string) {
	for j, col := range t.Columns {
		for _, r := range t.Rows() {
			if why := r.Cells[j].NoData; why != "" {
				lines = append(lines, sentence(col.Title+" has no data: "+why))
				break
			}
		}
	}
	return lines
}

// caption is the caption, with a warning about generated data.
func caption(t *results.Table) string {
	if !t.Synthetic() {
		return t.Caption
	}
	return strings.TrimSpace(sentence(t.Caption) + " Columns marked synthetic are results on generated data, not on features of images.")
}

// sentence ends text with a full stop.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// besidePaper reports whether the table has both published and measured columns. Heads of published ones
// then say so.
func besidePaper(t *results.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c results.Column) bool { return c.Published }) && measured(t)
}

// measured reports whether any column is ours.
func measured(t *results.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c results.Column) bool { return !c.Published })
}

// columnHead is the head of column j, with the kind of data.
func columnHead(t *results.Table, j int) string {
	c := t.Columns[j]
	switch {
	case c.Published && besidePaper(t) && j > 0 && t.Columns[j-1].ID == c.ID:
		return "paper"
	case c.Published && besidePaper(t):
		return "paper: " + c.Title
	}
	return ColumnTitle(c)
}

// ColumnTitle is the title of a data set, marked unless it is the paper's.
func ColumnTitle(c results.Column) string {
	switch {
	case c.Synthetic:
		return c.Title + " (synthetic)"
	case len(c.Differences) > 0:
		return c.Title + " (other data)"
	case c.StandsFor != "" && !c.Published:
		return c.Title + " (stand-in)"
	}
	return c.Title
}

// rowTitle is a title such as "SRC (TPAMI, 2009)". In LaTeX it has the citation, as in the paper.
func rowTitle(r results.Row) Item {
	title := r.FullTitle()
	if r.Role == results.Misnamed {
		title += " (not the paper's " + r.ID + ")"
	}
	it := Item{Text: title, LaTeX: latexText(sanitize.Line(title))}
	if r.Bold {
		it.LaTeX = `\textbf{` + it.LaTeX + "}"
	}
	source, cited := r.Venue, latexText(sanitize.Line(r.Venue))
	if key := latexKey(r.Cite); key != "" {
		cited = strings.TrimSpace(cited + ` \cite{` + key + "}")
	}
	if r.Year != 0 {
		year := fmt.Sprintf(", %d", r.Year)
		source, cited = strings.TrimPrefix(source+year, ", "), strings.TrimPrefix(cited+year, ", ")
	}
	if source != "" {
		it.Text += " (" + source + ")"
	}
	if cited != "" {
		it.LaTeX += " (" + cited + ")"
	}
	return it
}

// cellItem is an item such as "93.0 ± 1.1† (6/8)". In LaTeX each mean has its unit, as in the paper.
func cellItem(m results.Metric, c results.Cell) Item {
	if c.State != results.OK {
		return Item{Text: stateText(c.State)}
	}
	mean, sd := shownValue(m, c)
	it := Item{Text: mean, Bold: c.Best, LaTeX: strings.Replace(mean, "-", "$-$", 1)}
	if m.Unit == "%" {
		it.LaTeX += `$\%$`
	}
	if c.Best {
		it.LaTeX = `\textbf{` + it.LaTeX + "}"
	}
	if sd != "" {
		it.Text += " ± " + sd
		it.LaTeX += ` $\pm$ ` + sd
	}
	it.Suffix = signs(c) + seedsSuffix(c)
	return it
}

// seedsSuffix is text such as " (6/8)"; empty unless the cell is incomplete.
func seedsSuffix(c results.Cell) string {
	if !c.Partial() {
		return ""
	}
	return fmt.Sprintf(" (%d/%d)", c.N, c.RequestedSeeds)
}

// legend explains the signs in the table and its columns.
func legend(t *results.Table) []Note {
	var tuned, modified, partial, spread, failed, late, large, best bool
	unranked := map[results.Role]bool{}
	for _, r := range t.Rows() {
		for j, c := range r.Cells {
			tuned = tuned || c.TunedOnTest
			modified = modified || c.State == results.OK && c.Modified > 0
			partial = partial || c.Partial()
			spread = spread || c.State == results.OK && c.N > 1
			failed = failed || c.State == results.Failed
			late = late || c.State == results.Timeout
			large = large || c.State == results.OutOfMemory
			best = best || c.Best && !t.Columns[j].Published
			if c.State == results.OK && !t.Columns[j].Published && !r.Ranked() {
				unranked[r.Role] = true
			}
		}
	}
	var notes []Note
	add := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, Note{Text: fmt.Sprintf(format, args...)})
		}
	}
	if tuned {
		notes = append(notes, Note{Mark: "†", Text: TunedOnTestText})
	}
	if modified {
		notes = append(notes, Note{Mark: "‡", Text: ModifiedText})
	}
	add(spread, "mean ± standard deviation over seeds")
	add(best && t.Losses(), "Best: of the rows with the same loss.")
	add(partial && best, "Incomplete cells (k/n) are not ranked.")
	add(partial && !best, "(k/n): k of n seeds have a value")
	if best && len(unranked) > 0 {
		add(true, "%s are not ranked.", rolesText(unranked))
	}
	add(failed, "ERR: every run failed")
	add(late, "T/O: every run reached its time limit")
	add(large, "OOM: every run was out of memory")
	add(!t.Metric.HigherIsBetter && measured(t), "lower is better")
	for _, c := range t.Columns {
		if len(c.Differences) > 0 {
			add(true, "%s", otherData(c))
		}
		if !c.Published && c.StandsFor != "" {
			kind := ""
			if c.Synthetic {
				kind = "generated data, "
			}
			add(true, "%s: %sstands in for %s, not compared with the paper", c.Title, kind, titleOf(t, c.StandsFor))
		}
	}
	add(t.Synthetic(), "Built-in data is for quick tests: fewer seeds, smaller dictionaries and grids than on real data.")
	if t.Protocol != nil {
		add(true, "%s", ProtocolText(t.Protocol))
	}
	for _, r := range t.Rows() {
		if r.Role == results.Misnamed {
			add(true, "The row %s is %s, not the paper's method of that id: not compared with the paper.", r.ID, job.Compose(r.Pretext, r.Method))
		}
	}
	data := dataVersions(t.Data, func(id string) string { return titleOf(t, id) })
	add(data != "", "%s", data)
	tuning := tuningLine(t)
	add(tuning != "", "%s", tuning)
	if t.Provenance != nil && t.Provenance.Runs > 0 {
		for _, line := range provenanceLines(*t.Provenance) {
			add(true, "%s", line)
		}
	}
	add(t.Metric.Unit != "" && measured(t), "values in %s", t.Metric.Unit)
	return notes
}

// rolesText names the rows that are not ranked.
func rolesText(roles map[results.Role]bool) string {
	var names []string
	for _, r := range []struct {
		role results.Role
		name string
	}{{results.Control, "controls"}, {results.Variant, "variants"}, {results.OtherMethod, "other methods"}, {results.Misnamed, "misnamed rows"}} {
		if roles[r.role] {
			names = append(names, r.name)
		}
	}
	s := Listed(names, "and")
	return strings.ToUpper(s[:1]) + s[1:]
}

// Listed joins words with commas and last ("and" or "or").
func Listed(words []string, last string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}

// tuningLine says in one line how the parameters of the rows were chosen.
func tuningLine(t *results.Table) string {
	rows := map[string][]string{} // ids by selection
	var order []string
	for _, is := range t.Tuning {
		if !slices.Contains(order, is.Selection) {
			order = append(order, is.Selection)
		}
		rows[is.Selection] = append(rows[is.Selection], is.Rows...)
	}
	var parts []string
	for _, selection := range order {
		text := howChosen(selection)
		if len(order) > 1 {
			text += ": " + strings.Join(titlesOf(t, rows[selection]), ", ")
		}
		parts = append(parts, text+".")
	}
	return strings.Join(parts, " ")
}

// titlesOf returns the titles of rows of the spec, in the order of the table.
func titlesOf(t *results.Table, bases []string) (titles []string) {
	for _, r := range t.Rows() {
		if slices.Contains(bases, r.Base) && !slices.Contains(titles, r.Title) {
			titles = append(titles, r.Title)
		}
	}
	return titles
}

// titleOf is the title of a data set, also of one without a column.
func titleOf(t *results.Table, id string) string {
	for _, c := range t.Columns {
		if c.ID == id {
			return c.Title
		}
	}
	return results.ColumnOf(id).Title
}

var tableHead = []string{
	"table", "row", "base", "title", "setting", "role", "metric", "column", "synthetic", "stands_for", "unit", "mean", "sd", "n", "requested_seeds",
	"state", "selection", "candidates", "tuned_on_test", "modified_sources", "imported", "best", "published_column", "published", "runs", "remarks",
}

// tableLines has a line per measured cell, with the published value of the same data set. A table of
// published columns only has a line per published cell. Numbers have all digits.
func tableLines(t *results.Table) [][]string {
	var lines [][]string
	for _, r := range t.Rows() {
		m := t.RowMetric(r)
		for j, c := range t.Columns {
			if c.Published && besidePaper(t) {
				continue
			}
			cell := r.Cells[j]
			f := map[string]string{
				"table": t.ID, "row": r.ID, "base": r.Base, "title": r.FullTitle(), "setting": r.Setting.String(), "role": string(r.Role),
				"metric": m.Name, "column": c.ID, "synthetic": strconv.FormatBool(c.Synthetic), "stands_for": c.StandsFor, "unit": m.Unit,
				"state": string(cell.State), "selection": cell.Selection, "tuned_on_test": strconv.FormatBool(cell.TunedOnTest),
				"modified_sources": strconv.Itoa(cell.Modified), "imported": strconv.Itoa(cell.Imported),
				"best": strconv.FormatBool(cell.Best), "runs": strings.Join(cell.RunIDs, " "), "remarks": Remarks(cell.Remarks, cell.State),
			}
			if cell.State == results.OK && !c.Published {
				f["mean"] = number(&cell.Mean)
				if cell.N > 1 {
					f["sd"] = number(&cell.SD)
				}
			}
			if !c.Published {
				f["n"], f["requested_seeds"], f["candidates"] = strconv.Itoa(cell.N), strconv.Itoa(cell.RequestedSeeds), strconv.Itoa(cell.Candidates)
			}
			k := slices.IndexFunc(t.Columns, func(p results.Column) bool { return p.Published && p.ID == c.PaperSet() })
			if k >= 0 {
				f["published_column"] = t.Columns[k].ID
				if r.Cells[k].State == results.OK {
					f["published"] = number(&r.Cells[k].Mean)
				}
			}
			lines = append(lines, lineOf(tableHead, f))
		}
	}
	return lines
}
