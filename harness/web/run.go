package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/chart"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/methods/catalog"
)

// runData is the page of a run.
type runData struct {
	results.RunDetails
	Title     string
	Seat      *seatData
	Parts     []partData
	Metrics   []param
	Traces    []template.HTML
	Facts     []param // traces of one value
	Matrix    template.HTML
	Wrong     []classData
	Hashes    []report.Hash
	Machine   []report.Fact
	Modules   []string
	ErrorHead string
	AtomsUsed string
	Remark    string
}

// seatData is the position of a run in a table.
type seatData struct {
	Path, Title, Value string
	Table, TablePath   string
	Previous, Next     *seedLink
	Position           string
}

type seedLink struct {
	Seed uint64
	Path string
}

// classData is the predictions for the samples of a class.
type classData struct {
	Name      string
	Right, Of int
	Mistaken  string
}

func (v view) runPage(ctx context.Context, uid string) (page, error) {
	st, err := v.open(ctx)
	if err != nil {
		return page{}, err
	}
	if st == nil {
		return page{}, notFound("%s does not exist yet", v.Path)
	}
	r, err := results.Describe(ctx, st, uid)
	if errors.Is(err, fs.ErrNotExist) || err == nil && r.UID != uid {
		return page{}, notFound("no run has the id %s", uid)
	}
	if err != nil {
		return page{}, err
	}
	d := runData{RunDetails: r, AtomsUsed: report.AtomsText(r.Dictionary), Hashes: report.Hashes(r), Machine: report.Machine(r)}
	if r.Degenerate {
		d.Remark = report.DegenerateText(1, 1)
	}
	d.ErrorHead, _, _ = strings.Cut(r.Error, "\n")
	s, err := v.seat(ctx, uid)
	if err != nil {
		return page{}, err
	}
	if d.Title = strings.Trim(r.Pretext+" + "+r.Method, " +"); s != nil {
		d.Seat = v.seatOf(s)
		d.Title = d.Seat.Title
	}
	d.Title += fmt.Sprintf(" on %s, seed %d", results.ColumnOf(r.Dataset).Title, r.Seed)
	var notations results.Notations
	if s != nil {
		notations = s.cell.Notations()
	}
	d.Parts = partsOf(part("pretext", r.Pretext, r.PretextParams, notations), part("method", r.Method, r.MethodParams, notations))
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		m := results.MetricOf(name)
		if m.Title == m.Name {
			d.Metrics = append(d.Metrics, param{name, strconv.FormatFloat(r.Metrics[name], 'g', 6, 64)})
			continue
		}
		m.Decimals++
		d.Metrics = append(d.Metrics, param{m.Title, strings.TrimSpace(number(m, m.Shown(r.Metrics[name]), false) + " " + m.Unit)})
	}
	for _, t := range r.Traces {
		if len(t.Values) == 1 {
			d.Facts = append(d.Facts, param{t.Name, strconv.FormatFloat(t.Values[0], 'g', 6, 64)})
			continue
		}
		d.Traces = append(d.Traces, traceChart(t))
	}
	if r.Confusion != nil {
		d.Matrix, d.Wrong = confusionChart(r), classesOf(r)
	}
	if m := r.Environment["modules"]; m != "" {
		d.Modules = strings.Split(m, "; ")
	}
	return page{Title: d.Title, Section: "/tables", Template: "run", Data: d}, nil
}

func (v view) seatOf(s *seat) *seatData {
	e := s.cell
	at := &seatData{
		Path: cellPath(s.study.id, e.Row, e.Dataset), Title: s.study.title(e.Row), Table: tableTitle(s.study), TablePath: tablePath(s.study.id),
		Position: fmt.Sprintf("%d of %d", s.number+1, len(e.Runs)),
	}
	m := e.Metric
	at.Value = strings.TrimSpace(number(m, m.Shown(*e.Runs[s.number].Value), false) + " " + m.Unit)
	link := func(step int) *seedLink {
		for i := s.number + step; i >= 0 && i < len(e.Runs); i += step {
			if r := e.Runs[i]; r.UID != "" {
				return &seedLink{r.Seed, runPath(r.UID)}
			}
		}
		return nil
	}
	at.Previous, at.Next = link(-1), link(1)
	return at
}

// part is a method or a pretext with its parameters, sorted by name, in the notations of the candidates.
func part(what, name string, params catalog.Values, n results.Notations) partData {
	is := partData{What: what, Name: name}
	for _, p := range results.ShownParams(params) {
		is.Params = append(is.Params, param{p.Name, n[report.ParamName(what, p.Name)].Format(p.Value)})
	}
	return is
}

// partsOf removes empty parts.
func partsOf(list ...partData) []partData {
	return slices.DeleteFunc(list, func(p partData) bool { return p.Name == "" })
}

// traceChart draws a trace, on a logarithmic axis if it spans orders of magnitude.
func traceChart(t results.Trace) template.HTML {
	curve := chart.Curve{Name: t.Name}
	low, high := math.Inf(1), math.Inf(-1)
	for i, y := range t.Values {
		curve.Points = append(curve.Points, chart.Sample{X: float64(t.Iterations[i]), Y: y, Low: y, High: y})
		low, high = min(low, y), max(high, y)
	}
	c := chart.Curves{
		Title: t.Name + " over the iterations", Curves: []chart.Curve{curve}, Plain: true, Width: chartWidth, Height: 200,
		X: chart.Axis{Title: "iteration"}, Y: chart.Axis{Title: t.Name, Log: low > 0 && high >= 50*low},
	}
	return drawing(c.Draw())
}

// numbered is the largest number of classes for which a confusion matrix shows counts.
const numbered = 12

// confusionChart draws the confusion matrix. Shades are shares of the true class.
func confusionChart(r results.RunDetails) template.HTML {
	classes := r.ClassResults()
	n := len(classes)
	h := chart.Heat{
		Title: "Confusion matrix: true classes by predicted ones", Width: chartWidth, Cell: 30,
		X: chart.Category{Title: "predicted class"}, Y: chart.Category{Title: "true class"},
	}
	if n > numbered {
		h.Cell = max(9, 300/float64(n))
	}
	panel := chart.Panel{Cells: make([][]chart.HeatCell, n)}
	for y, row := range r.Confusion {
		h.X.Values = append(h.X.Values, classes[y].Class)
		cells := make([]chart.HeatCell, n)
		for x, k := range row {
			cells[x].Shade = math.NaN()
			if k > 0 {
				cells[x].Shade = float64(k) / float64(classes[y].Of)
				if n <= numbered {
					cells[x].Text = strconv.Itoa(k)
				}
			}
		}
		panel.Cells[n-1-y] = cells // the first class is at the top
	}
	h.Y.Values = slices.Clone(h.X.Values)
	slices.Reverse(h.Y.Values)
	h.Panels = []chart.Panel{panel}
	return drawing(h.Draw())
}

func classesOf(r results.RunDetails) []classData {
	var out []classData
	for _, c := range r.ClassResults() {
		out = append(out, classData{c.Class, c.Right, c.Of, report.MistakesText(c)})
	}
	return out
}
