package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/report"
)

// Formats are the names that Render knows.
func Formats() []string { return []string{"txt", "md", "tex", "csv", "json"} }

// Render writes r in one of the Formats.
func Render(w io.Writer, r Result, format string) error {
	switch format {
	case "json":
		return writeJSON(w, r.cleaned())
	case "csv":
		return CSV(w, r)
	}
	return writeGrids(w, r.cleaned().grids(), format)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeGrids writes grids as text, Markdown or LaTeX, with a blank line between them.
func writeGrids(w io.Writer, grids []report.Grid, format string) error {
	for i, g := range grids {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		var err error
		switch format {
		case "txt":
			err = g.Text(w)
		case "md":
			err = g.Markdown(w)
		case "tex":
			err = g.LaTeX(w)
		default:
			return fmt.Errorf("unknown format %q of a verification; there are %s", format, strings.Join(Formats(), ", "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CSV writes results as one table, a line per cell, rank correlation, claim and contrast,
// with all digits. The columns that do not apply to a line are empty. Of a claim, published
// is its number; of a rank correlation and of a contrast, ours is the coefficient and the
// gain.
func CSV(w io.Writer, results ...Result) error {
	head := []string{
		"table", "kind", "id", "title", "column", "stands_for", "published", "ours", "low", "high", "n", "declared",
		"dagger", "difference", "p", "p_holm", "p_wilcoxon", "verdict", "detail",
	}
	var lines [][]string
	add := func(r Result, kind string, fields map[string]string) {
		fields["table"], fields["kind"] = r.Table, kind
		line := make([]string, len(head))
		for i, name := range head {
			line[i] = fields[name]
		}
		lines = append(lines, line)
	}
	for _, r := range results {
		r = r.cleaned()
		for _, c := range r.Cells {
			f := map[string]string{
				"id": c.Row, "title": c.Title, "column": c.Column, "stands_for": c.StandsFor, "published": number(&c.Published),
				"difference": number(c.Difference), "verdict": string(c.Verdict), "detail": c.Detail,
			}
			if o := c.Ours; o != nil {
				f["ours"], f["n"], f["declared"], f["dagger"] = number(&o.Mean), strconv.Itoa(o.N), strconv.Itoa(o.Declared), strconv.FormatBool(o.Dagger)
				f["low"], f["high"] = o.Interval.numbers()
			}
			add(r, "cell", f)
		}
		for _, k := range r.Ranks {
			add(r, "rank", map[string]string{"id": "spearman", "column": k.Column, "ours": number(k.Rho), "n": strconv.Itoa(k.N)})
		}
		for _, c := range r.Claims {
			f := map[string]string{"id": c.Claim, "title": c.Quote, "column": c.Column, "published": number(&c.Number), "verdict": string(c.Decision), "detail": c.Why}
			if c.StandIn {
				f["stands_for"] = c.standsFor
			}
			add(r, "claim", f)
			for _, t := range c.Contrasts {
				f := map[string]string{
					"id": c.Claim, "title": t.What, "column": c.Column, "stands_for": f["stands_for"], "ours": number(&t.Gain), "n": strconv.Itoa(t.N),
					"p": number(t.P), "p_holm": number(t.Holm), "p_wilcoxon": number(t.Wilcoxon), "verdict": string(t.Decision),
				}
				f["low"], f["high"] = t.Interval.numbers()
				add(r, "contrast", f)
			}
		}
	}
	return report.CSV(w, head, lines)
}

// number writes v with all its digits, and nothing for none.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func (i *Interval) numbers() (low, high string) {
	if i == nil {
		return "", ""
	}
	return number(&i.Low), number(&i.High)
}

// cleaned returns r with the strings that come from results made safe to print.
func (r Result) cleaned() Result {
	r.Table = report.Clean(r.Table)
	r.Cells, r.Ranks, r.Claims = slices.Clone(r.Cells), slices.Clone(r.Ranks), slices.Clone(r.Claims)
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Column, c.Detail = report.Clean(c.Column), report.Clean(c.Detail)
	}
	for i := range r.Ranks {
		r.Ranks[i].Column = report.Clean(r.Ranks[i].Column)
	}
	for i := range r.Claims {
		f := &r.Claims[i]
		f.Column, f.Why = report.Clean(f.Column), report.Clean(f.Why)
		f.Contrasts = slices.Clone(f.Contrasts)
		for j := range f.Contrasts {
			f.Contrasts[j].What = report.Clean(f.Contrasts[j].What)
		}
	}
	return r
}

func (r Result) grids() []report.Grid {
	var out []report.Grid
	if len(r.Cells) > 0 {
		out = append(out, r.cellGrid())
	}
	if len(r.Ranks) > 0 {
		out = append(out, r.rankGrid())
	}
	if len(r.Claims) > 0 {
		out = append(out, r.claimGrid())
	}
	return append(out, r.summaryGrid())
}

var daggerNote = report.Note{Mark: "†", Text: "parameters chosen on the test part (select: test), which flatters the method"}

func (r Result) cellGrid() report.Grid {
	g := report.Grid{
		Heading: "Cells of " + r.Table,
		Head:    []string{"Data", "Method", "Paper", "Ours", "95 % interval", "Seeds", "Difference", "Verdict"},
		Align:   "llrrrrrl",
	}
	dagger, standIn, before := false, false, ""
	for i, c := range r.Cells {
		if i == 0 || c.Column != before {
			g.Groups = append(g.Groups, nil)
			before = c.Column
		}
		data, printed := c.Column, fmt.Sprintf("%.*f", r.decimals, c.Published)
		if c.StandsFor != "" {
			standIn = true
			data += " for " + c.StandsFor
			printed = "(" + printed + ")"
		}
		ours, interval, seeds, difference, verdict := "--", "", "", "", string(c.Verdict)
		if o := c.Ours; o != nil {
			ours = fmt.Sprintf("%.*f", r.decimals, o.Mean)
			if o.Dagger {
				dagger = true
				ours += "†"
			}
			seeds = fmt.Sprintf("%d/%d", o.N, o.Declared)
			if o.Interval != nil {
				interval = fmt.Sprintf("[%.*f, %.*f]", r.decimals, o.Interval.Low, r.decimals, o.Interval.High)
			}
		}
		if c.Difference != nil {
			difference = fmt.Sprintf("%+.*f", r.decimals, *c.Difference)
		}
		if c.Detail != "" {
			verdict += ": " + c.Detail
		}
		last := len(g.Groups) - 1
		g.Groups[last] = append(g.Groups[last], report.Items(data, c.Title, printed, ours, interval, seeds, difference, verdict))
	}
	if dagger {
		g.Notes = append(g.Notes, daggerNote)
	}
	if standIn {
		g.Notes = append(g.Notes, report.Note{Text: "(...): the paper's value for the set that this one stands in for; nothing is compared"})
	}
	return g
}

func (r Result) rankGrid() report.Grid {
	g := report.Grid{
		Heading: "Order of the methods in " + r.Table + ", ours against the paper's",
		Head:    []string{"Data", "Methods", "Spearman's rho"}, Align: "lrr",
		Groups: [][][]report.Item{nil},
	}
	for _, k := range r.Ranks {
		rho := "--"
		if k.Rho != nil {
			rho = fmt.Sprintf("%.2f", *k.Rho)
		}
		g.Groups[0] = append(g.Groups[0], report.Items(k.Column, fmt.Sprint(k.N), rho))
	}
	return g
}

func (r Result) claimGrid() report.Grid {
	g := report.Grid{
		Heading: "Claims of the paper about " + r.Table,
		Head:    []string{"Claim", "Number", "Data", "Verdict", "Why"}, Align: "lrlll",
		Groups: [][][]report.Item{nil},
	}
	quoted := map[string]bool{}
	for _, f := range r.Claims {
		data := f.Column
		if f.StandIn {
			data += " (stand-in)"
		}
		number := ""
		if f.Number != 0 {
			number = fmt.Sprint(f.Number)
		}
		g.Groups[0] = append(g.Groups[0], report.Items(f.Claim, number, data, string(f.Decision), f.Why))
		if !quoted[f.Claim] {
			quoted[f.Claim] = true
			text := fmt.Sprintf("%s: %q, %s.", f.Claim, f.Quote, f.Where)
			if f.Note != "" {
				text += " " + f.Note
			}
			g.Notes = append(g.Notes, report.Note{Text: text})
		}
	}
	if slices.ContainsFunc(r.Claims, func(f Finding) bool { return strings.Contains(f.Why, "†") }) {
		g.Notes = append(g.Notes, daggerNote)
	}
	g.Notes = append(g.Notes, report.Note{Text: "Differences are paired by seed and positive where the first is better, with 95 % intervals (Nadeau and Bengio); what fails does so after Holm's adjustment over the comparisons of the claim. Undecided: the interval covers the number, one of so many comparisons misses it by chance, or results are missing."})
	return g
}

func (r Result) summaryGrid() report.Grid {
	g := report.Grid{Heading: "Summary of " + r.Table, Head: []string{"What", "Count"}, Align: "lr"}
	s := r.Summary
	add := func(counts ...any) {
		var rows [][]report.Item
		for i := 0; i < len(counts); i += 2 {
			rows = append(rows, report.Items(fmt.Sprint(counts[i]), fmt.Sprint(counts[i+1])))
		}
		g.Groups = append(g.Groups, rows)
	}
	if len(r.Cells) > 0 {
		add("cells: match", s.Match, "cells: close", s.Close, "cells: off", s.Off, "cells: undecided (one seed)", s.TooFew, "cells: missing", s.Missing, "cells: failed", s.Failed, "cells: stand-in", s.StandIn)
	}
	if len(r.Claims) > 0 {
		add("claims: holds", s.Holds, "claims: fails", s.Fails, "claims: undecided", s.Undecided, "claims on stand-ins", s.StandInClaims)
	}
	add("cells tuned on the test part", s.Daggers)
	if s.Daggers > 0 {
		g.Notes = append(g.Notes, report.Note{Text: daggers(s.Daggers)})
	}
	return g
}
