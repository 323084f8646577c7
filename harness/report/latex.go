package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Widths in points of a column and of the text of a two-column IEEE page: 3.5 and 7.16 inches.
const (
	latexColumn = 253
	latexPage   = 517
	// In a grid wider than the page, columns of words wider than latexNarrow become paragraphs.
	latexNarrow = 80
	// latexLines is the number of lines of rows on a page, latexNoteLines the number of lines of notes beside them.
	latexLines     = 42
	latexNoteLines = 9
)

// writeLaTeX writes grids as tables in the form of the paper, which fit a two-column page.
func writeLaTeX(w io.Writer, d Document) error {
	needs := `% needs \usepackage{booktabs,graphicx}` + "\n"
	if _, err := io.WriteString(w, needs); err != nil {
		return err
	}
	return each(w, d, func(g Grid) (string, error) {
		l := g.latexLayout() // of all parts, so that columns are as wide on each page
		var parts []string
		for _, part := range g.pages(l) {
			parts = append(parts, part.latex(l))
		}
		return strings.Join(parts, "\\clearpage\n"), nil // LaTeX holds few floats at a time
	})
}

// pages splits a grid that is too high for a page. The notes are below the last rows, and on further pages.
func (g Grid) pages(l latexLayout) []Grid {
	part := g
	part.Groups, part.Notes = nil, nil
	var parts []Grid
	turn := func() {
		parts = append(parts, part)
		part.Heading, part.Label, part.Groups, part.Notes = strings.TrimSpace(g.Heading+" (continued)"), "", nil, nil
	}
	room := latexLines
	for _, group := range g.Groups {
		part.Groups = append(part.Groups, nil)
		for _, row := range group {
			lines := l.lines(row)
			if lines > room && room < latexLines {
				turn()
				part.Groups, room = [][][]Item{nil}, latexLines
			}
			part.add(row...)
			room -= lines
		}
	}
	room += latexNoteLines
	for _, n := range g.Notes {
		lines := latexHeight(n.Text, noteShare*l.line())
		if lines > room && room < latexLines+latexNoteLines {
			turn()
			room = latexLines + latexNoteLines
		}
		part.Notes = append(part.Notes, n)
		room -= lines
	}
	parts = append(parts, part)
	for i := range parts {
		parts[i].Groups = slices.DeleteFunc(parts[i].Groups, func(group [][]Item) bool { return len(group) == 0 })
	}
	return parts
}

// latexFit scales a box down to the line if it is wider.
const latexFit = `\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{`

// latex renders the grid with booktabs, rules between groups, and the notes below. A grid wider than a
// column spans the page.
func (g Grid) latex(l latexLayout) string {
	environment := "table"
	if l.line() == latexPage {
		environment = "table*"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\\begin{%s}[t]\n", environment)
	if g.Heading != "" {
		fmt.Fprintf(&b, "        \\caption{%s}\n", latexText(g.Heading))
	}
	if label := latexKey(g.Label); label != "" {
		fmt.Fprintf(&b, "        \\label{%s}\n", label)
	}
	b.WriteString("        \\begin{center}\\footnotesize\n")
	if !g.Empty() {
		g.latexRows(&b, l)
	}
	latexNotes(&b, g.Notes)
	fmt.Fprintf(&b, "        \\end{center}\n\\end{%s}\n", environment)
	return b.String()
}

// latexRows writes the head and the rows, scaled down to the line.
func (g Grid) latexRows(b *strings.Builder, l latexLayout) {
	fmt.Fprintf(b, "            %s\\begin{tabular}{%s}\n                \\toprule\n", latexFit, l.columns)
	line := func(entries []string) {
		// \raggedright redefines \\.
		end := ` \\`
		for _, w := range l.paragraph {
			if w > 0 {
				end = ` \tabularnewline`
			}
		}
		b.WriteString("                " + strings.Join(entries, " & ") + end + "\n")
	}
	if !g.headless() {
		heads := make([]string, len(g.Head))
		for j, h := range g.Head {
			heads[j] = `\textbf{` + latexText(h) + "}"
		}
		line(heads)
	}
	for i, rows := range g.Groups {
		if i > 0 || !g.headless() {
			b.WriteString("                \\midrule\n")
		}
		for _, row := range rows {
			entries := make([]string, len(row))
			for j, it := range row {
				if l.paragraph[j] > 0 {
					it.Text = breakable(it.Text, 10)
				}
				entries[j] = it.latex()
				if l.paragraph[j] > 0 {
					entries[j] = `\raggedright ` + entries[j]
				}
			}
			line(entries)
			for _, it := range row {
				if it.Comment != "" {
					fmt.Fprintf(b, "                %% %s\n", it.Comment)
				}
			}
		}
	}
	b.WriteString("                \\bottomrule\n            \\end{tabular}}\n")
}

// latexLayout is the layout of a grid: the argument of tabular, the widths of the columns set as paragraphs
// (0 for others), and the width of the grid without paragraphs, in points.
type latexLayout struct {
	columns   string
	paragraph []float64
	points    float64
}

func (g Grid) latexLayout() latexLayout {
	const between = 12 // points between two columns
	l := latexLayout{paragraph: make([]float64, len(g.Head))}
	widest := make([]float64, len(g.Head))
	for j, h := range g.Head {
		widest[j] = 1.15 * latexWidth(h)
		for _, rows := range g.Groups {
			for _, row := range rows {
				widest[j] = max(widest[j], row[j].latexWidth())
			}
		}
		l.points += widest[j] + between
	}
	room, wanted := float64(latexPage), 0.0
	wraps := func(j int) bool { return l.points > latexPage && g.Align[j] == 'l' && widest[j] > latexNarrow }
	for j := range g.Head {
		if room -= between; wraps(j) {
			wanted += widest[j]
		} else {
			room -= widest[j]
		}
	}
	for j := range g.Head {
		if wraps(j) {
			l.paragraph[j] = max(room*widest[j]/wanted, latexNarrow)
			l.columns += fmt.Sprintf(`p{%.0fpt}`, l.paragraph[j])
		} else {
			l.columns += g.Align[j : j+1]
		}
	}
	return l
}

// lines is the number of lines of a row.
func (l latexLayout) lines(row []Item) int {
	lines := 1
	for j, it := range row {
		if l.paragraph[j] > 0 {
			lines = max(lines, latexHeight(it.Text+it.tail(), l.paragraph[j]))
		}
	}
	return lines
}

// line is the width of the grid with its notes: of a column or the page.
func (l latexLayout) line() float64 {
	if l.points > latexColumn {
		return latexPage
	}
	return latexColumn
}

// latexHeight estimates the lines of text in a paragraph.
func latexHeight(s string, paragraph float64) int {
	lines, at := 1, 0.0
	for word := range strings.FieldsSeq(s) {
		width := latexWidth(word + " ")
		if at > 0 && at+width > paragraph {
			lines, at = lines+1, 0
		}
		for at += width; at > paragraph; at -= paragraph { // a long word is broken
			lines++
		}
	}
	return lines
}

// latexWidth estimates the width of an item in points.
func (it Item) latexWidth() float64 {
	text := it.Text + it.tail() + strings.Repeat("%", strings.Count(it.LaTeX, `\%`))
	if strings.Contains(it.LaTeX, `\cite`) {
		text += " [10]"
	}
	return latexWidth(text)
}

// latexWidth estimates the width of text in points, in the small print of tables.
func latexWidth(s string) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijl.,:;'|!()[] I", r):
			sum += 2.6
		case strings.ContainsRune("tfrs-", r):
			sum += 3.2
		case strings.ContainsRune("mwMW%±−~<>=+&@", r):
			sum += 6.8
		case r >= 'A' && r <= 'Z':
			sum += 5.9
		case r < 0x100:
			sum += 4.3
		default:
			sum += 8 // a mathematical sign, or a code point in brackets
		}
	}
	return sum
}

func (it Item) latex() string {
	s := it.LaTeX
	if s == "" {
		s = latexText(it.Text)
		if it.Bold {
			s = `\textbf{` + s + "}"
		}
	}
	return s + latexText(it.Suffix) + latexMarks(it.Marks)
}

// noteShare is the share of a line that notes take.
const noteShare = 0.95

// latexNotes writes the notes below a table in small print.
func latexNotes(b *strings.Builder, notes []Note) {
	if len(notes) == 0 {
		return
	}
	fmt.Fprintf(b, "\n            \\smallskip\n            \\begin{minipage}{%v\\linewidth}\\footnotesize\\raggedright\n", noteShare)
	for i, n := range notes {
		mark := ""
		if isSign(n.Mark) {
			mark = latexText(n.Mark)
		} else if n.Mark != "" {
			mark = latexMarks([]string{n.Mark})
		}
		end := `\par`
		if i == len(notes)-1 {
			end = ""
		}
		options := strings.Split(breakable(n.Text, 24), "--") // keep LaTeX from making dashes of them
		for k := range options {
			options[k] = latexText(options[k])
		}
		fmt.Fprintf(b, "                %s%s%s\n", mark, strings.Join(options, "-{}-"), end)
	}
	b.WriteString("            \\end{minipage}\n")
}

// breakHere marks where LaTeX may break a word.
const breakHere = '\u200b'

// breakable inserts breakHere after every so many characters of a word.
func breakable(s string, every int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ReplaceAll(s, string(breakHere), "") {
		if n++; r == ' ' {
			n = 0
		} else if n > every {
			b.WriteRune(breakHere)
			n = 1
		}
		b.WriteRune(r)
	}
	return b.String()
}

func latexMarks(marks []string) string {
	if len(marks) == 0 {
		return ""
	}
	return "$^{" + `\mathrm{` + strings.Join(marks, ",") + "}}$"
}

// notKey matches characters not allowed in citation keys and labels.
var notKey = regexp.MustCompile(`[^A-Za-z0-9:_. +/-]`)

func latexKey(s string) string { return strings.TrimSpace(notKey.ReplaceAllString(s, "")) }

// latexSigns maps characters to commands of plain LaTeX. Brackets and stars are braced, since \\ and
// \midrule would take them as arguments.
var latexSigns = map[rune]string{
	'\\': `$\backslash$`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '_': `\_`, '%': `$\%$`,
	'`': `\textasciigrave{}`, '^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `$<$`, '>': `$>$`, '|': `$|$`, '"': `''`,
	'[': `{[}`, ']': `{]}`, '*': `{*}`,
	'±': `$\pm$`, '×': `$\times$`, '÷': `$\div$`, '−': `$-$`, '≤': `$\leq$`, '≥': `$\geq$`, '≈': `$\approx$`, '∞': `$\infty$`,
	breakHere: `\penalty5000 `, '†': `$^{\dagger}$`, '‡': `$^{\ddagger}$`, '·': `$\cdot$`, '°': `$^{\circ}$`, '²': `$^{2}$`, '³': `$^{3}$`, '→': `$\rightarrow$`,
	'–': `--`, '—': `---`, '‘': "`", '’': `'`, '“': "``", '”': `''`, '…': `\ldots{}`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'Δ': `$\Delta$`, 'ε': `$\varepsilon$`,
	'λ': `$\lambda$`, 'Λ': `$\Lambda$`, 'μ': `$\mu$`, 'µ': `$\mu$`, 'ρ': `$\rho$`, 'σ': `$\sigma$`, 'φ': `$\phi$`,
}

// percentage matches "40%", which the paper sets as $40\%$.
var percentage = regexp.MustCompile(`\d+(?:\.\d+)?%`)

// latexText escapes plain text. It keeps ASCII and the letters of Latin-1 that every font encoding has, and
// writes other characters as code points, so that the table compiles.
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
