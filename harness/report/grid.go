package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Grid is a table of words, for text and Markdown. Its strings are taken as Clean leaves
// them.
type Grid struct {
	// Heading stands above the grid.
	Heading string
	Head    []string
	// Align has one letter per column: l or r.
	Align string
	// Groups are blocks of rows of items, one per column; a rule parts them in text.
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
}

// Items returns plain items.
func Items(texts ...string) []Item {
	items := make([]Item, len(texts))
	for i, s := range texts {
		items[i].Text = s
	}
	return items
}

// grid lays the table out for text and Markdown.
func (t Table) grid() Grid {
	g := Grid{Heading: t.caption(), Head: []string{t.RowHead}, Align: "l" + strings.Repeat("r", len(t.Columns))}
	if t.Title != "" {
		g.Heading = t.Title + ": " + g.Heading
	}
	for j := range t.Columns {
		g.Head = append(g.Head, t.head(j))
	}
	var notes footnotes
	for _, group := range t.Groups {
		var rows [][]Item
		for _, r := range group.Rows {
			name := r.Title
			if s := r.source(); s != "" {
				name += " (" + s + ")"
			}
			row := []Item{{Text: name, Marks: notes.mark(r.Note)}}
			for _, c := range r.Cells {
				row = append(row, t.item(c, notes.mark(c.explain())))
			}
			rows = append(rows, row)
		}
		g.Groups = append(g.Groups, rows)
	}
	g.Notes = append(notes.notes, t.legend()...)
	if t.Unit != "" {
		g.Notes = append(g.Notes, Note{Text: "values in " + t.Unit})
	}
	return g
}

func (t Table) item(c Cell, marks []string) Item {
	if c.State != OK {
		return Item{Text: c.State.word(), Marks: marks}
	}
	mean, sd := t.value(c)
	it := Item{Text: mean, Bold: c.Best, Marks: marks}
	if sd != "" {
		it.Text += " ± " + sd
	}
	if c.Dagger {
		it.Suffix = "†"
	}
	if s := c.seeds(); s != "" {
		it.Suffix += " " + s
	}
	return it
}

// width is the number of terminal cells of s. It does not ask the locale, so that the
// output is the same everywhere.
func width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// pad fills s with blanks up to n terminal cells, on the left if right-aligned.
func pad(s string, n int, align byte) string {
	blanks := strings.Repeat(" ", max(0, n-width(s)))
	if align == 'r' {
		return blanks + s
	}
	return s + blanks
}

// Text writes the grid for a terminal. Suffixes have room of their own, so that numbers
// stay aligned.
func (g Grid) Text(w io.Writer) error {
	cols := len(g.Head)
	text, tail, full := make([]int, cols), make([]int, cols), make([]int, cols)
	starred := false
	for _, rows := range g.Groups {
		for _, row := range rows {
			for j, it := range row {
				if g.Align[j] == 'l' {
					full[j] = max(full[j], width(it.Text+it.tail()))
				} else {
					text[j] = max(text[j], width(it.Text))
					tail[j] = max(tail[j], width(it.tail()))
				}
				starred = starred || it.Bold
			}
		}
	}
	for j, h := range g.Head {
		full[j] = max(full[j], width(h), text[j]+tail[j])
	}
	var b strings.Builder
	line := func(entries []string) {
		b.WriteString(strings.TrimRight(strings.Join(entries, "  "), " ") + "\n")
	}
	total := 2 * (cols - 1)
	for _, n := range full {
		total += n
	}
	rule := strings.Repeat("-", total) + "\n"

	if g.Heading != "" {
		b.WriteString(g.Heading + "\n\n")
	}
	entries := make([]string, cols)
	for j, h := range g.Head {
		entries[j] = pad(h, full[j], g.Align[j])
	}
	line(entries)
	for _, rows := range g.Groups {
		b.WriteString(rule)
		for _, row := range rows {
			for j, it := range row {
				entry := pad(it.Text, text[j], 'r') + pad(it.tail(), tail[j], 'l')
				entries[j] = pad(entry, full[j], g.Align[j])
			}
			line(entries)
		}
	}
	b.WriteString(rule)
	if starred {
		b.WriteString("* best of the column\n")
	}
	for _, n := range g.Notes {
		switch {
		case n.Mark == "":
			b.WriteString(n.Text + "\n")
		case n.Mark == "†":
			b.WriteString("† " + n.Text + "\n")
		default:
			b.WriteString("[" + n.Mark + "] " + n.Text + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tail is what follows an item's text on the terminal.
func (it Item) tail() string {
	s := ""
	if it.Bold {
		s = "*"
	}
	s += it.Suffix
	if len(it.Marks) > 0 {
		s += " [" + strings.Join(it.Marks, ",") + "]"
	}
	return s
}

// Markdown writes the grid as a Markdown table. Its blocks of rows are not parted:
// Markdown has no rule inside a table.
func (g Grid) Markdown(w io.Writer) error {
	if g.Heading != "" {
		if _, err := fmt.Fprintf(w, "%s\n\n", markdown(g.Heading)); err != nil {
			return err
		}
	}
	align := make(tw.Alignment, len(g.Align))
	for j := range align {
		align[j] = tw.AlignLeft
		if g.Align[j] == 'r' {
			align[j] = tw.AlignRight
		}
	}
	// Without these the writer rewrites heads ("UIUC-SE" becomes "UIUC - SE"), wraps long
	// cells and measures them by the locale.
	table := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithAlignment(align),
	)
	head := make([]string, len(g.Head))
	for j, h := range g.Head {
		head[j] = markdown(h)
	}
	table.Header(head)
	for _, rows := range g.Groups {
		for _, row := range rows {
			line := make([]string, len(row))
			for j, it := range row {
				line[j] = it.markdown()
			}
			if err := table.Append(line); err != nil {
				return err
			}
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	if len(g.Notes) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n")
	for _, n := range g.Notes {
		b.WriteString("- ")
		if n.Mark != "" {
			b.WriteString("<sup>" + n.Mark + "</sup> ")
		}
		b.WriteString(markdown(n.Text) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (it Item) markdown() string {
	s := markdown(it.Text)
	if it.Bold {
		s = "**" + s + "**"
	}
	s += strings.ReplaceAll(markdown(it.Suffix), "†", "<sup>†</sup>")
	if len(it.Marks) > 0 {
		s += " <sup>" + strings.Join(it.Marks, ",") + "</sup>"
	}
	return s
}

// markdownEscapes takes from every character its meaning inside a line or a table cell.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "\r\n", " ", "\n", " ", "\r", " ",
)

func markdown(s string) string { return markdownEscapes.Replace(s) }
