package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// latex writes the table in the paper's form (booktabs, rules between the groups) with
// the ids of the runs as comments after each row. It writes the lines itself: the
// renderer interface of tablewriter hands out padded physical lines that have lost row,
// group and run ids, all of which are needed here.
func latex(w io.Writer, t Table) error {
	var b strings.Builder
	b.WriteString("\\begin{table}[t]\n")
	fmt.Fprintf(&b, "        \\caption{%s}\n", latexText(t.caption()))
	if label := latexKey(t.Label); label != "" {
		fmt.Fprintf(&b, "        \\label{%s}\n", label)
	}
	b.WriteString("        \\begin{center}\n")
	fmt.Fprintf(&b, "            \\begin{tabular}{l%s}\n", strings.Repeat("c", len(t.Columns)))
	b.WriteString("                \\toprule\n")
	heads := []string{`\textbf{` + latexText(t.RowHead) + "}"}
	for j := range t.Columns {
		heads = append(heads, `\textbf{`+latexText(t.head(j))+"}")
	}
	latexLine(&b, heads)

	var notes footnotes
	for _, g := range t.Groups {
		b.WriteString("                \\midrule\n")
		for _, r := range g.Rows {
			line := []string{latexTitle(r) + latexMarks(notes.mark(r.Note))}
			for _, c := range r.Cells {
				line = append(line, t.latexCell(c)+latexMarks(notes.mark(c.explain())))
			}
			latexLine(&b, line)
			for j, c := range r.Cells {
				if len(c.RunIDs) > 0 {
					fmt.Fprintf(&b, "                %% %s, %s: %s\n", r.ID, t.Columns[j].ID, strings.Join(c.RunIDs, " "))
				}
			}
		}
	}
	b.WriteString("                \\bottomrule\n            \\end{tabular}\n")
	latexNotes(&b, append(notes.notes, t.legend()...))
	b.WriteString("        \\end{center}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func latexLine(b *strings.Builder, entries []string) {
	b.WriteString("                " + strings.Join(entries, " & ") + ` \\` + "\n")
}

// latexTitle is the paper's form of a method: SRC (TPAMI \cite{wright2009robust}, 2009).
func latexTitle(r Row) string {
	title := latexText(r.Title)
	if r.Bold {
		title = `\textbf{` + title + "}"
	}
	source := latexText(r.Venue)
	if key := latexKey(r.Cite); key != "" {
		source = strings.TrimSpace(source + ` \cite{` + key + "}")
	}
	if r.Year != 0 {
		source = strings.TrimPrefix(fmt.Sprintf("%s, %d", source, r.Year), ", ")
	}
	if source == "" {
		return title
	}
	return title + " (" + source + ")"
}

// latexCell is the paper's form of a value, 66.0$\%$, with what ours has beside the mean.
func (t Table) latexCell(c Cell) string {
	if c.State != OK {
		return c.State.word()
	}
	mean, sd := t.value(c)
	s := strings.Replace(mean, "-", "$-$", 1)
	if t.Unit == "%" {
		s += `$\%$`
	}
	if c.Best {
		s = `\textbf{` + s + "}"
	}
	if sd != "" {
		s += ` $\pm$ ` + sd
	}
	if c.Dagger {
		s += latexText("†")
	}
	if n := c.seeds(); n != "" {
		s += " " + n
	}
	return s
}

func latexMarks(marks []string) string {
	if len(marks) == 0 {
		return ""
	}
	return "$^{" + `\mathrm{` + strings.Join(marks, ",") + "}}$"
}

// notKey matches what may not stand in a citation key or a label.
var notKey = regexp.MustCompile(`[^A-Za-z0-9:_. +/-]`)

func latexKey(s string) string { return strings.TrimSpace(notKey.ReplaceAllString(s, "")) }

// latexSigns maps characters to commands that plain LaTeX knows. Brackets and stars are
// braced because \\ and \midrule would take them for arguments.
var latexSigns = map[rune]string{
	'\\': `$\backslash$`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '_': `\_`, '%': `$\%$`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `$<$`, '>': `$>$`, '|': `$|$`, '"': `''`,
	'[': `{[}`, ']': `{]}`, '*': `{*}`,
	'±': `$\pm$`, '×': `$\times$`, '÷': `$\div$`, '−': `$-$`, '≤': `$\leq$`, '≥': `$\geq$`, '≈': `$\approx$`, '∞': `$\infty$`,
	'†': `$^{\dagger}$`, '·': `$\cdot$`, '°': `$^{\circ}$`, '²': `$^{2}$`, '³': `$^{3}$`, '→': `$\rightarrow$`,
	'–': `--`, '—': `---`, '‘': "`", '’': `'`, '“': "``", '”': `''`, '…': `\ldots{}`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'Δ': `$\Delta$`, 'ε': `$\varepsilon$`,
	'λ': `$\lambda$`, 'Λ': `$\Lambda$`, 'μ': `$\mu$`, 'µ': `$\mu$`, 'ρ': `$\rho$`, 'σ': `$\sigma$`, 'φ': `$\phi$`,
}

// percentage matches "40%", which the paper sets as $40\%$.
var percentage = regexp.MustCompile(`\d+(?:\.\d+)?%`)

// latexText escapes plain text. ASCII and the letters of Latin-1 that every font encoding
// has are kept; a character that LaTeX may not know is written as its code point, since a
// table that does not compile helps nobody.
func latexText(s string) string {
	var b strings.Builder
	from := 0
	for _, at := range percentage.FindAllStringIndex(s, -1) {
		escapeLatex(&b, s[from:at[0]])
		b.WriteString("$" + s[at[0]:at[1]-1] + `\%$`)
		from = at[1]
	}
	escapeLatex(&b, s[from:])
	return b.String()
}

func escapeLatex(b *strings.Builder, s string) {
	for _, r := range s {
		sign, ok := latexSigns[r]
		switch {
		case ok:
			b.WriteString(sign)
		case r >= ' ' && r < 0x7f, r >= 'À' && r <= 'ÿ' && !strings.ContainsRune("ÐðÞþ", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(b, "{[}U+%04X{]}", r)
		}
	}
}
