package report

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// escapeSequence is a terminal control sequence with its parameters: CSI (ESC [ or
// U+009B), a string such as OSC up to its end, or ESC and one character.
var escapeSequence = regexp.MustCompile(
	"(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]?" +
		"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)?" +
		"|\x1b[ -/]*[0-~]?")

// Clean makes s safe to print on one line: terminal sequences, control characters and
// marks that change the writing direction are taken out, every run of blanks and line
// ends becomes one blank, and bytes that are no UTF-8 become U+FFFD.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = escapeSequence.ReplaceAllString(s, "")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cleaned returns t with every string cleaned; t itself stays as it is.
func (t Table) cleaned() Table {
	for _, s := range []*string{&t.ID, &t.Title, &t.Caption, &t.Label, &t.RowHead} {
		*s = Clean(*s)
	}
	t.Notes = cleanAll(t.Notes)
	t.Columns = slices.Clone(t.Columns)
	for j := range t.Columns {
		c := &t.Columns[j]
		c.ID, c.Title, c.StandsFor = Clean(c.ID), Clean(c.Title), Clean(c.StandsFor)
	}
	groups := make([]Group, len(t.Groups))
	for g := range groups {
		groups[g].Rows = slices.Clone(t.Groups[g].Rows)
		for i := range groups[g].Rows {
			r := &groups[g].Rows[i]
			for _, s := range []*string{&r.ID, &r.Title, &r.Venue, &r.Cite, &r.Note} {
				*s = Clean(*s)
			}
			r.Cells = slices.Clone(r.Cells)
			for j := range r.Cells {
				r.Cells[j].Detail = Clean(r.Cells[j].Detail)
				r.Cells[j].RunIDs = cleanAll(r.Cells[j].RunIDs)
			}
		}
	}
	t.Groups = groups
	return t
}

func cleanAll(in []string) []string {
	out := slices.Clone(in)
	for i := range out {
		out[i] = Clean(out[i])
	}
	return out
}
