package report

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

func words() Grid {
	return Grid{
		Heading: "Words & 5 %",
		Head:    []string{"Name", "Value", "Why_"}, Align: "lrl",
		Groups: [][][]Item{
			{
				{{Text: `\input{x}`, Marks: []string{"a"}}, {Text: "1.5", Bold: true, Suffix: "†"}, {Text: strings.Repeat("many words ", 12)}},
			},
			{items("[2pt]", "-2", "few"), items("", "", "")},
		},
		Notes: []Note{{"a", "x_y"}, {"†", "why"}, {"", "p < 0.001, ² #1 --option"}},
	}
}

func TestGridLaTeX(t *testing.T) {
	out := render(t, Document{Grids: []Grid{words()}}, "latex")
	for _, want := range []string{
		"% needs \\usepackage{booktabs,graphicx}\n", `\begin{table*}[t]`, `\caption{Words \& 5 $\%$}`, `\begin{tabular}{lrp{`, `\textbf{Why\_} \tabularnewline`,
		`$\backslash$input\{x\}$^{\mathrm{a}}$ & \textbf{1.5}$^{\dagger}$ & \raggedright many words`,
		`{[}2pt{]} & -2 & \raggedright few \tabularnewline`, "$^{\\mathrm{a}}$x\\_y\\par\n", "p $<$ 0.001", "-{}-option",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	narrow := words()
	narrow.Groups = narrow.Groups[1:]
	if l := narrow.latexLayout(); l.columns != "lrl" || l.points > latexColumn {
		t.Errorf("columns %s of a narrow grid of %.0f points, want no paragraphs", l.columns, l.points)
	}
	if n := strings.Count(out, `\midrule`); n != 2 {
		t.Errorf("%d rules, want one before each group", n)
	}
}

// A grid that is too high for a page continues in another table; the notes are below the last.
func TestPages(t *testing.T) {
	g := Grid{Heading: "Long", Label: "l", Head: []string{"a"}, Align: "l", Notes: []Note{{Text: "n"}}}
	rows := 0
	for _, n := range []int{3, latexLines - 3, 2 * latexLines, 1} {
		var group [][]Item
		for range n {
			group = append(group, items(fmt.Sprint(rows)))
			rows++
		}
		g.Groups = append(g.Groups, group)
	}
	if wide := words(); wide.latexLayout().lines(wide.Groups[0][0]) < 2 {
		t.Error("a paragraph takes one line")
	}
	var sizes []int
	next := 0
	for i, p := range g.pages(g.latexLayout()) {
		n := 0
		for _, group := range p.Groups {
			if len(group) == 0 {
				t.Errorf("page %d has an empty group", i)
			}
			for _, row := range group {
				if row[0].Text != fmt.Sprint(next) {
					t.Errorf("row %s comes where %d should", row[0].Text, next)
				}
				next++
				n++
			}
		}
		sizes = append(sizes, n)
		if (p.Label != "") != (i == 0) || (len(p.Notes) > 0) != (n == 1) || (p.Heading == "Long") != (i == 0) {
			t.Errorf("page %d: %q, label %q, notes %v", i, p.Heading, p.Label, p.Notes)
		}
	}
	if want := []int{latexLines, latexLines, latexLines, 1}; !slices.Equal(sizes, want) || next != rows {
		t.Errorf("pages of %v rows, want %v", sizes, want)
	}
}

// Notes that do not fit below the rows continue on further pages.
func TestPagesOfNotes(t *testing.T) {
	g := Grid{Head: []string{"a"}, Align: "l", Groups: [][][]Item{nil}}
	for range latexLines {
		g.add(items("x")...)
	}
	for i := range 2 * latexLines {
		g.note(fmt.Sprint(i))
	}
	next := 0
	for i, p := range g.pages(g.latexLayout()) {
		if p.Empty() != (i > 0) || len(p.Notes) == 0 || len(p.Notes) > latexLines+latexNoteLines {
			t.Errorf("page %d has %d groups and %d notes", i, len(p.Groups), len(p.Notes))
		}
		for _, n := range p.Notes {
			if n.Text != fmt.Sprint(next) {
				t.Errorf("note %s comes where %d should", n.Text, next)
			}
			next++
		}
	}
	if next != len(g.Notes) {
		t.Errorf("%d notes of %d", next, len(g.Notes))
	}
}

// collapse drops LaTeX comments, turns every run of blanks and line ends into one blank, and removes
// blanks beside alignment marks.
func collapse(tex string) string {
	var lines []string
	for line := range strings.Lines(tex) {
		if !strings.HasPrefix(strings.TrimSpace(line), "%") {
			lines = append(lines, line)
		}
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

// The paper's values render as the paper's own table, except for the fit to a column.
func TestPublishedIsThePapersTable(t *testing.T) {
	for _, l := range paper.Tables() {
		want, err := os.ReadFile(filepath.Join("..", "..", "experiments", "paper", l.ID+".tex"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.NewReplacer(`\footnotesize`, "", latexFit, "", `\end{tabular}}`, `\end{tabular}`).Replace(render(t, OfTable(published(l)), "latex"))
		if diff := cmp.Diff(collapse(string(want)), collapse(got)); diff != "" {
			t.Errorf("%s is not the paper's (-paper +ours):\n%s", l.ID, diff)
		}
	}
}

func TestLatexText(t *testing.T) {
	for in, want := range map[string]string{
		"40% of":             `$40\%$ of`,
		"100 % x":            `100 $\%$ x`,
		"`make`":             `\textasciigrave{}make\textasciigrave{}`,
		`a\b_c`:              `a$\backslash$b\_c`,
		"[2pt]*":             `{[}2pt{]}{*}`,
		"ü ą":                `ü {[}U+0105{]}`,
		breakable("abcd", 2): `ab\penalty5000 cd`,
	} {
		if got := latexText(in); got != want {
			t.Errorf("latexText(%q) = %q, want %q", in, got, want)
		}
	}
}

// compiled runs pdflatex on a two-column page of IEEE size and returns its log.
func compiled(t *testing.T, body string, files map[string]string) string {
	t.Helper()
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not on PATH: the LaTeX output is not compiled")
	}
	dir := t.TempDir()
	files["page.tex"] = "\\documentclass[10pt,twocolumn]{article}\n\\usepackage{booktabs,graphicx}\n" +
		"\\setlength{\\textwidth}{7.16in}\\setlength{\\columnwidth}{3.5in}\\setlength{\\columnsep}{0.16in}\\setlength{\\textheight}{9.25in}\n" +
		"\\setlength{\\hoffset}{-1in}\\setlength{\\voffset}{-1in}\\setlength{\\headsep}{0pt}\\setlength{\\headheight}{0pt}\n" +
		"\\begin{document}\n" + body + "\\end{document}\n"
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	programs := [][]string{{pdflatex, "-interaction=nonstopmode", "-halt-on-error", "page.tex"}}
	if bibtex, err := exec.LookPath("bibtex"); err == nil && len(files) > 1 {
		programs = append(programs, []string{bibtex, "page"}, programs[0], programs[0])
	}
	log := ""
	for _, p := range programs {
		cmd := exec.CommandContext(t.Context(), p[0], p[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", p[0], err, out)
		}
		log = string(out)
	}
	return log
}

// Tables of every kind fit a two-column page: no box is overfull.
func TestLatexFitsTwoColumns(t *testing.T) {
	body := ""
	for _, l := range paper.Tables() {
		body += render(t, OfTable(published(l)), "latex")
	}
	for _, d := range documents(t) {
		body += render(t, d, "latex") + "\\clearpage\n"
	}
	// A path, a hash and an error longer than a line, in a note and in a cell that wraps.
	long := strings.Repeat("0123456789abcdef", 8)
	tab := example()
	tab.Groups[0].Rows[0].Cells[1].Failure = &results.Failure{Message: "/a/folder/" + long + ".npy: row 12 is zero"}
	body += render(t, OfTable(tab), "latex")
	g := words()
	g.Groups = append(g.Groups, [][]Item{items("x", "1", long+" "+strings.Repeat("word ", 30))})
	for i := range 3 * latexLines { // more than fit on a page
		g.add(items(fmt.Sprint(i), "1", strings.Repeat("many words ", 1+i%30))...)
	}
	body += "\\clearpage\n" + render(t, Document{Grids: []Grid{g}}, "latex") + "\\clearpage\n"
	// More notes than fit below the rows, and cells of words that leave their lines half empty.
	g.Groups = g.Groups[:1]
	for range 20 {
		g.add(items("x", "1", strings.Repeat("name-of-a-parameter=value ", 5))...)
	}
	for range 60 {
		g.note(strings.Repeat("many words ", 20))
	}
	body += render(t, Document{Grids: []Grid{g}}, "latex") + "\\clearpage\n"
	log := compiled(t, body, map[string]string{})
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "Overfull") || strings.Contains(line, "Float too large") {
			t.Error(strings.TrimSpace(line))
		}
	}
}

// Every citation of a table has an entry in the bibliography.
func TestBibliographyCompiles(t *testing.T) {
	if _, err := exec.LookPath("bibtex"); err != nil {
		t.Skip("bibtex is not on PATH: the bibliography is not compiled")
	}
	tab := published(paper.Tables()[0])
	var bib strings.Builder
	if err := Bibliography(&bib, tab); err != nil {
		t.Fatal(err)
	}
	log := compiled(t, render(t, OfTable(tab), "latex")+"\\bibliographystyle{plain}\\bibliography{table}\n", map[string]string{"table.bib": bib.String()})
	if strings.Contains(log, "undefined") || strings.Contains(log, "Citation") {
		t.Errorf("a citation has no entry:\n%s", log)
	}
}

// Every character of the first planes compiles, also at the start of a row, where LaTeX would take a
// bracket or a star as an argument.
func TestEveryCharacterCompiles(t *testing.T) {
	g := Grid{Head: []string{"c", "v"}, Align: "ll", Groups: [][][]Item{nil}}
	var all []string
	for r := rune(1); r < 0x500; r++ {
		all = append(all, string(r)+" "+string(r)+string(r))
		if r < 0x80 {
			g.add(items(string(r), "")...)
		}
	}
	for chunk := range slices.Chunk(all, 300) {
		g.note(strings.Join(chunk, ", "))
	}
	compiled(t, render(t, Document{Grids: []Grid{g}}, "latex"), map[string]string{})
}
