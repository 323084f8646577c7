package web

import (
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
	Set               string // its kind, as in tableSet
	Variant           bool   // tests a variant
	Kind              string // Set and Variant in words
	Decision          string
	Remark            string // on the decision
	Quote, Text, Note string
	Path              string        // page that shows it
	Readings          int           // their number, for a claim about readings
	Chart             template.HTML // the readings by decision
}

// overview has the decision on each claim for each data set.
type overview struct {
	Sets []overviewSet
	Rows []overviewRow
}

// overviewSet is a data set with its kind, as in tableSet.
type overviewSet struct{ Title, Kind string }

// overviewRow is a claim with its tests, by data set.
type overviewRow struct {
	Quote string
	Tests [][]claimTest
}

// overviewOf makes the overview of cards. It omits tests of variants, as tallies do, and claims without other tests.
func overviewOf(cards []card) overview {
	var out overview
	for _, c := range cards {
		for _, t := range c.Tests {
			if is := (overviewSet{t.Data, t.Set}); !t.Variant && !slices.Contains(out.Sets, is) {
				out.Sets = append(out.Sets, is)
			}
		}
	}
	for _, c := range cards {
		row := overviewRow{Quote: c.Quote, Tests: make([][]claimTest, len(out.Sets))}
		any := false
		for _, t := range c.Tests {
			if !t.Variant {
				k := slices.Index(out.Sets, overviewSet{t.Data, t.Set})
				row.Tests[k], any = append(row.Tests[k], t), true
			}
		}
		if any {
			out.Rows = append(out.Rows, row)
		}
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
		Claim: f.Claim, Data: col.Title, Spec: s.id, Set: kindOfSet(col), Variant: f.Variant, Decision: string(f.Decision), Remark: report.DecisionRemark(f),
		Quote: f.Quote, Text: report.FindingText(s.table.Metric, f), Note: f.Note, Path: tablePath(s.id),
	}
	if rankOf(s) == len(paper.Tables()) {
		is.Path = figuresPath(s.id)
	}
	if is.Kind = is.Set; f.Variant {
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
		Parts: []chart.Part{{Name: fmt.Sprintf("holds in %d", n.Holds), Ink: chart.Good}, {Name: fmt.Sprintf("undecided %d", undecided), Ink: chart.Faint}, {Name: fmt.Sprintf("fails in %d", n.Fails), Ink: chart.Bad}},
	}
	if n.Missing > 0 {
		c.Rows[0].Counts = append(c.Rows[0].Counts, n.Missing)
		c.Parts = append(c.Parts, chart.Part{Name: fmt.Sprintf("not run %d", n.Missing), Ink: chart.Band})
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
