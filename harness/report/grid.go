package report

import (
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Grid is a table of words.
type Grid struct {
	// Heading stands above the grid, behind Title, if any. LaTeX, which numbers its tables, has no Title,
	// and refers to the grid by Label.
	Title, Heading, Label string
	// Head are the heads of the columns. A list of facts has empty ones.
	Head []string
	// Align has one letter per column: l, r, or c for numbers that LaTeX centres.
	Align string
	// Groups are blocks of rows of items, one per column, with a rule between them.
	Groups [][][]Item
	Notes  []Note
}

// Item is an entry of a Grid.
type Item struct {
	// Text is what the column is aligned by; Suffix follows it.
	Text, Suffix string
	// Bold sets Text in bold; text without bold marks it with a star.
	Bold bool
	// Marks are the marks of the notes that the item refers to.
	Marks []string
	// LaTeX is what LaTeX has in place of Text, if anything, and Comment a comment behind the row there.
	LaTeX, Comment string
}

// Note is a line below a grid. Mark is the letter that items refer to; it is empty for a
// note on the whole grid.
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

// facts is a grid of names and what is to be said of each.
func facts(heading string, lines ...[2]string) Grid {
	g := Grid{Heading: heading, Head: []string{"", ""}, Align: "ll", Groups: [][][]Item{nil}}
	for _, line := range lines {
		g.Groups[0] = append(g.Groups[0], items(line[0], line[1]))
	}
	return g
}

// add puts a row into the last group.
func (g *Grid) add(row ...Item) {
	last := len(g.Groups) - 1
	g.Groups[last] = append(g.Groups[last], row)
}

// note adds a note on the whole grid.
func (g *Grid) note(texts ...string) {
	for _, text := range texts {
		g.Notes = append(g.Notes, Note{Text: text})
	}
}

// heading is the title and the heading.
func (g Grid) heading() string { return strings.TrimPrefix(g.Title+": "+g.Heading, ": ") }

// headless says that no column has a head.
func (g Grid) headless() bool {
	return !slices.ContainsFunc(g.Head, func(h string) bool { return h != "" })
}

// footnotes collects the notes of a grid. Equal texts share a letter.
type footnotes struct {
	notes  []Note
	letter map[string]string
}

// mark returns the letters for the texts that are not empty, in the order in which they
// first come up.
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

// letters is a, b, ... z, aa, ab, ...
func letters(i int) string {
	s := string(rune('a' + i%26))
	if i >= 26 {
		s = letters(i/26-1) + s
	}
	return s
}

// width is the number of terminal cells of s. It does not ask the locale, so that the
// output is the same everywhere.
func width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// pad fills s with blanks up to n terminal cells, on the left unless left-aligned.
func pad(s string, n int, align byte) string {
	blanks := strings.Repeat(" ", max(0, n-width(s)))
	if align == 'l' {
		return s + blanks
	}
	return blanks + s
}

// each writes the grids of a document, with a blank line between them.
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
