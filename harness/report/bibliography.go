package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// Bibliography writes the BibTeX entries that the rows of a table cite, in the order of the table.
func Bibliography(w io.Writer, t results.Table) error {
	var b strings.Builder
	var done []string
	for _, r := range t.Rows() {
		i := slices.IndexFunc(paper.References(), func(p paper.Reference) bool { return p.Key == r.Cite })
		if i < 0 || slices.Contains(done, r.Cite) {
			continue
		}
		done = append(done, r.Cite)
		p := paper.References()[i]
		kind, field := "inproceedings", "booktitle"
		if p.Journal {
			kind, field = "article", "journal"
		}
		title := strings.ReplaceAll(p.Title, "K-SVD", "{K-SVD}") // braces keep the capitals
		fmt.Fprintf(&b, "@%s{%s,\n  title = {%s},\n  author = {%s},\n  %s = {%s},\n  year = {%d}\n}\n",
			kind, p.Key, title, strings.ReplaceAll(strings.Join(p.Authors, " and "), "ö", `{\"o}`), field, p.In, p.Year)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
