package report

import (
	"fmt"
	"io"
	"strings"
)

// Characters of a LaTeX table: where a line is wider than latexWide, columns of words that
// are wider than latexNarrow are set as paragraphs and share what the others leave.
const (
	latexNarrow = 20
	latexWide   = 95
)

// LaTeX writes the grid as a table that needs booktabs alone, with rules between the
// groups of rows and the notes below.
func (g Grid) LaTeX(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\\begin{table}[t]\n")
	if g.Heading != "" {
		fmt.Fprintf(&b, "        \\caption{%s}\n", latexText(g.Heading))
	}
	columns, wraps := g.latexColumns()
	fmt.Fprintf(&b, "        \\begin{center}\\footnotesize\n            \\begin{tabular}{%s}\n                \\toprule\n", columns)
	heads := make([]string, len(g.Head))
	for j, h := range g.Head {
		heads[j] = `\textbf{` + latexText(h) + "}"
	}
	latexLine(&b, heads)
	for _, rows := range g.Groups {
		b.WriteString("                \\midrule\n")
		for _, row := range rows {
			line := make([]string, len(row))
			for j, it := range row {
				line[j] = it.latex()
				if wraps[j] {
					line[j] = `\raggedright ` + line[j]
				}
			}
			// \raggedright takes \\ for itself.
			b.WriteString("                " + strings.Join(line, " & ") + " \\tabularnewline\n")
		}
	}
	b.WriteString("                \\bottomrule\n            \\end{tabular}\n")
	latexNotes(&b, g.Notes)
	b.WriteString("        \\end{center}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// latexColumns is the argument of tabular, and which columns wrap.
func (g Grid) latexColumns() (columns string, wraps []bool) {
	widest, wraps := make([]int, len(g.Head)), make([]bool, len(g.Head))
	total := 2 * len(g.Head) // two characters of room between columns
	for j, h := range g.Head {
		widest[j] = width(h)
		for _, rows := range g.Groups {
			for _, row := range rows {
				widest[j] = max(widest[j], width(row[j].Text+row[j].tail()))
			}
		}
		total += widest[j]
	}
	room, wanted := latexWide, 0
	for j := range g.Head {
		if wraps[j] = total > latexWide && g.Align[j] == 'l' && widest[j] > latexNarrow; wraps[j] {
			wanted += widest[j]
			room -= 2
		} else {
			room -= widest[j] + 2
		}
	}
	for j := range g.Head {
		if wraps[j] {
			share := float64(max(room, latexNarrow)) * float64(widest[j]) / float64(wanted) / latexWide
			columns += fmt.Sprintf(`p{%.2f\linewidth}`, max(share, 0.12))
		} else {
			columns += g.Align[j : j+1]
		}
	}
	return columns, wraps
}

func (it Item) latex() string {
	s := latexText(it.Text)
	if it.Bold {
		s = `\textbf{` + s + "}"
	}
	return s + latexText(it.Suffix) + latexMarks(it.Marks)
}

// latexNotes writes the notes below a table, in small print.
func latexNotes(b *strings.Builder, notes []Note) {
	if len(notes) == 0 {
		return
	}
	b.WriteString("\n            \\smallskip\n            \\begin{minipage}{0.95\\linewidth}\\footnotesize\\raggedright\n")
	for i, n := range notes {
		mark := ""
		if n.Mark == "†" {
			mark = latexText(n.Mark)
		} else if n.Mark != "" {
			mark = latexMarks([]string{n.Mark})
		}
		end := `\par`
		if i == len(notes)-1 {
			end = ""
		}
		options := strings.Split(n.Text, "--") // not to be taken for dashes
		for k := range options {
			options[k] = latexText(options[k])
		}
		fmt.Fprintf(b, "                %s%s%s\n", mark, strings.Join(options, "-{}-"), end)
	}
	b.WriteString("            \\end{minipage}\n")
}
