package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

// selectionOf is how the parameters of a cell came about, in the words of a spec. With one setting to
// choose from nothing is tuned: it is the spec that gives it.
func selectionOf(c *run.Cell) string {
	if c.Select == spec.SelectVal && len(c.Candidates) == 1 {
		return spec.SelectFixed
	}
	return c.Select
}

// choiceNotes says of every row of a table how its parameters came about, and how many settings a
// tuned one chose from: by data set, since grids may be shorter where a run takes long.
func choiceNotes(p *run.Plan, t report.Table) []string {
	tuned, given := choices(p, t)
	var out []string
	if len(tuned[spec.SelectVal]) > 0 {
		out = append(out, "Tuned rows have the setting with the best mean over the seeds on a fifth of the labelled training samples, which is held out.")
		for _, name := range p.Spec.Datasets {
			if few, ok := p.Spec.TuneSeeds[name]; ok && chosen(tuned[spec.SelectVal][name]) {
				out = append(out, fmt.Sprintf("On %s settings are chosen on seeds %s alone.", column(name).Title, spec.FormatSeeds(few)))
			}
		}
	}
	out = append(out, triedNotes("Settings to choose from", p.Spec.Datasets, tuned[spec.SelectVal])...)
	out = append(out, triedNotes("Settings to choose from on the test part (†)", p.Spec.Datasets, tuned[spec.SelectTest])...)
	for _, by := range []struct{ how, text string }{
		{spec.SelectPaper, "Values that the paper prints"},
		{spec.SelectFixed, "Values that the spec gives, not tuned and not all of them the paper's"},
	} {
		if rows := given[by.how]; len(rows) > 0 {
			out = append(out, by.text+": "+strings.Join(rows, "; ")+".")
		}
	}
	return out
}

// chosen says that a row had more than one setting to choose from.
func chosen(by tried) bool {
	for n := range by {
		if n > 1 {
			return true
		}
	}
	return false
}

// tried lists the titles of rows by how many settings each chose from.
type tried map[int][]string

// choices sorts the rows of a plan: those that are tuned on any data set by selection and data set,
// the others by what gives their values.
func choices(p *run.Plan, t report.Table) (tuned map[string]map[string]tried, given map[string][]string) {
	tuned, given = map[string]map[string]tried{}, map[string][]string{}
	anywhere := map[*spec.Row]bool{}
	for _, c := range p.Cells {
		anywhere[c.Row] = anywhere[c.Row] || c.Excluded == "" && len(c.Candidates) > 1
	}
	titles := map[string]string{} // as the table has them; a sweep has rows of other ids
	for _, r := range t.Rows() {
		titles[r.ID] = r.Title
	}
	for _, c := range p.Cells {
		if c.Excluded != "" || c.Point > 0 { // every point of a sweep chooses from as many
			continue
		}
		title := titles[c.Row.ID]
		if title == "" {
			title = c.Row.Title()
		}
		if how := selectionOf(c); !anywhere[c.Row] {
			if !slices.Contains(given[how], title) {
				given[how] = append(given[how], title)
			}
			continue
		}
		if tuned[c.Select] == nil {
			tuned[c.Select] = map[string]tried{}
		}
		if tuned[c.Select][c.Dataset] == nil {
			tuned[c.Select][c.Dataset] = tried{}
		}
		n := len(c.Candidates)
		tuned[c.Select][c.Dataset][n] = append(tuned[c.Select][c.Dataset][n], title)
	}
	return tuned, given
}

// String is e.g. "15 for CRC, NRC; 10 for SRC; one alone for D-KSVD".
func (n tried) String() string {
	var parts []string
	for _, many := range slices.Backward(slices.Sorted(maps.Keys(n))) {
		word := fmt.Sprint(many)
		if many == 1 {
			word = "one alone"
		}
		parts = append(parts, word+" for "+strings.Join(n[many], ", "))
	}
	return strings.Join(parts, "; ")
}

// triedNotes has a line for each data set, or one where all have the same.
func triedNotes(what string, datasets []string, on map[string]tried) []string {
	var out []string
	same := true
	for _, name := range datasets {
		if n, ok := on[name]; ok {
			out = append(out, fmt.Sprintf("%s on %s: %s.", what, column(name).Title, n))
			same = same && n.String() == on[datasets[0]].String()
		}
	}
	if same && len(out) > 0 {
		return []string{fmt.Sprintf("%s: %s.", what, on[datasets[0]])}
	}
	return out
}

// dataNote names the data behind each column. A report finds results by the name of their data and
// does not read large ones to see whether those at hand are the same; this is what tells.
func dataNote(p *run.Plan) []string {
	var of []string
	for _, name := range p.Spec.Datasets {
		for _, c := range p.Cells {
			if hash := dataOf(c); c.Dataset == name && hash != "" && p.Mixed(c) == "" {
				of = append(of, fmt.Sprintf("%s %.12s", column(name).Title, hash))
				break
			}
		}
	}
	if len(of) == 0 {
		return nil
	}
	return []string{"Data (first digits of ssdl data hash): " + strings.Join(of, "; ") + "."}
}

// dataOf is the hash of the data that a cell's results are of; empty if it has none.
func dataOf(c *run.Cell) string {
	for _, t := range c.Final {
		if t.Result != nil {
			return t.Record.DatasetHash
		}
	}
	return ""
}
