package report

import (
	"html/template"
	"io"
	"slices"
	"strings"
)

// page is the HTML of a document; html/template escapes by context. Each group of rows is a tbody, with a
// rule before it. Void elements are closed, so that the page is XML too.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"join":  func(marks []string) string { return strings.Join(marks, ",") },
	"raise": raise,
	"title": pageTitle,
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{{title .}}</title>
<style>
body { font-family: sans-serif; line-height: 1.4; margin: 2em; color: #111; background: #fff }
table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; margin-top: 2em }
caption { text-align: left; font-weight: bold; padding-bottom: 0.5em }
th, td { padding: 0.2em 0.8em; text-align: left; vertical-align: top }
tbody { border-top: 1px solid }
tbody th { font-weight: normal }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
sup { line-height: 0 }
ul { list-style: none; padding: 0; font-size: 0.9em }
</style>
</head>
<body>
{{- range $g := .}}
{{- if .Empty}}
{{- with .Caption}}
<h2>{{.}}</h2>
{{- end}}
{{- else}}
<table>
{{- with .Caption}}
<caption>{{.}}</caption>
{{- end}}
<thead>
<tr>
{{- range $j, $h := .Head}}
<th scope="col"{{template "align" $g.Right $j}}>{{$h}}</th>
{{- end}}
</tr>
</thead>
{{- range .Groups}}
<tbody>
{{- range .}}
<tr>
{{- range $j, $item := .}}
{{if eq $j 0}}<th scope="row"{{template "align" $g.Right $j}}>{{template "item" .}}</th>{{else}}<td{{template "align" $g.Right $j}}>{{template "item" .}}</td>{{end}}
{{- end}}
</tr>
{{- end}}
</tbody>
{{- end}}
</table>
{{- end}}
{{- with .Notes}}
<ul>
{{- range .}}
<li>{{with .Mark}}<sup>{{.}}</sup> {{end}}{{.Text}}</li>
{{- end}}
</ul>
{{- end}}
{{- end}}
</body>
</html>
{{define "align"}}{{if .}} class="number"{{end}}{{end}}
{{- define "item"}}{{if .Bold}}<strong>{{.Text}}</strong>{{else}}{{.Text}}{{end}}{{raise .Suffix}}{{with .Marks}} <sup>{{join .}}</sup>{{end}}{{end}}`))

// raised sets signs as superscripts.
var raised = strings.NewReplacer("†", "<sup>†</sup>", "‡", "<sup>‡</sup>")

// raise sets the signs of a suffix as superscripts.
func raise(s string) template.HTML {
	return template.HTML(raised.Replace(template.HTMLEscapeString(s)))
}

// pageTitle is the first heading that is not empty.
func pageTitle(grids []Grid) string {
	for _, g := range grids {
		if h := g.heading(); h != "" {
			return h
		}
	}
	return "Results"
}

// Caption is the caption of the table.
func (g Grid) Caption() string { return g.heading() }

// Empty reports whether the grid has no rows. Formats then write only its heading and notes.
func (g Grid) Empty() bool {
	return !slices.ContainsFunc(g.Groups, func(rows [][]Item) bool { return len(rows) > 0 })
}

// Right reports whether column j is right-aligned.
func (g Grid) Right(j int) bool { return g.Align[j] != 'l' }

// writeHTML writes grids as one self-contained page. tablewriter is not used: it has neither captions nor
// scopes of heads, and escapes the letters of notes with the text.
func writeHTML(w io.Writer, d Document) error {
	grids := make([]Grid, len(d.Grids))
	for i, g := range d.Grids {
		grids[i] = g.cleaned()
	}
	return page.Execute(w, grids)
}
