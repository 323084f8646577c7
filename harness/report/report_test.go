package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ssdl/experiments/paper"
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

// seeds gives values to the seeds from 1000 on.
func seeds(values ...float64) map[uint64]float64 {
	m := map[uint64]float64{}
	for i, v := range values {
		m[1000+uint64(i)] = v
	}
	return m
}

// nasty is text that has a meaning in every format.
const nasty = "\x1b[31mR&D_50% | {x}^2 ~ $5 #1 \\cmd <b> `c` \"q\" *s*\t[1]\nline\u202etwo é ±β 中"

// example has every state, daggers, missing seeds, a stand-in, a synthetic set, a tie for
// the best, published columns and characters that every format must escape.
func example() Table {
	ok := func(declared int, values ...float64) Cell { return NewCell(seeds(values...), declared) }
	with := func(c Cell, change func(*Cell)) Cell { change(&c); return c }
	l := paper.Tables()[0]
	t := Table{
		ID: "table1", Title: l.Title, Caption: l.Caption, Label: l.Label, RowHead: l.RowHead, Unit: "%", Decimals: 1,
		Columns: []Column{
			{ID: "stanford40", Title: "Stanford40"},
			{ID: "sports8", Title: "Sports8", StandsFor: "uiuc-se"},
			{ID: "synth8", Title: "Synth8", StandsFor: "uiuc-se", Synthetic: true},
		},
		Groups: []Group{
			{[]Row{
				{ID: "src", Title: "SRC", Venue: "TPAMI", Year: 2009, Cite: "wright2009robust", Cells: []Cell{
					with(ok(3, 66.1, 66.5, 65.9), func(c *Cell) { c.RunIDs = []string{"0a1b", "2c3d", "4e5f"} }),
					ok(3, 91.2, 91.3),
					{State: NotYet, Declared: 3},
				}},
				{ID: "crc", Title: "CRC", Venue: "ICCV", Year: 2011, Cite: "zhang2011sparse", Note: "the ratio rule", Cells: []Cell{
					with(ok(3, 75.91, 75.92, 75.93), func(c *Cell) { c.Dagger = true }),
					{State: Failed, Declared: 3, Detail: "singular matrix in 50% of the folds"},
					{State: Timeout, Declared: 3, Detail: "after 30 min"},
				}},
				{ID: "nrc", Title: "\x1b[1mN&R_C |50%^\\ \n*[1]*", Venue: "P&R", Year: 2019, Cite: "bad}key{", Note: nasty, Cells: []Cell{
					{State: Excluded, Declared: 3, Detail: "the method needs the " + nasty},
					{State: Missing, Declared: 3},
					ok(1, 7),
				}},
				{ID: "[evil", Title: "[2pt] =1+1", Cells: []Cell{{State: NotPrinted}, {State: NotYet, Declared: 3}, {State: Failed, Declared: 3, Detail: "singular matrix in 50% of the folds"}}},
			}},
			{[]Row{
				{ID: "ssdl", Title: "SSDL", Bold: true, Cells: []Cell{ok(3, 75.9, 76.3, 75.6), ok(3, 93.1, 92.8, 93.9), ok(3, 93, 94, 95)}},
				{ID: "ssdl-printed", Title: "SSDL (as printed)", Cells: []Cell{with(ok(3, 80, 81), func(c *Cell) { c.Dagger = true; c.Detail = "seed 1002: cancelled" }), ok(3, -1.5, 2, 0), ok(3, 70, 71, 72)}},
			}},
		},
		Notes: []string{"K = N/2 & 40% of the labels"},
	}
	t.MarkBest()
	return WithPublished(t, l)
}

func render(t *testing.T, tab Table, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, tab, format); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// published is the table of the paper's own values.
func published(l paper.Layout) Table {
	t := Table{
		ID: l.ID + "-published", Title: l.Title, Caption: l.Caption, Label: l.Label, RowHead: l.RowHead,
		Unit: l.Unit, Decimals: l.Decimals, LowerIsBetter: l.LowerIsBetter,
	}
	for _, c := range l.Columns {
		t.Columns = append(t.Columns, Column{ID: c.ID, Title: c.Title, Published: true})
	}
	for _, rows := range l.Groups {
		var g Group
		for _, r := range rows {
			row := Row{ID: r.ID, Title: r.Title, Venue: r.Venue, Cite: r.Cite, Year: r.Year, Bold: r.Bold}
			for _, c := range l.Columns {
				row.Cells = append(row.Cells, publishedCell(r, c.ID))
			}
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			golden(t, "example."+format, render(t, example(), format))
			golden(t, "published2."+format, render(t, published(paper.Tables()[1]), format))
		})
	}
}

// Every measured format must be the same whatever was rendered before, and rendering
// must leave the table alone.
func TestRenderChangesNothing(t *testing.T) {
	tab, same := example(), example()
	for _, format := range Formats() {
		first := render(t, tab, format)
		if second := render(t, tab, format); first != second {
			t.Errorf("%s differs the second time", format)
		}
	}
	if diff := cmp.Diff(same, tab); diff != "" {
		t.Errorf("Render changed its table:\n%s", diff)
	}
}

// collapse drops LaTeX comments and turns every run of blanks and line ends into one
// blank, and none beside a line's alignment marks.
func collapse(tex string) string {
	var lines []string
	for line := range strings.Lines(tex) {
		if !strings.HasPrefix(strings.TrimSpace(line), "%") {
			lines = append(lines, line)
		}
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

func TestPublishedIsThePapersTable(t *testing.T) {
	for _, l := range paper.Tables() {
		want, err := os.ReadFile(filepath.Join("..", "..", "experiments", "paper", l.ID+".tex"))
		if err != nil {
			t.Fatal(err)
		}
		got := render(t, published(l), "tex")
		if diff := cmp.Diff(collapse(string(want)), collapse(got)); diff != "" {
			t.Errorf("%s is not the paper's (-paper +ours):\n%s", l.ID, diff)
		}
	}
}

func TestMarkBest(t *testing.T) {
	cell := func(declared int, values ...float64) Cell { return NewCell(seeds(values...), declared) }
	for _, c := range []struct {
		name  string
		lower bool
		cells []Cell
		want  []bool
	}{
		{"highest", false, []Cell{cell(1, 1), cell(1, 3), cell(1, 2)}, []bool{false, true, false}},
		{"lowest", true, []Cell{cell(1, 1), cell(1, 3), cell(1, 2)}, []bool{true, false, false}},
		{"tie in the digits shown", false, []Cell{cell(1, 75.91), cell(1, 75.94), cell(1, 75.84)}, []bool{true, true, false}},
		{"incomplete never", false, []Cell{cell(2, 9), cell(2, 1, 2)}, []bool{false, true}},
		{"failed never", true, []Cell{{State: Failed}, cell(1, 5)}, []bool{false, true}},
		{"nothing complete", false, []Cell{cell(2, 9), {State: NotYet}}, []bool{false, false}},
	} {
		tab := Table{ID: "t", Decimals: 1, LowerIsBetter: c.lower, Columns: []Column{{ID: "a"}}}
		for i, x := range c.cells {
			x.Best = true // a mark from before must go
			tab.Groups = append(tab.Groups, Group{[]Row{{ID: string(rune('a' + i)), Cells: []Cell{x}}}})
		}
		tab.MarkBest()
		for i, r := range tab.Rows() {
			if r.Cells[0].Best != c.want[i] {
				t.Errorf("%s: row %d is best: %v, want %v", c.name, i, r.Cells[0].Best, c.want[i])
			}
		}
	}
}

// Where a value did not compete with the best of its column, the table says so.
func TestBestSaysWhoCompetes(t *testing.T) {
	cell := func(declared int, values ...float64) Cell { return NewCell(seeds(values...), declared) }
	for _, c := range []struct {
		name  string
		cells []Cell
		aside bool
		want  string
	}{
		{"all complete", []Cell{cell(2, 1, 2), cell(2, 3, 4)}, false, ""},
		{"one value of two beside", []Cell{cell(2, 1, 2), cell(2, 9)}, false, onlyComplete},
		{"none complete, so none best", []Cell{cell(2, 1), cell(2, 9)}, false, ""},
		{"nothing there beside", []Cell{cell(2, 1, 2), cell(2)}, false, ""},
		{"a control beside", []Cell{cell(2, 1, 2), cell(2, 9)}, true, notAside},
		{"a control without a value", []Cell{cell(2, 1, 2), cell(2)}, true, ""},
	} {
		tab := Table{ID: "t", Decimals: 1, Columns: []Column{{ID: "a", Title: "a"}}}
		for i, x := range c.cells {
			tab.Groups = append(tab.Groups, Group{[]Row{{ID: string(rune('a' + i)), Aside: i > 0 && c.aside, Cells: []Cell{x}}}})
		}
		tab.MarkBest()
		tab.MarkBest() // says it once
		if got := strings.Join(tab.Notes, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRowsAsideAreNeverBest(t *testing.T) {
	one := func(v float64) []Cell { return []Cell{NewCell(seeds(v), 1)} }
	tab := Table{ID: "t", Columns: []Column{{ID: "a"}}, Groups: []Group{{[]Row{
		{ID: "paper", Cells: one(70)}, {ID: "control", Aside: true, Cells: one(90)},
	}}}}
	tab.MarkBest()
	if rows := tab.Rows(); !rows[0].Cells[0].Best || rows[1].Cells[0].Best {
		t.Error("a control took the mark of the paper's row")
	}
}

// What the paper prints in bold must be what MarkBest would find.
func TestPublishedBestIsTheBest(t *testing.T) {
	for _, l := range paper.Tables() {
		tab := published(l)
		measured := published(l)
		for j := range measured.Columns {
			measured.Columns[j].Published = false
			eachCell(&measured, j, func(c *Cell) { *c = NewCell(seeds(c.Mean), 1) })
		}
		measured.MarkBest()
		for i, r := range tab.Rows() {
			for j, c := range r.Cells {
				if got := measured.Rows()[i].Cells[j].Best; got != c.Best {
					t.Errorf("%s, row %s, column %d: bold %v in the paper, best %v", l.ID, r.ID, j, c.Best, got)
				}
			}
		}
	}
}

func TestCells(t *testing.T) {
	tab := Table{Unit: "%", Decimals: 1}
	for _, c := range []struct {
		cell Cell
		text string
		tex  string
	}{
		{NewCell(seeds(75.9), 8), "75.9 (1/8)", `75.9$\%$ (1/8)`},
		{NewCell(seeds(75, 77), 2), "76.0 ± 1.4", `76.0$\%$ $\pm$ 1.4`},
		{NewCell(seeds(75, 77), 8), "76.0 ± 1.4 (2/8)", `76.0$\%$ $\pm$ 1.4 (2/8)`},
		{NewCell(nil, 8), "not yet", "not yet"},
		{Cell{State: Failed}, "ERR", "ERR"},
		{Cell{State: Timeout}, "T/O", "T/O"},
		{Cell{State: Missing}, "--", "--"},
		{Cell{State: Excluded, Detail: "why"}, "-- [a]", "--"},
		{Cell{State: OK, Mean: 66, Best: true}, "66.0*", `\textbf{66.0$\%$}`},
		{Cell{State: OK, Mean: 66, Dagger: true}, "66.0†", `66.0$\%$$^{\dagger}$`},
	} {
		var notes footnotes
		it := tab.item(c.cell, notes.mark(c.cell.explain()))
		if got := it.Text + it.tail(); got != c.text {
			t.Errorf("text of %+v is %q, want %q", c.cell, got, c.text)
		}
		if got := tab.latexCell(c.cell); got != c.tex {
			t.Errorf("LaTeX of %+v is %q, want %q", c.cell, got, c.tex)
		}
	}
}

func TestNewCellOrdersSamples(t *testing.T) {
	c := NewCell(map[uint64]float64{1 << 63: 3, 1000: 1, 1003: 2}, 8)
	want := []Sample{{1000, 1}, {1003, 2}, {1 << 63, 3}}
	if diff := cmp.Diff(want, c.Samples); diff != "" || c.Mean != 2 || c.SD != 1 || c.N != 3 {
		t.Errorf("cell %+v\n%s", c, diff)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                           "plain",
		"\x1b[1;31mred\x1b[0m":            "red",
		"\x1b]0;title\x07after":           "after",
		"\x1b]8;;http://x\x1b\\y\x1b(B z": "y z",
		"\u009b31mc1\u009d0;t\u009cz":     "c1z",
		"a\rb\nc\td":                      "a b c d",
		"\x00nul\x7f\b":                   "nul",
		"left\u202eright\u2066x":          "leftrightx",
		"\xff":                            "\uFFFD",
		"  two   blanks ":                 "two blanks",
		"\x1b":                            "",
		"é†±":                             "é†±",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNothingUnsafeIsPrinted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\x1b\u009b[]\x07\n\r\t|=+-@\\%{}_&<")))).Draw(rt, "s")
		tab := Table{
			ID: "t", Title: s, Caption: s, Label: s, RowHead: s, Columns: []Column{{ID: "c", Title: s}}, Notes: []string{s},
			Groups: []Group{{[]Row{{ID: "r" + s, Title: s, Venue: s, Cite: s, Note: s, Cells: []Cell{{State: Failed, Detail: s, RunIDs: []string{s}}}}}}},
		}
		for _, format := range Formats() {
			var b bytes.Buffer
			if err := Render(&b, tab, format); err != nil {
				rt.Fatal(err)
			}
			for _, r := range b.String() {
				if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e) {
					rt.Fatalf("%s has the control character %q:\n%q", format, r, b.String())
				}
			}
			switch format {
			case "md": // head, separator and one row, each with exactly three live bars
				rows := 0
				for line := range strings.Lines(b.String()) {
					if strings.HasPrefix(line, "|") {
						rows++
						live := strings.NewReplacer(`\\`, "", `\|`, "").Replace(line)
						if n := strings.Count(live, "|"); n != 3 {
							rt.Fatalf("%d bars in %q, want 3", n, line)
						}
					}
				}
				if rows != 3 {
					rt.Fatalf("%d lines of a table, want 3:\n%s", rows, b.String())
				}
			case "csv":
				records, err := csv.NewReader(&b).ReadAll()
				if err != nil || len(records) != 2 {
					rt.Fatalf("%d records, error %v", len(records), err)
				}
				for _, field := range records[1] {
					if strings.IndexAny(field, "=+-@\t\r") == 0 {
						rt.Fatalf("field %q begins like a formula", field)
					}
				}
			}
		}
	})
}

func TestCSVCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " ": " ", "plain": "plain", "a=b": "a=b", "-1.5": "-1.5", "+2": "+2", "-1.5e-3": "-1.5e-3",
		"=1+1": "'=1+1", "+cmd": "'+cmd", "-1+1": "'-1+1", "@sum": "'@sum", "\t=1": "'\t=1", " =1": "' =1", "--": "'--", "＝1": "'＝1",
	} {
		if got := csvCell(in); got != want {
			t.Errorf("csvCell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCSVIsTidy(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(render(t, example(), "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tab := example()
	if want := 1 + len(tab.Rows())*3; len(records) != want {
		t.Fatalf("%d lines, want %d: one per measured cell", len(records), want)
	}
	col := map[string]int{}
	for i, name := range records[0] {
		col[name] = i
	}
	first := records[1]
	for name, want := range map[string]string{
		"table": "table1", "row": "src", "column": "stanford40", "n": "3", "declared": "3", "state": "ok",
		"published": "66", "published_column": "stanford40", "runs": "0a1b 2c3d 4e5f", "dagger": "false",
	} {
		if first[col[name]] != want {
			t.Errorf("%s is %q, want %q", name, first[col[name]], want)
		}
	}
	if got := records[2][col["published"]]; got != "88.4" {
		t.Errorf("beside the stand-in of uiuc-se stands %q, want 88.4", got)
	}
}

func TestJSONReadsBack(t *testing.T) {
	var got Table
	if err := json.Unmarshal([]byte(render(t, example(), "json")), &got); err != nil {
		t.Fatal(err)
	}
	want := example().cleaned()
	want.Caption = want.caption()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSyntheticIsSaid(t *testing.T) {
	tab := example()
	for ext, want := range map[string]string{"tex": "table1-synthetic.tex", ".md": "table1-synthetic.md"} {
		if got := FileName(tab, ext); got != want {
			t.Errorf("FileName is %q, want %q", got, want)
		}
	}
	if got := FileName(Table{ID: "../a b"}, "csv"); got != "___a_b.csv" {
		t.Errorf("FileName is %q", got)
	}
	for _, format := range []string{"txt", "md", "tex", "html"} {
		s := render(t, tab, format)
		if !strings.Contains(s, "Synth8 (synthetic)") || !strings.Contains(s, "marked synthetic") {
			t.Errorf("%s does not say that Synth8 is synthetic", format)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Table)
		want   string
	}{
		{"few cells", func(t *Table) { r := &t.Groups[0].Rows[0]; r.Cells = r.Cells[:2] }, "2 cells for"},
		{"NaN", func(t *Table) { t.Groups[0].Rows[0].Cells[0].Mean = math.NaN() }, "row src, column stanford40: mean NaN"},
		{"infinite sample", func(t *Table) { t.Groups[0].Rows[0].Cells[0].Samples[1].Value = math.Inf(1) }, "seed 1001"},
		{"disorder", func(t *Table) { t.Groups[0].Rows[0].Cells[0].Samples[1].Seed = 5 }, "ascending"},
		{"state", func(t *Table) { t.Groups[0].Rows[0].Cells[0].State = "fine" }, `unknown state "fine"`},
		{"rows", func(t *Table) { t.Groups[0].Rows[1].ID = "src" }, `two rows "src"`},
		{"columns", func(t *Table) { t.Columns[2].ID = "stanford40" }, `two columns "stanford40"`},
		{"decimals", func(t *Table) { t.Decimals = -1 }, "-1 decimals"},
		{"unit", func(t *Table) { t.Unit = "ms" }, `unit "ms"`},
		{"no columns", func(t *Table) { t.Columns = nil }, "no columns"},
	} {
		tab := example()
		c.change(&tab)
		err := Render(&bytes.Buffer{}, tab, "txt")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
	if err := Render(&bytes.Buffer{}, example(), "pdf"); err == nil || !strings.Contains(err.Error(), "txt, md, tex, html, csv, json") {
		t.Errorf("error %v, want the list of formats", err)
	}
}

func TestLettersGoOn(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 51: "az", 52: "ba", 702: "aaa"} {
		if got := letters(i); got != want {
			t.Errorf("letters(%d) = %q, want %q", i, got, want)
		}
	}
}

func TestLatexText(t *testing.T) {
	for in, want := range map[string]string{
		"40% of":  `$40\%$ of`,
		"100 % x": `100 $\%$ x`,
		`a\b_c`:   `a$\backslash$b\_c`,
		"[2pt]*":  `{[}2pt{]}{*}`,
		"ü ą":     `ü {[}U+0105{]}`,
	} {
		if got := latexText(in); got != want {
			t.Errorf("latexText(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLatexCompiles(t *testing.T) {
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not on PATH: the LaTeX output is not compiled")
	}
	dir := t.TempDir()
	doc := "\\documentclass[landscape]{article}\n\\usepackage[margin=1cm]{geometry}\n\\usepackage{booktabs}\n\\begin{document}\n{\\small\n" +
		render(t, example(), "tex") + "}\n" + render(t, published(paper.Tables()[0]), "tex") +
		render(t, published(paper.Tables()[1]), "tex") + "\\end{document}\n"
	// Every character of the first planes must compile, also at the start of a row, where
	// LaTeX would take a bracket or a star for an argument.
	every := Table{ID: "every", Columns: []Column{{ID: "c"}}}
	var rows []Row
	for r := rune(1); r < 0x500; r++ {
		every.Notes = append(every.Notes, string(r)+" "+string(r)+string(r))
		if r < 0x80 {
			rows = append(rows, Row{ID: "r" + strconv.Itoa(int(r)), Title: string(r), Cells: []Cell{{State: NotYet}}})
		}
	}
	every.Notes = []string{strings.Join(every.Notes, ", ")}
	for chunk := range slices.Chunk(rows, 16) {
		every.Groups = []Group{{chunk}}
		doc = strings.Replace(doc, "\\end{document}", render(t, every, "tex")+"\\clearpage\\end{document}", 1)
		every.Notes = nil
	}
	if err := os.WriteFile(filepath.Join(dir, "page.tex"), []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pdflatex, "-interaction=nonstopmode", "-halt-on-error", "page.tex")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pdflatex: %v\n%s", err, out)
	}
}
