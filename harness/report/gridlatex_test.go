package report

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func words() Grid {
	return Grid{
		Heading: "Words & 5 %",
		Head:    []string{"Name", "Value", "Why_"}, Align: "lrl",
		Groups: [][][]Item{
			{
				{{Text: `\input{x}`, Marks: []string{"a"}}, {Text: "1.5", Bold: true, Suffix: "†"}, {Text: strings.Repeat("many words ", 12)}},
			},
			{Items("[2pt]", "-2", "few"), Items("", "", "")},
		},
		Notes: []Note{{"a", "x_y"}, {"†", "why"}, {"", "p < 0.001, ² #1 --option"}},
	}
}

func TestGridLaTeX(t *testing.T) {
	var b bytes.Buffer
	if err := words().LaTeX(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`\caption{Words \& 5 $\%$}`, `\begin{tabular}{lrp{0.`, `\textbf{Why\_} \\`, `$\backslash$input\{x\}$^{\mathrm{a}}$ & \textbf{1.5}$^{\dagger}$ & \raggedright many words`,
		`{[}2pt{]} & -2 & \raggedright few \tabularnewline`, "$^{\\mathrm{a}}$x\\_y\\par\n", "p $<$ 0.001", "-{}-option",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	narrow := words()
	narrow.Groups = narrow.Groups[1:]
	if columns, _ := narrow.latexColumns(); columns != "lrl" {
		t.Errorf("columns %s of a narrow grid, want no paragraphs", columns)
	}
	if n := strings.Count(b.String(), `\midrule`); n != 2 {
		t.Errorf("%d rules, want one before each group", n)
	}
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not on PATH: the LaTeX output is not compiled")
	}
	dir := t.TempDir()
	doc := "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n" + b.String() + "\\end{document}\n"
	if err := os.WriteFile(filepath.Join(dir, "page.tex"), []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pdflatex, "-interaction=nonstopmode", "-halt-on-error", "page.tex")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pdflatex: %v\n%s", err, out)
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, []string{"a", "b"}, [][]string{{"=1+1", "-1.5"}, {"x\x1b[2J,\n\"y\"", ""}}); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[1][0] != "'=1+1" || got[1][1] != "-1.5" || got[2][0] != `x, "y"` {
		t.Errorf("%q", got)
	}
}
