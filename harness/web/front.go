package web

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/chart"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/spec"
	"ssdl/harness/verdict"
)

// frontData is the summary page: how many claims hold, the paper's numbers beside ours, each claim, and the
// tables.
type frontData struct {
	Path          string // file of the store
	Own, StandIns tally
	Slopes        []slope
	Cards         []card
	Tables        []tableData
	Others        []studyLink
}

// tally counts the claims on some data sets by decision.
type tally struct {
	verdict.Tally
	Sets  string
	Chart template.HTML
}

// slope shows the paper's numbers and ours on one data set.
type slope struct {
	Table, Title, Note string
	Chart              template.HTML
}

// card is a sentence of the paper with its findings.
type card struct {
	Quote string
	Where []string
	Tests []claimTest
	Chart template.HTML // the differences
	// Missing names data sets, and rows on them, on which the sentence was not tested.
	Missing []string
}

// cardWidth is the width of charts on cards, which fits a narrow window.
const cardWidth = 296

// claimTest is a finding in words.
type claimTest struct {
	Claim, Data, Spec string
	Kind              string // as in tableSet
	Decision          string
	Quote, Text, Note string
	Path              string        // page that shows it
	Readings          int           // their number, for a claim about readings
	Chart             template.HTML // the readings by decision
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
	d.Cards = v.cards(all)
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

// slopes draws the paper's numbers beside ours for each data set. The paper's own method is emphasised.
func (v view) slopes(s *study) []slope {
	var out []slope
	t := s.table
	for j, col := range t.Columns {
		k := j + 1 // the published column follows ours
		if col.Published || k >= len(t.Columns) || !t.Columns[k].Published {
			continue
		}
		c := chart.Slope{Axis: chart.Axis{Title: report.Quantity(t.Metric)}, Left: "paper", Right: "ours", Width: 252}
		for _, r := range t.Rows() {
			printed, ours := r.Cells[k], r.Cells[j]
			if printed.State != results.OK || ours.State != results.OK {
				continue
			}
			a, b := number(t.Metric, printed.Mean, false), number(t.Metric, ours.Mean, false)
			c.Items = append(c.Items, chart.SlopeItem{
				Name: r.Title, Left: printed.Mean, Right: ours.Mean, LeftText: a, RightText: b, Strong: r.Bold,
				Title: fmt.Sprintf("%s: paper %s, ours %s", r.FullTitle(), a, b), Link: v.href(cellPath(s.id, r.ID, col.ID)),
			})
		}
		if len(c.Items) == 0 {
			continue
		}
		is := slope{Table: s.id, Title: tableTitle(s) + ", " + col.Title}
		if col.StandsFor != "" {
			is.Note = "for " + t.Columns[k].Title
		}
		if !t.Metric.HigherIsBetter {
			is.Note = strings.TrimPrefix(is.Note+"; lower is better", "; ")
		}
		c.Title = fmt.Sprintf("%s of each method on %s, in the paper and here", t.Metric.Title, col.Title)
		is.Chart = drawing(c.Draw())
		out = append(out, is)
	}
	return out
}

// cards groups the findings by the sentence they test, in the paper's order.
func (v view) cards(all []*study) []card {
	var out []card
	for _, c := range paper.Claims() {
		for _, s := range all {
			for _, f := range s.verdicts.Claims {
				if f.Claim != c.ID {
					continue
				}
				i := slices.IndexFunc(out, func(k card) bool { return k.Quote == f.Quote })
				if i < 0 {
					i = len(out)
					out = append(out, card{Quote: f.Quote})
				}
				k := &out[i]
				if !slices.Contains(k.Where, f.Where) {
					k.Where = append(k.Where, f.Where)
				}
				if f.Lacks != "" {
					k.Missing = addOnce(k.Missing, results.ColumnOf(f.Column).Title+": "+report.FindingText(s.table.Metric, f))
					continue
				}
				k.Tests = append(k.Tests, v.claimTest(s, f))
			}
		}
	}
	for i := range out {
		out[i].Chart = v.differences(all, out[i])
	}
	return out
}

// claimTest puts a finding into words; for a claim about readings it draws a bar of them.
func (v view) claimTest(s *study, f verdict.Finding) claimTest {
	col := results.ColumnOf(f.Column)
	is := claimTest{
		Claim: f.Claim, Data: col.Title, Spec: s.id, Kind: kindOfSet(col), Decision: string(f.Decision),
		Quote: f.Quote, Text: report.FindingText(s.table.Metric, f), Note: f.Note, Path: tablePath(s.id),
	}
	if rankOf(s) == len(paper.Tables()) {
		is.Path = figuresPath(s.id)
	}
	if f.Variant {
		is.Kind = strings.TrimPrefix(is.Kind+", variant", ", ")
	}
	n := f.Variants
	if n == nil {
		return is
	}
	is.Path, is.Readings = path("readings", s.id), n.All
	undecided := n.All - n.Holds - n.Fails - n.Missing
	c := chart.Stack{
		Title: fmt.Sprintf("of %d readings %d support the claim, %d contradict it", n.All, n.Holds, n.Fails),
		Rows:  []chart.StackRow{{Counts: []int{n.Holds, undecided, n.Fails}}}, Width: cardWidth,
		Parts: []chart.Part{{Name: fmt.Sprintf("holds in %d", n.Holds), Ink: chart.Good}, {Name: fmt.Sprintf("undecided %d", undecided), Ink: chart.Faint}, {Name: fmt.Sprintf("fails in %d readings", n.Fails), Ink: chart.Bad}},
	}
	is.Chart = drawing(c.Draw())
	return is
}

// differences draws the decisive differences of a card against the claimed number, if they have one unit.
func (v view) differences(all []*study, k card) template.HTML {
	c := chart.Intervals{Title: "decisive differences with their 95 % intervals: " + k.Quote, Width: cardWidth}
	metric := ""
	var bounds []string
	for _, t := range k.Tests {
		i := slices.IndexFunc(all, func(s *study) bool { return s.id == t.Spec })
		s := all[i]
		for _, f := range s.verdicts.Claims {
			if f.Claim != t.Claim || results.ColumnOf(f.Column).Title != t.Data || f.Decisive == nil || f.Variants != nil || f.Lacks != "" {
				continue
			}
			m := s.table.Metric
			if metric != "" && metric != m.Name {
				return ""
			}
			if metric == "" {
				metric = m.Name
				c.Axis.Title = "gain in " + m.Title
				if m.Unit == "%" {
					c.Axis.Title += " (points)"
				}
				if !m.HigherIsBetter {
					c.Axis.Title = "decrease of " + m.Title
				}
			}
			d := f.Contrasts[*f.Decisive]
			row := chart.Row{Name: t.Data + ", " + contrastName(s, d), Value: d.Gain, Low: d.Gain, High: d.Gain, Text: number(m, d.Gain, true), Ink: decisionInk(f.Decision)}
			if d.Interval != nil {
				row.Low, row.High = d.Interval.Low, d.Interval.High
			}
			var text string
			row.Bounds, text = claimed(f)
			bounds = addOnce(bounds, text)
			c.Rows = append(c.Rows, row)
		}
	}
	if len(c.Rows) == 0 {
		return ""
	}
	if len(bounds) == 1 { // one line for all
		for _, b := range c.Rows[0].Bounds {
			c.Lines = append(c.Lines, chart.Reference{Value: b, Ink: chart.Printed})
		}
		c.Lines[0].Text = "claimed: " + bounds[0]
		for i := range c.Rows {
			c.Rows[i].Bounds = nil
		}
	} else {
		c.Notes = []string{"marks: claimed, " + strings.Join(bounds, " and ")}
	}
	return drawing(c.Draw())
}

// contrastName is text such as "ssdl − nrc", without settings.
func contrastName(s *study, d verdict.Contrast) string {
	base := func(id string) string {
		if r, ok := s.table.Row(id); ok {
			return r.Base
		}
		return id
	}
	return base(d.Row.Row) + " − " + base(d.Over.Row)
}

// claimed returns the bounds that a finding claims, and the claim in words.
func claimed(f verdict.Finding) (bounds []float64, text string) {
	switch {
	case f.Kind == paper.Similar || f.Kind == paper.Flat:
		return []float64{-f.Number, f.Number}, "at most ±" + spec.FormatValue(f.Number)
	case f.Number == 0:
		return []float64{0}, "above 0"
	}
	return []float64{f.Number}, "at least " + spec.FormatValue(f.Number)
}

func decisionInk(d verdict.Decision) chart.Ink {
	switch d {
	case verdict.Holds:
		return chart.Good
	case verdict.Fails:
		return chart.Bad
	}
	return chart.Soft
}
