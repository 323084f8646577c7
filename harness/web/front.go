package web

import (
	"context"
	"fmt"
	"html/template"
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/chart"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/verdict"
)

// frontData is the summary page: how many claims hold, and which; the paper's numbers beside ours; each claim; the
// tables.
type frontData struct {
	Path          string // file of the store
	Own, StandIns tally
	Overview      overview
	Slopes        []slope
	Cards         []card
	NotTested     []card // without a test
	Tables        []tableData
	Others        []studyLink
}

// tally counts the claims on some data sets by decision.
type tally struct {
	verdict.Tally
	Sets  string
	Chart template.HTML
}

// studyLink is a link to a table.
type studyLink struct {
	ID, Title string
	Readings  bool
	Rows      int
	Figures   int
}

func (v view) frontPage(ctx context.Context) (page, error) {
	all, err := v.loadAll(ctx)
	if err != nil {
		return page{}, err
	}
	d := frontData{Path: v.Path}
	var findings []verdict.Finding
	for _, s := range all {
		findings = append(findings, s.verdicts.Claims...)
		if rankOf(s) < len(paper.Tables()) {
			d.Slopes = append(d.Slopes, v.slopes(s)...)
			d.Tables = append(d.Tables, v.tableOf(s))
			continue
		}
		d.Others = append(d.Others, linkTo(s))
	}
	own, standIns := verdict.TallyOf(findings)
	d.Own, d.StandIns = tallyOf(own, findings, false), tallyOf(standIns, findings, true)
	for _, c := range v.cards(all) {
		if len(c.Tests) == 0 {
			d.NotTested = append(d.NotTested, c)
			continue
		}
		d.Cards = append(d.Cards, c)
	}
	d.Overview = overviewOf(d.Cards)
	return page{Title: "What of the paper holds", Section: "/", Template: "front", Data: d}, nil
}

func linkTo(s *study) studyLink {
	title := s.table.Caption
	if s.table.Title != "" && s.table.Title != s.id && rankOf(s) < len(paper.Tables()) {
		title = s.table.Title + ": " + title
	}
	is := studyLink{ID: s.id, Title: title, Rows: len(s.table.Rows()), Figures: len(s.figures)}
	for _, f := range s.figures {
		is.Readings = is.Readings || f.Readings != nil
	}
	return is
}

// tallyOf draws a tally and names its data sets.
func tallyOf(t verdict.Tally, findings []verdict.Finding, standIns bool) tally {
	var sets []string
	for _, f := range findings {
		name := report.ColumnTitle(results.ColumnOf(f.Column))
		if f.StandsFor != "" {
			name = results.ColumnOf(f.Column).Title + " for " + results.ColumnOf(f.StandsFor).Title
			if results.ColumnOf(f.Column).Synthetic {
				name += " (generated data)"
			}
		}
		if (f.StandsFor != "") == standIns && f.Lacks != verdict.LacksColumn && !slices.Contains(sets, name) {
			sets = append(sets, name)
		}
	}
	c := chart.Stack{
		Title: fmt.Sprintf("%d hold, %d fail, %d undecided", t.Holds, t.Fails, t.Undecided),
		Rows:  []chart.StackRow{{Counts: []int{t.Holds, t.Undecided, t.Fails}}},
		Parts: []chart.Part{{Name: fmt.Sprintf("✓ %d hold", t.Holds), Ink: chart.Good}, {Name: fmt.Sprintf("? %d undecided", t.Undecided), Ink: chart.Faint}, {Name: fmt.Sprintf("✗ %d fail", t.Fails), Ink: chart.Bad}},
		Width: 320,
	}
	return tally{t, report.Listed(sets, "and"), drawing(c.Draw())}
}
