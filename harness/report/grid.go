package report

import (
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Grid is a table of text.
type Grid struct {
	// Title and Heading stand above the grid. LaTeX numbers its tables: it omits Title and refers to the
	// grid by Label.
	Title, Heading, Label string
	// Head has the heads of the columns, all empty for a list of facts.
	Head []string
	// Align has a letter per column: l, r, or c (for numbers that LaTeX centres).
	Align string
	// Groups are blocks of rows with a rule between them; a row has one item per column.
	Groups [][][]Item
	Notes  []Note
}

// Item is an entry of a Grid.
type Item struct {
	// Text is aligned in its column; Suffix follows it.
	Text, Suffix string
	// Bold sets Text in bold, or marks it with a star in plain text.
	Bold bool
	// Marks are the marks of the notes that the item refers to.
	Marks []string
	// LaTeX replaces Text in LaTeX; Comment is a LaTeX comment behind the row. Both may be empty.
	LaTeX, Comment string
}

// Note is a line below a grid. Mark is the letter that items refer to; empty for a note on the whole grid.
type Note struct {
	Mark, Text string
}

// items returns plain items.
func items(texts ...string) []Item {
	out := make([]Item, len(texts))
	for i, s := range texts {
		out[i].Text = s
	}
	return out
}

// facts makes a grid of two columns: names and facts.
func facts(heading string, lines ...[2]string) Grid {
	g := Grid{Heading: heading, Head: []string{"", ""}, Align: "ll", Groups: [][][]Item{nil}}
	for _, line := range lines {
		g.Groups[0] = append(g.Groups[0], items(line[0], line[1]))
	}
	return g
}

// add appends a row to the last group.
func (g *Grid) add(row ...Item) {
	last := len(g.Groups) - 1
	g.Groups[last] = append(g.Groups[last], row)
}

// note adds notes on the whole grid.
func (g *Grid) note(texts ...string) {
	for _, text := range texts {
		g.Notes = append(g.Notes, Note{Text: text})
	}
}

// heading joins Title and Heading.
func (g Grid) heading() string { return strings.TrimPrefix(g.Title+": "+g.Heading, ": ") }

// headless reports whether all heads are empty.
func (g Grid) headless() bool {
	return !slices.ContainsFunc(g.Head, func(h string) bool { return h != "" })
}

// footnotes collects notes. Equal texts share a letter.
type footnotes struct {
	notes  []Note
	letter map[string]string
}

// mark returns the letters of the texts that are not empty. Letters count up as new texts appear.
func (f *footnotes) mark(texts ...string) []string {
	var marks []string
	for _, text := range texts {
		if text == "" {
			continue
		}
		if f.letter == nil {
			f.letter = map[string]string{}
		}
		if f.letter[text] == "" {
			f.letter[text] = letters(len(f.letter))
			f.notes = append(f.notes, Note{f.letter[text], text})
		}
		marks = append(marks, f.letter[text])
	}
	return marks
}

// letters returns a, b, ... z, aa, ab, ... for 0, 1, ...
func letters(i int) string {
	s := string(rune('a' + i%26))
	if i >= 26 {
		s = letters(i/26-1) + s
	}
	return s
}

// width is the number of terminal cells of s. It ignores the locale, so that output is the same everywhere.
func width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// pad pads s with blanks to n terminal cells, on the right if align is l, otherwise on the left.
func pad(s string, n int, align byte) string {
	blanks := strings.Repeat(" ", max(0, n-width(s)))
	if align == 'l' {
		return s + blanks
	}
	return blanks + s
}

// each writes the grids of a document with a blank line between them.
func each(w io.Writer, d Document, write func(Grid) (string, error)) error {
	for i, g := range d.Grids {
		s, err := write(g.cleaned())
		if err != nil {
			return err
		}
		if i > 0 {
			s = "\n" + s
		}
		if _, err := io.WriteString(w, s); err != nil {
			return err
		}
	}
	return nil
}
