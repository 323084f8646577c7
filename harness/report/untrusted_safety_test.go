package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"ssdl/harness/results"
)

// hostile is text that anybody may put into titles, labels, names and errors. It attacks terminals,
// spreadsheets, LaTeX, Markdown, HTML and SVG.
var hostile = []string{
	"\x1b[2J\x1b]0;owned\x07\x9b31m\u009b1mred", "\u202egnp.exe\u2066", "a\x00b\x7f\b\b\v",
	"=HYPERLINK(\"http://evil\",\"x\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1:A9)", "\t=1", "\r=1", "\n=1", " =1", "＝1",
	`\input{/etc/passwd}\write18{id}\immediate\openout`, `}\end{tabular}\catcode`, "$\\x$ % comment ^^5cinput ~ # & _",
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&gt;", "]]>--><!--", `" onload="x`,
	"[x](javascript:alert(1))", "![x](http://evil/p.png)", "| a | b |\n|---|---|\n# head", "`code` **bold** ~~no~~ <http://evil>",
	"\xff\xfe", "",
}

// hostileTable has a text of hostile in every place. Over all shifts each text is at least once in each
// kind of place.
func hostileTable(shift int) results.Table {
	next := shift
	text := func() string {
		next++
		return hostile[next%len(hostile)]
	}
	t := results.Table{ID: text(), Title: text(), Caption: text(), Label: text(), RowHead: text(), Metric: results.Metric{Name: text(), Title: text(), Decimals: 1}}
	for range 2 {
		t.Columns = append(t.Columns, results.Column{ID: text() + strconv.Itoa(next), Title: text(), StandsFor: text()})
	}
	cells := func() []results.Cell {
		a, b := results.NewCell(map[uint64]float64{1: 3, 2: -1}, 3), results.Cell{State: results.Failed, RequestedSeeds: 2, Remarks: results.Remarks{Failure: &results.Failure{Status: "error", Message: text()}}}
		a.Remarks.NoData, a.RunIDs = text(), []string{text(), text()}
		return []results.Cell{a, b}
	}
	for range 3 {
		t.Groups = append(t.Groups, results.Group{Rows: []results.Row{{
			ID: text() + strconv.Itoa(next), Base: text(), Title: text(), Venue: text(), Year: 2020, Cite: text(), Note: text(), Cells: cells(),
		}}})
	}
	return t
}

func TestUntrustedText(t *testing.T) {
	for shift := range hostile {
		tab := hostileTable(shift)
		for _, format := range FormatNames() {
			out := render(t, OfTable(tab), format)
			if !utf8.ValidString(out) {
				t.Errorf("%s is not UTF-8", format)
			}
			for _, r := range out {
				if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
					t.Errorf("%s has the control character %U", format, r)
				}
			}
			switch format {
			case "csv":
				wantNoFormulas(t, out)
			case "latex":
				wantKnownCommands(t, out)
			case "md":
				wantPlainMarkdown(t, out)
			case "html":
				wantPlainPage(t, out)
			case "json":
				if !json.Valid([]byte(out)) {
					t.Errorf("no JSON:\n%s", out)
				}
			}
		}
	}
}

func wantNoFormulas(t *testing.T, out string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		for _, cell := range line {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
				t.Errorf("a spreadsheet would run the cell %q", cell)
			}
		}
	}
}

var (
	latexCommand = regexp.MustCompile(`\\([A-Za-z]+)`)
	latexComment = regexp.MustCompile(`(?m)^ *%.*$`)
)

func wantKnownCommands(t *testing.T, out string) {
	t.Helper()
	known := strings.Fields(`begin end caption label textbf toprule midrule bottomrule smallskip linewidth footnotesize raggedright par
		cite mathrm penalty clearpage resizebox ifdim width else fi tabularnewline pm times backslash textasciicircum textasciigrave textasciitilde dagger`)
	out = latexComment.ReplaceAllString(out, "") // TeX ignores the rest of the line
	for _, m := range latexCommand.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("LaTeX would run %s", m[0])
		}
	}
	if strings.Contains(out, "^^") {
		t.Error("LaTeX would read ^^ as a character")
	}
	if n := strings.Count(out, `\end{tabular}`); n != 1 {
		t.Errorf("the table ends %d times", n)
	}
}

func wantPlainMarkdown(t *testing.T, out string) {
	t.Helper()
	rest := strings.NewReplacer("<sup>", "", "</sup>", "", `\\`, "", `\[`, "", `\]`, "", "\\`", "", `\*`, "").Replace(out)
	if i := strings.IndexAny(rest, "<>[]`"); i >= 0 {
		t.Errorf("Markdown has a meaning for %.30q", rest[i:])
	}
	if strings.Contains(out, "\n#") {
		t.Errorf("a heading was made:\n%s", out)
	}
}

// wantPlainPage checks that a page is XML of known elements, without attributes that can act.
func wantPlainPage(t *testing.T, out string) {
	t.Helper()
	elements := strings.Fields("html head meta title style body table caption thead tbody tr th td sup strong ul li")
	for dec := xml.NewDecoder(strings.NewReader(out)); ; {
		tok, err := dec.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains(elements, start.Name.Local) {
			t.Errorf("element <%s>", start.Name.Local)
		}
		for _, a := range start.Attr {
			if !slices.Contains([]string{"lang", "charset", "name", "content", "scope", "class"}, a.Name.Local) {
				t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
			}
		}
	}
}

// Pictures are valid XML without scripts and links.
func TestUntrustedTextInFigures(t *testing.T) {
	for shift := range hostile {
		tab := hostileTable(shift)
		for i := range tab.Groups { // the last row is a separate curve
			if i == 2 {
				tab.Groups[i].Rows[0].Setting = results.Setting{{Name: "K", Value: 1}}
			}
		}
		figures := Figures(&tab, func(string, string) (float64, bool) { return 0, false })
		if len(figures) < 2 {
			t.Fatalf("%d figures", len(figures))
		}
		for _, f := range figures {
			var svg bytes.Buffer
			if err := f.Draw(&svg, "svg"); err != nil {
				t.Fatal(err)
			}
			for dec := xml.NewDecoder(&svg); ; {
				tok, err := dec.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("shift %d: no XML: %v", shift, err)
				}
				start, ok := tok.(xml.StartElement)
				if !ok {
					continue
				}
				if !slices.Contains([]string{"svg", "title", "path", "text"}, start.Name.Local) {
					t.Errorf("element <%s>", start.Name.Local)
				}
				for _, a := range start.Attr {
					if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || a.Name.Local == "href" {
						t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
					}
				}
			}
		}
	}
}

func TestMarkdownLines(t *testing.T) {
	if got, want := markdown("<b>[x](y)\x1b[2J\n# z"), `&lt;b&gt;\[x\](y) # z`; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
}
