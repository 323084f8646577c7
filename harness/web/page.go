package web

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ssdl/harness/chart"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/sanitize"
	"ssdl/harness/verdict"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assets embed.FS

// page is the content of a page.
type page struct {
	Title   string
	Section string // its entry in the navigation
	// Template is the name of its template, Data the value that it renders.
	Template string
	Data     any
	// Refresh reloads the page after so many seconds; 0 never.
	Refresh int
}

// path joins parts into the address of a page.
func path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

func tablePath(spec string) string             { return path("table", spec) }
func cellPath(spec, row, column string) string { return path("cell", spec, row, column) }
func runPath(uid string) string                { return path("run", uid) }
func figuresPath(spec string) string           { return path("figures", spec) }
func comparePath(spec, column, a, b string) string {
	return path("compare", spec, column, a, b)
}

// view renders pages for a server or for a file.
type view struct {
	*Explorer
	// carried has the addresses in a file; nil for a server, which has all. Links to other addresses become
	// text.
	carried map[string]bool
}

// file reports whether pages are part of one file.
func (v view) file() bool { return v.carried != nil }

// href is the address of a page in links; "" if there is no such page.
func (v view) href(path string) string {
	bare, _, _ := strings.Cut(path, "?")
	switch {
	case path == "":
		return ""
	case !v.file():
		return path
	case v.carried[bare]:
		return "#" + path
	}
	return ""
}

// hrefOfCell is the address of a cell in links; "" if the spec has no such row.
func (v view) hrefOfCell(s *study, at place) string {
	if _, ok := s.explain(at); !ok {
		return ""
	}
	return v.href(cellPath(s.id, at.row, at.column))
}

// link is a link to a page, or plain text if there is no such page.
func (v view) link(path string, text any) template.HTML {
	words := template.HTMLEscapeString(sanitize.Line(fmt.Sprint(text)))
	if html, ok := text.(template.HTML); ok {
		words = string(html)
	}
	to := v.href(path)
	if to == "" {
		return template.HTML(words)
	}
	return template.HTML(`<a href="` + template.HTMLEscapeString(to) + `">` + words + `</a>`)
}

// chartWidth is the width of charts beside text, which fits a narrow window.
const chartWidth = 324

// drawing is a chart in a box that scrolls if it is too narrow.
func drawing(d chart.Drawing) template.HTML {
	return template.HTML(`<div class="chart-box" tabindex="0">` + d.Inline() + `</div>`)
}

// functions are the functions of templates.
func (v view) functions() template.FuncMap {
	return template.FuncMap{
		"href":      v.href,
		"link":      v.link,
		"table":     tablePath,
		"run":       runPath,
		"figures":   figuresPath,
		"line":      sanitize.Line,
		"file":      v.file,
		"seconds":   seconds,
		"bytes":     report.MemoryText,
		"stamp":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"breakable": breakable,
		"set":       func(id string) string { return results.ColumnOf(id).Title },
		"short":     report.Short,
		"mark":      verdictMark,
		"join":      strings.Join,
		"class":     class,
		"tallies":   tallies,
		"mean":      mean,
		"amount":    amount,
		"roles":     roleWord,
		"inc":       func(i int) int { return i + 1 },
		"percent":   func(v float64) float64 { return 100 * v },
		"total":     func(p results.Progress) int { return p.Done + p.Failed + p.Left },
	}
}

// parse reads the templates for a view.
func (v view) parse() (*template.Template, error) {
	return template.New("").Funcs(v.functions()).ParseFS(templateFiles, "templates/*.html")
}

// body renders a page without its frame.
func (v view) body(t *template.Template, p page) (string, error) {
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, p.Template+".html", p.Data); err != nil {
		return "", fmt.Errorf("page %s: %w", p.Title, err)
	}
	return b.String(), nil
}

// frame is what surrounds a page.
type frame struct {
	Title   string
	Nav     []navEntry
	Body    template.HTML
	Refresh int
	File    *fileFrame // nil in a server
}

// navEntry is an entry of the navigation.
type navEntry struct {
	Path, Text string
	Current    bool
}

// navigation lists the sections that exist.
func (v view) navigation(section string) []navEntry {
	var out []navEntry
	for _, e := range []navEntry{
		{"/", "Summary", false},
		{"/tables", "Tables", false},
		{"/readings", "Readings", false},
		{"/figures", "Figures", false},
		{"/data", "Data", false},
		{"/runs", "Runs", false},
		{"/live", "Live", false},
	} {
		if v.href(e.Path) != "" {
			e.Current = e.Path == section
			out = append(out, e)
		}
	}
	return out
}

// breakable is text that a narrow column may break after an underscore or a backslash.
func breakable(s string) template.HTML {
	return template.HTML(strings.NewReplacer("_", "_<wbr>", `\`, `\<wbr>`).Replace(template.HTMLEscapeString(sanitize.Line(s))))
}

// seconds formats a duration in its largest fitting unit.
func seconds(s float64) string {
	switch {
	case s < 10:
		return fmt.Sprintf("%.2f s", s)
	case s < 120:
		return fmt.Sprintf("%.0f s", s)
	case s < 2*3600:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return fmt.Sprintf("%.1f h", s/3600)
}

// number formats a value with the decimals of a metric; signed shows a plus sign.
func number(m results.Metric, v float64, signed bool) string {
	if signed {
		return strings.Replace(report.Signed(v, m.Decimals), "-", "−", 1)
	}
	return strconv.FormatFloat(v, 'f', m.Decimals, 64)
}

// verdictMark is a sign with the meaning of the colour of a verdict.
func verdictMark(v string) string {
	switch v {
	case string(verdict.Holds), string(verdict.Match):
		return "✓"
	case string(verdict.Fails), string(verdict.Differs), string(verdict.Failed):
		return "✗"
	}
	return "?"
}

// page makes the page of an address. The error is errNotFound if there is none.
func (v view) page(ctx context.Context, address string, query url.Values) (page, error) {
	var parts []string
	for p := range strings.SplitSeq(strings.Trim(address, "/"), "/") {
		part, err := url.PathUnescape(p)
		if err != nil {
			return page{}, notFound("%s is no address", address)
		}
		parts = append(parts, part)
	}
	is := func(name string, n int) bool { return parts[0] == name && len(parts) == n }
	switch {
	case is("", 1):
		return v.frontPage(ctx)
	case is("tables", 1):
		return v.tablesPage(ctx)
	case is("table", 2):
		return v.tablePage(ctx, parts[1])
	case is("cell", 4):
		return v.cellPage(ctx, parts[1], place{parts[2], parts[3]})
	case is("run", 2):
		return v.runPage(ctx, parts[1])
	case is("compare", 5):
		return v.comparePage(ctx, parts[1], parts[2], parts[3], parts[4])
	case is("readings", 1):
		return v.readingsPage(ctx)
	case is("readings", 2):
		return v.readingPage(ctx, parts[1])
	case is("figures", 1):
		return v.figuresPage(ctx, "")
	case is("figures", 2):
		return v.figuresPage(ctx, parts[1])
	case is("data", 1):
		return v.dataPage(ctx)
	case is("data", 2):
		return v.dataSetPage(ctx, parts[1])
	case is("runs", 1):
		return v.runsPage(ctx, query)
	case is("live", 1):
		return v.livePage(ctx)
	}
	return page{}, notFound("%s", sanitize.Line(address))
}

// class turns a word into a CSS class.
func class(s string) string { return strings.ReplaceAll(s, " ", "-") }

// tallies makes a list.
func tallies(list ...tally) []tally { return list }

// mean is a cell's value with its deviation, or why it has none.
func mean(c tableCell) template.HTML {
	esc := template.HTMLEscapeString
	if c.State != "" {
		return template.HTML(`<span class="chip ` + class(c.State) + `" title="` + esc(sanitize.Line(c.Why)) + `">` + esc(c.State) + `</span>`)
	}
	html := esc(c.Text)
	if c.SD != "" {
		html += ` <span class="sd">± ` + esc(c.SD) + "</span>"
	}
	return template.HTML(html)
}

// amount is the value of a run in a list.
func amount(r results.ListedRun) string {
	return strings.TrimSpace(number(r.Metric, *r.Value, false) + " " + r.Metric.Unit)
}

// roleWord is the plural of a role.
func roleWord(role string) string {
	if role == string(results.OtherMethod) {
		return "other methods"
	}
	if role == string(results.Misnamed) {
		return "misnamed rows"
	}
	return role + "s"
}

// framed renders a page as a whole document.
func (v view) framed(t *template.Template, p page, file *fileFrame) ([]byte, error) {
	body, err := v.body(t, p)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	f := frame{Title: p.Title, Nav: v.navigation(p.Section), Body: template.HTML(body), Refresh: p.Refresh, File: file}
	if err := t.ExecuteTemplate(&b, "frame.html", f); err != nil {
		return nil, fmt.Errorf("page %s: %w", p.Title, err)
	}
	return b.Bytes(), nil
}
