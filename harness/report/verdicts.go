package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/results"
	"ssdl/harness/verdict"
)

// OfVerdicts is the document of the verdicts on tables.
func OfVerdicts(list ...verdict.Verdicts) Document {
	d := Document{Head: verdictHead, Value: list}
	for _, v := range list {
		if len(v.Cells)+len(v.Claims) == 0 {
			d.Grids = append(d.Grids, nothingGrid(v))
			continue
		}
		if len(v.Cells) > 0 {
			d.Grids = append(d.Grids, cellGrid(v))
		}
		if len(v.Ranks) > 0 {
			d.Grids = append(d.Grids, rankGrid(v))
		}
		if len(v.Claims) > 0 {
			d.Grids = append(d.Grids, claimGrid(v))
		}
		d.Grids = append(d.Grids, summaryGrid(v))
		d.Lines = append(d.Lines, verdictLines(v)...)
	}
	return d
}

// nothingGrid says that the paper has nothing to compare with.
func nothingGrid(v verdict.Verdicts) Grid {
	g := facts(v.Table + ": nothing to verify")
	g.note("The paper has no table of these results and makes no claim about them.")
	if n := v.Summary.TunedOnTest; n > 0 {
		g.note(Count(n, "cell was", "cells were") + " tuned on the test part (†).")
	}
	return g
}

var tunedNote = Note{Mark: "†", Text: TunedOnTestText}

func cellGrid(v verdict.Verdicts) Grid {
	g := Grid{
		Heading: "Cells of " + v.Table,
		Head:    []string{"Data", "Method", "Paper", "Ours", "95 % interval", "Seeds", "Difference", "Verdict"},
		Align:   "llrrrrrl",
	}
	tuned, modified, standIn, before := false, false, false, ""
	notRun := map[string]int{} // published cells that the table lacks, by column
	digits := v.Metric.Decimals
	for _, c := range v.Cells {
		if c.State == verdict.NoColumn {
			notRun[c.Column]++
			continue
		}
		if len(g.Groups) == 0 || c.Column != before {
			g.Groups = append(g.Groups, nil)
			before = c.Column
		}
		data, printed := c.Column, fmt.Sprintf("%.*f", digits, c.Published)
		if c.StandsFor != "" {
			standIn = true
			data += " for " + c.StandsFor
			printed = "(" + printed + ")"
		}
		ours, interval, seeds, difference := "--", "", "", ""
		if o := c.Ours; o != nil {
			ours = fmt.Sprintf("%.*f", digits, o.Mean)
			tuned, modified = tuned || o.TunedOnTest, modified || o.Modified > 0
			ours += signsOf(o.TunedOnTest, o.Modified)
			seeds = fmt.Sprintf("%d/%d", o.N, o.RequestedSeeds)
			interval = intervalText(o.Interval, digits)
		}
		if c.Difference != nil {
			difference = Signed(*c.Difference, digits)
		}
		text := string(c.Verdict)
		if why := cellRemarks(c); why != "" {
			text += ": " + why
		}
		g.add(items(data, c.Title, printed, ours, interval, seeds, difference, text)...)
	}
	if tuned {
		g.Notes = append(g.Notes, tunedNote)
	}
	if modified {
		g.Notes = append(g.Notes, Note{Mark: "‡", Text: ModifiedText})
	}
	g.note(fmt.Sprintf("Match: the interval lies within %v of the paper's value. Differs: it lies outside. Undecided: all other cells, and all with fewer than three seeds.", v.Tolerance))
	if v.Metric.Unit == "%" {
		g.note("Interval: 95 %, from the spread over seeds and the finite number of tested samples.")
	}
	if standIn {
		g.note("(...): the paper's value for the data set that this one stands in for; not compared")
	}
	for _, c := range v.Cells {
		if n := notRun[c.Column]; n > 0 {
			g.note(fmt.Sprintf("%s: not run (%s)", c.Column, Count(n, "published cell", "published cells")))
			delete(notRun, c.Column)
		}
	}
	return g
}

// cellRemarks says why a cell has no value, or qualifies its value.
func cellRemarks(c verdict.Cell) string {
	text := Remarks(c.Remarks, c.State)
	if text == "" && c.State != results.OK {
		return string(c.State)
	}
	return text
}

// intervalText is text such as "[65.2, 66.9]"; "" for nil.
func intervalText(i *results.Interval, digits int) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf("[%.*f, %.*f]", digits, i.Low, digits, i.High)
}

func rankGrid(v verdict.Verdicts) Grid {
	g := Grid{
		Heading: "Order of the methods in " + v.Table + ", ours against the paper's",
		Head:    []string{"Data", "Methods", "Spearman's rho"}, Align: "lrr", Groups: [][][]Item{nil},
	}
	for _, k := range v.Ranks {
		rho := "--"
		if k.Rho != nil {
			rho = fmt.Sprintf("%.2f", *k.Rho)
		}
		g.add(items(k.Column, fmt.Sprint(k.N), rho)...)
	}
	return g
}

func claimGrid(v verdict.Verdicts) Grid {
	g := Grid{
		Heading: "Claims of the paper about " + v.Table,
		Head:    []string{"Claim", "Number", "Data", "Verdict", "Why"}, Align: "lrlll", Groups: [][][]Item{nil},
	}
	var quoted []string
	for _, f := range v.Claims {
		data, number := f.Column, ""
		if f.StandsFor != "" {
			data += " (stand-in)"
		}
		if f.Variant {
			data += " (variant)"
		}
		if f.Number != 0 {
			number = fmt.Sprint(f.Number)
		}
		g.add(items(f.Claim, number, data, string(f.Decision), FindingText(v.Metric, f))...)
		if !slices.Contains(quoted, f.Claim) {
			quoted = append(quoted, f.Claim)
			text := fmt.Sprintf("%s: %q, %s.", f.Claim, f.Quote, f.Where)
			if f.Note != "" {
				text += " " + f.Note
			}
			g.note(text)
		}
	}
	if slices.ContainsFunc(v.Claims, func(f verdict.Finding) bool { return strings.Contains(FindingText(v.Metric, f), "†") }) {
		g.Notes = append(g.Notes, tunedNote)
	}
	g.note(
		"Differences are paired by seed, with 95 % intervals (Nadeau and Bengio).",
		"A claim holds if every difference supports it. It fails if one contradicts it after Holm correction.",
		"Undecided: the interval covers the number, the difference is not significant after Holm correction, or rows without results could change the verdict.",
	)
	return g
}

func summaryGrid(v verdict.Verdicts) Grid {
	g := Grid{Heading: "Summary of " + v.Table, Head: []string{"What", "Count"}, Align: "lr"}
	s := v.Summary
	count := func(what string, n int) { g.add(items(what, strconv.Itoa(n))...) }
	if len(v.Cells) > 0 {
		g.Groups = append(g.Groups, nil)
		count("cells: match", s.Match)
		count("cells: differs", s.Differs)
		count("cells: undecided", s.Open)
		count("cells: missing", s.Missing)
		count("cells: failed", s.Failed)
		count("cells: stand-in", s.StandIn)
	}
	if len(v.Claims) > 0 {
		g.Groups = append(g.Groups, nil)
		count("claims: holds", s.Holds)
		count("claims: fails", s.Fails)
		count("claims: undecided", s.Undecided)
		count("claims: not tested", s.NotTested)
		count("claims on stand-ins", s.StandInClaims)
		count("claims of variants", s.VariantClaims)
	}
	g.Groups = append(g.Groups, nil)
	count("cells tuned on the test part (†)", s.TunedOnTest)
	return g
}

// SummaryText is a summary of verdicts on one line.
func SummaryText(s verdict.Summary) string {
	line := fmt.Sprintf("cells: %d match, %d differ, %d undecided, %d on stand-ins, %d missing, %d failed; claims: %d hold, %d fail, %d undecided, %d not tested, %d on stand-ins, %d of variants",
		s.Match, s.Differs, s.Open, s.StandIn, s.Missing, s.Failed, s.Holds, s.Fails, s.Undecided, s.NotTested, s.StandInClaims, s.VariantClaims)
	if s.TunedOnTest == 0 {
		return line
	}
	return line + "; " + Count(s.TunedOnTest, "cell was", "cells were") + " tuned on the test part (†)"
}

var verdictHead = []string{
	"table", "kind", "id", "title", "column", "stands_for", "published", "ours", "low", "high", "n", "requested_seeds",
	"tuned_on_test", "difference", "p", "p_holm", "p_wilcoxon", "verdict", "remarks",
}

// verdictLines has a line per cell, rank correlation, claim and contrast, with all digits. Columns that do
// not apply are empty. published is also the number of a claim; ours is also the rank correlation and the
// gain of a contrast.
func verdictLines(v verdict.Verdicts) (lines [][]string) {
	add := func(kind string, f map[string]string) {
		f["table"], f["kind"] = v.Table, kind
		lines = append(lines, lineOf(verdictHead, f))
	}
	for _, c := range v.Cells {
		f := map[string]string{
			"id": c.Row, "title": c.Title, "column": c.Column, "stands_for": c.StandsFor, "published": number(&c.Published),
			"difference": number(c.Difference), "verdict": string(c.Verdict), "remarks": cellRemarks(c),
		}
		if o := c.Ours; o != nil {
			f["ours"], f["n"], f["requested_seeds"], f["tuned_on_test"] = number(&o.Mean), strconv.Itoa(o.N), strconv.Itoa(o.RequestedSeeds), strconv.FormatBool(o.TunedOnTest)
			f["low"], f["high"] = ends(o.Interval)
		}
		add("cell", f)
	}
	for _, k := range v.Ranks {
		add("rank", map[string]string{"id": "spearman", "column": k.Column, "ours": number(k.Rho), "n": strconv.Itoa(k.N)})
	}
	for _, c := range v.Claims {
		add("claim", map[string]string{
			"id": c.Claim, "title": c.Quote, "column": c.Column, "stands_for": c.StandsFor, "published": number(&c.Number),
			"verdict": string(c.Decision), "remarks": FindingText(v.Metric, c),
		})
		for _, k := range c.Contrasts {
			f := map[string]string{
				"id": c.Claim, "title": sideText(k.Row) + " over " + sideText(k.Over), "column": c.Column, "stands_for": c.StandsFor,
				"ours": number(&k.Gain), "n": strconv.Itoa(k.N),
				"p": number(k.P), "p_holm": number(k.Holm), "p_wilcoxon": number(k.Wilcoxon), "verdict": string(k.Decision),
			}
			f["low"], f["high"] = ends(k.Interval)
			add("contrast", f)
		}
	}
	return lines
}

func ends(i *results.Interval) (low, high string) {
	if i == nil {
		return "", ""
	}
	return number(&i.Low), number(&i.High)
}
