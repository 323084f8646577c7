package report

import (
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"ssdl/harness/sanitize"
)

// writeMarkdown writes grids as pipe tables, which GitHub and most converters read.
func writeMarkdown(w io.Writer, d Document) error { return each(w, d, Grid.markdown) }

// markdown renders the grid.
func (g Grid) markdown() (string, error) {
	var b strings.Builder
	if g.heading() != "" {
		b.WriteString(markdown(g.heading()) + "\n\n")
	}
	if !g.Empty() {
		if err := g.markdownTable(&b); err != nil {
			return "", err
		}
		if len(g.Notes) > 0 {
			b.WriteString("\n")
		}
	}
	for _, n := range g.Notes {
		b.WriteString("- ")
		if n.Mark != "" {
			b.WriteString("<sup>" + n.Mark + "</sup> ")
		}
		b.WriteString(markdown(n.Text) + "\n")
	}
	return b.String(), nil
}

// markdownTable writes the rows, without rules between groups: Markdown has none inside a table.
func (g Grid) markdownTable(b *strings.Builder) error {
	align := make(tw.Alignment, len(g.Align))
	for j := range align {
		align[j] = tw.AlignRight
		if g.Align[j] == 'l' {
			align[j] = tw.AlignLeft
		}
	}
	// By default the writer rewrites heads ("UIUC-SE" becomes "UIUC - SE"), wraps long cells, and measures
	// them by the locale.
	table := tablewriter.NewTable(b,
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
	return table.Render()
}

func (it Item) markdown() string {
	s := markdown(it.Text)
	if it.Bold {
		s = "**" + s + "**"
	}
	if strings.HasPrefix(it.Suffix, " ") {
		s += " " // cleaning removed it
	}
	s += raised.Replace(markdown(it.Suffix))
	if len(it.Marks) > 0 {
		s += " <sup>" + strings.Join(it.Marks, ",") + "</sup>"
	}
	return s
}

// markdownEscapes escapes every character with a meaning inside a line or a table cell.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
)

// markdown cleans text and escapes what has a meaning in Markdown or HTML.
func markdown(s string) string { return markdownEscapes.Replace(sanitize.Line(s)) }
