package web

import (
	"context"
	"html/template"
	"strconv"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// figuresData is the figures of some specs. Few lists the figures with too few values for a picture.
type figuresData struct {
	Specs []specFigures
	Few   []fewValues
}

// specFigures is the figures of a spec, with the tests of what the paper says about its results.
type specFigures struct {
	Figures  []figureData
	Findings []claimTest
}

// figureData is a figure.
type figureData struct {
	Spec, Title  string
	Notes        []string
	Wide, Narrow template.HTML // for wide and narrow windows
}

// fewValues is a figure that is not drawn: it has only N of All values.
type fewValues struct {
	Path, Title string
	N, All      int
}

// Widths of figures on pages, in pixels.
const (
	wideFigure   = 760
	narrowFigure = 328
)

// figuresPage shows the figures of one spec or of all. Specification curves have their own pages.
func (v view) figuresPage(ctx context.Context, id string) (page, error) {
	var studies []*study
	if id == "" {
		all, err := v.loadAll(ctx)
		if err != nil {
			return page{}, err
		}
		for _, s := range all {
			if rankOf(s) == len(paper.Tables()) { // tables of the paper need no figure
				studies = append(studies, s)
			}
		}
	} else {
		s, _, err := v.study(ctx, id)
		if err != nil {
			return page{}, err
		}
		studies = []*study{s}
	}
	var d figuresData
	for _, s := range studies {
		var is specFigures
		before := len(d.Few)
		for _, f := range s.figures {
			if f.Readings != nil {
				continue
			}
			if n, all := f.Values(); f.TooFew() {
				d.Few = append(d.Few, fewValues{tablePath(s.id), f.Title, n, all})
				continue
			}
			link := func(row string) string { return v.hrefOfCell(s, place{row, f.Column.ID}) }
			is.Figures = append(is.Figures, figureData{
				Spec: s.id, Title: f.Title, Notes: f.Notes(),
				Wide: drawing(f.Drawing(wideFigure, link)), Narrow: drawing(f.Drawing(narrowFigure, link)),
			})
		}
		if is.Findings = v.findings(s); is.Figures != nil || len(d.Few) > before && is.Findings != nil {
			d.Specs = append(d.Specs, is)
		}
	}
	title := "Figures"
	if id != "" {
		title = "Figures of " + id
	}
	return page{Title: title, Section: "/figures", Template: "figures", Data: d}, nil
}

// findings are the tests of what the paper says about a spec.
func (v view) findings(s *study) (tests []claimTest) {
	for _, f := range s.verdicts.Claims {
		if f.Lacks == "" {
			tests = append(tests, v.claimTest(s, f))
		}
	}
	return tests
}

// readingData is the specification curve of a row.
type readingData struct {
	results.Readings
	Spec, Figure, Heading string
	Notes                 []string
	Chart                 template.HTML
	Switches              []switchData
}

// switchData is a switch that filters the readings.
type switchData struct {
	Name, Key string
	Index     int
	Values    []switchValue
}

// switchValue is a value of a switch, with a summary of its readings.
type switchValue struct {
	Text, Median, Ahead string
	N                   int
}

// readingsData is the page of the specification curves of a spec, with its findings.
type readingsData struct {
	Spec, Title string
	Curves      []readingData
	Few         []fewValues
	Findings    []claimTest
}

// readingsPage shows the specification curves if one spec has any, otherwise a list of the specs that do.
func (v view) readingsPage(ctx context.Context) (page, error) {
	all, err := v.loadAll(ctx)
	if err != nil {
		return page{}, err
	}
	var list []studyLink
	for _, s := range all {
		if is := linkTo(s); is.Readings {
			list = append(list, is)
		}
	}
	return page{Title: "Readings", Section: "/readings", Template: "readings", Data: list}, nil
}

func (v view) readingPage(ctx context.Context, id string) (page, error) {
	s, _, err := v.study(ctx, id)
	if err != nil {
		return page{}, err
	}
	d := readingsData{Spec: s.id, Title: s.table.Caption}
	for _, f := range s.figures {
		if f.Readings == nil {
			continue
		}
		if n, all := f.Values(); f.TooFew() {
			d.Few = append(d.Few, fewValues{tablePath(s.id), f.Title, n, all})
			continue
		}
		link := func(row string) string { return v.hrefOfCell(s, place{row, f.Column.ID}) }
		is := readingData{Readings: *f.Readings, Spec: s.id, Figure: f.Name, Heading: f.Title, Notes: f.Notes(), Chart: drawing(f.Drawing(0, link))}
		for i, sw := range f.Readings.Switches {
			k := switchData{Name: strings.TrimPrefix(sw.Name, "pretext."), Key: sw.Name, Index: i}
			for _, x := range sw.Values {
				y := switchValue{Text: sw.Notation().Format(x.Value), N: x.N}
				if x.N > 0 {
					y.Median = number(f.Readings.Metric, x.Median, false)
				}
				if x.Ahead != nil {
					y.Ahead = strconv.Itoa(*x.Ahead)
				}
				k.Values = append(k.Values, y)
			}
			is.Switches = append(is.Switches, k)
		}
		d.Curves = append(d.Curves, is)
	}
	if d.Curves == nil && d.Few == nil {
		return page{}, notFound("%s has no readings", id)
	}
	d.Findings = v.findings(s)
	return page{Title: d.Title, Section: "/readings", Template: "reading", Data: d}, nil
}
