package web

import (
	"context"
	"html/template"
	"strconv"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// figuresData are the figures of some specs. Few names those with too few values for a picture.
type figuresData struct {
	Specs []specFigures
	Few   []fewValues
}

// specFigures are the figures of a spec, with what the paper says of its results.
type specFigures struct {
	Figures  []figureData
	Findings []claimTest
}

// figureData is a picture.
type figureData struct {
	Spec, Title  string
	Notes        []string
	Wide, Narrow template.HTML // for broad and for narrow windows
}

// fewValues is a figure that is not drawn: N of All values are there.
type fewValues struct {
	Path, Title string
	N, All      int
}

// Widths of figures on pages, in pixels.
const (
	wideFigure   = 760
	narrowFigure = 328
)

// figuresPage shows all figures, or those of a spec; specification curves have pages of their own.
func (v view) figuresPage(ctx context.Context, id string) (page, error) {
	var studies []*study
	if id == "" {
		all, err := v.loadAll(ctx)
		if err != nil {
			return page{}, err
		}
		for _, s := range all {
			if rankOf(s) == len(paper.Tables()) { // a table of the paper needs no picture beside it
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

// findings are the tests of what the paper says about the results of a spec.
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

// switchData is a choice that filters the readings.
type switchData struct {
	Name, Key string
	Index     int
	Values    []switchValue
}

// switchValue is one of its values, with what its readings come to.
type switchValue struct {
	Text, Median, Ahead string
	N                   int
}

// readingsData are the curves of a spec, with the findings over them.
type readingsData struct {
	Spec, Title string
	Curves      []readingData
	Few         []fewValues
	Findings    []claimTest
}

// readingsPage shows the curve of the only spec that has one, or the list of those that do.
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
