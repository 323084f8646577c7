package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestGridHTML(t *testing.T) {
	var b bytes.Buffer
	if err := (Document{Grids: []Grid{words(), {Head: []string{"<script>"}, Align: "l", Groups: [][][]Item{{items("</table><script>alert(1)</script>")}}}}}).Write(&b, "html"); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{
		`<title>Words &amp; 5 %</title>`, `<caption>Words &amp; 5 %</caption>`, `<th scope="col" class="number">Value</th>`,
		`<th scope="row">\input{x} <sup>a</sup></th>`, `<td class="number"><strong>1.5</strong><sup>†</sup></td>`,
		`<li><sup>a</sup> x_y</li>`, `<li><sup>†</sup> why</li>`, `<li>p &lt; 0.001, ² #1 --option</li>`,
		`<th scope="col">&lt;script&gt;</th>`, `<th scope="row">&lt;/table&gt;&lt;script&gt;alert(1)&lt;/script&gt;</th>`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	for what, n := range map[string]int{"<!DOCTYPE html>": 1, "<table>": 2, "<caption>": 1, "<tbody>": 3, "<ul>": 1, "<script": 0} {
		if got := strings.Count(out, what); got != n {
			t.Errorf("%d of %s, want %d", got, what, n)
		}
	}
	wantPlainPage(t, out)
}

// A page marks what Markdown marks: both render the same grid.
func TestHTMLMarksWhatMarkdownMarks(t *testing.T) {
	table := example()
	table.Groups[0].Rows[0].Cells[0].Modified = 1
	md, html := render(t, OfTable(table), "md"), render(t, OfTable(table), "html")
	for what, marks := range map[string][2]string{"best": {"**", "strong>"}, "marks": {"<sup>", "<sup>"}, "state": {"ERR", "ERR"}, "daggers": {"<sup>†</sup>", "<sup>†</sup>"}, "modified": {"<sup>‡</sup>", "<sup>‡</sup>"}} {
		a, b := strings.Count(md, marks[0]), strings.Count(html, marks[1])
		if a == 0 || a != b {
			t.Errorf("%s: %d times in Markdown, %d times in HTML", what, a, b)
		}
	}
}
