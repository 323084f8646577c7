package report

import (
	"slices"
	"strings"

	"ssdl/harness/sanitize"
)

// cleaned returns a copy of g with every string cleaned.
func (g Grid) cleaned() Grid {
	g.Title, g.Heading, g.Label, g.Head = sanitize.Line(g.Title), sanitize.Line(g.Heading), sanitize.Line(g.Label), cleanAll(g.Head)
	groups := make([][][]Item, len(g.Groups))
	for i, rows := range g.Groups {
		for _, row := range rows {
			line := slices.Clone(row)
			for j := range line {
				it := &line[j]
				it.Text, it.Suffix, it.Comment = sanitize.Line(it.Text), cleanEnd(it.Suffix), sanitize.Line(it.Comment)
			}
			groups[i] = append(groups[i], line)
		}
	}
	notes := make([]Note, len(g.Notes))
	for i, n := range g.Notes {
		notes[i] = Note{n.Mark, sanitize.Line(n.Text)}
	}
	g.Groups, g.Notes = groups, notes
	return g
}

// cleanEnd cleans text that follows other text: a blank at its beginning stays.
func cleanEnd(s string) string {
	if strings.HasPrefix(s, " ") {
		return " " + sanitize.Line(s)
	}
	return sanitize.Line(s)
}

func cleanAll(in []string) []string {
	out := make([]string, len(in))
	for i := range in {
		out[i] = sanitize.Line(in[i])
	}
	return out
}
