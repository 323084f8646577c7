package verify

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/report"
)

// Render writes the comparison in one of the Formats.
func (c Comparison) Render(w io.Writer, format string) error {
	c = c.cleaned()
	switch format {
	case "json":
		return writeJSON(w, c)
	case "csv":
		return c.csv(w)
	}
	var grids []report.Grid
	for _, col := range c.Columns {
		grids = append(grids, c.columnGrid(col))
	}
	return writeGrids(w, append(grids, c.rankingGrid()), format)
}

// cleaned returns c with the strings that come from specs and results made safe to print.
func (c Comparison) cleaned() Comparison {
	c.Table = report.Clean(c.Table)
	c.Columns = slices.Clone(c.Columns)
	for j := range c.Columns {
		col := &c.Columns[j]
		col.Column, col.Title, col.Against, col.StandsFor = report.Clean(col.Column), report.Clean(col.Title), report.Clean(col.Against), report.Clean(col.StandsFor)
		col.Rows = slices.Clone(col.Rows)
		for i := range col.Rows {
			r := &col.Rows[i]
			r.Row, r.Title = report.Clean(r.Row), report.Clean(r.Title)
			if r.Contrast != nil {
				k := *r.Contrast
				k.What = report.Clean(k.What)
				r.Contrast = &k
			}
		}
	}
	r := &c.Ranking
	clean := func(in []string) []string {
		out := slices.Clone(in)
		for i := range out {
			out[i] = report.Clean(out[i])
		}
		return out
	}
	r.Why, r.Columns, r.LeftOut, r.leftOut = report.Clean(r.Why), clean(r.Columns), clean(r.LeftOut), clean(r.leftOut)
	r.Methods, r.Cliques = slices.Clone(r.Methods), slices.Clone(r.Cliques)
	for i := range r.Methods {
		r.Methods[i].Row, r.Methods[i].Title = report.Clean(r.Methods[i].Row), report.Clean(r.Methods[i].Title)
	}
	for i := range r.Cliques {
		r.Cliques[i] = clean(r.Cliques[i])
	}
	return c
}

func (c Comparison) columnGrid(col Competition) report.Grid {
	g := report.Grid{
		Heading: fmt.Sprintf("%s on %s, against %s", c.Table, col.DataSet(), col.title(col.Against)),
		Head:    []string{"Method", "Mean", "Gain", "95 % interval", "p", "p (Holm)", "Wilcoxon p", "(Holm)", "Won/tied/lost", "Verdict"},
		Align:   "lrrrrrrrrl",
	}
	if col.Against == "" {
		g.Heading = fmt.Sprintf("%s on %s: the row to compare with has no result", c.Table, col.DataSet())
	}
	dagger := false
	for i, r := range col.Rows {
		if i == 0 || r.group != col.Rows[i-1].group {
			g.Groups = append(g.Groups, nil)
		}
		mean := string(r.State)
		if r.Mean != nil {
			mean = fmt.Sprintf("%.*f", c.decimals, *r.Mean)
		}
		line := []string{r.Title, mean, "", "", "", "", "", "", "", ""}
		switch k := r.Contrast; {
		case r.Row == col.Against:
			line[9] = "the others are held against it"
		case k != nil:
			line[2] = fmt.Sprintf("%+.*f", c.decimals+1, k.Gain)
			line[8] = fmt.Sprintf("%d/%d/%d", r.Wins, r.Ties, r.Losses)
			line[9] = string(r.Standing)
			if k.Interval == nil {
				line[9] += ": one common seed has no interval"
				break
			}
			line[3] = fmt.Sprintf("[%.*f, %.*f]", c.decimals+1, k.Interval.Low, c.decimals+1, k.Interval.High)
			line[4], line[5], line[6], line[7] = chance(k.P), chance(k.Holm), chance(k.Wilcoxon), chance(r.WilcoxonHolm)
		case r.Mean != nil && col.Against != "":
			line[9] = string(Level) + ": no common seed"
		}
		items := report.Items(line...)
		if r.Dagger {
			dagger = true
			items[1].Suffix = "†"
		}
		if r.Mean != nil && r.N < r.Declared {
			items[1].Suffix += fmt.Sprintf(" (%d/%d)", r.N, r.Declared)
		}
		last := len(g.Groups) - 1
		g.Groups[last] = append(g.Groups[last], items)
	}
	if dagger {
		g.Notes = append(g.Notes, daggerNote)
	}
	unit := ""
	if c.unit == "%" {
		unit = " in points,"
	}
	notes := []string{
		"Gain: mean difference paired by seed," + unit + " positive where the method is better than " + col.title(col.Against) + "; interval and p of the t test with the correction of Nadeau and Bengio for training parts that overlap.",
		"Wilcoxon: signed ranks; it takes the seeds for independent. Holm: p adjusted over the methods of this data set. Verdict: by the adjusted p of the t test at 5 %; undecided does not mean equal.",
	}
	if c.lower {
		notes[0] += " Lower values are better."
	}
	if col.Picked {
		notes = append(notes, "The row to compare with was picked for its mean, which makes the p too small; name it beforehand with --against.")
	}
	for _, text := range notes {
		g.Notes = append(g.Notes, report.Note{Text: text})
	}
	return g
}

// DataSet is the title with the words that tell what kind of data it is.
func (c Competition) DataSet() string {
	switch {
	case c.Synthetic:
		return c.Title + " (synthetic)"
	case c.StandsFor != "":
		return c.Title + " (stand-in)"
	}
	return c.Title
}

// title is the title of the row with this id.
func (c Competition) title(id string) string {
	for _, r := range c.Rows {
		if r.Row == id {
			return r.Title
		}
	}
	return id
}

// chance writes a probability.
func chance(p *float64) string {
	switch {
	case p == nil:
		return ""
	case *p < 0.0005:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", *p)
}

func (c Comparison) rankingGrid() report.Grid {
	r := c.Ranking
	g := report.Grid{
		Heading: fmt.Sprintf("%s: mean ranks over %d blocks (seeds of %s)", c.Table, r.Blocks, strings.Join(r.Columns, ", ")),
		Head:    []string{"Method", "Mean rank", "Alike"}, Align: "lrl", Groups: [][][]report.Item{nil},
	}
	for _, m := range r.Methods {
		g.Groups[0] = append(g.Groups[0], report.Items(m.Title, fmt.Sprintf("%.2f", m.Rank), m.Letters))
	}
	g.Notes = r.notes()
	return g
}

// notes say what test the ranking is of, and what it is worth.
func (r Ranking) notes() []report.Note {
	var out []report.Note
	add := func(format string, args ...any) { out = append(out, report.Note{Text: fmt.Sprintf(format, args...)}) }
	if r.Why != "" {
		add("No ranking: %s.", r.Why)
	} else {
		add("%s.", r.friedman())
		if k := len(r.Methods); r.F != nil {
			add("Iman and Davenport: F(%d, %d) = %.2f, p %s.", k-1, (k-1)*(r.Blocks-1), *r.F, chanceIs(r.PF))
		} else {
			add("Iman and Davenport: F is infinite, since all blocks agree on the order.")
		}
		add("Nemenyi: methods whose mean ranks differ by %.2f or more differ at 5 %%; methods with a common letter do not.", r.Critical)
		add("%s", blocksNote)
	}
	if len(r.LeftOut) > 0 {
		add("%s", r.missing())
	}
	return out
}

// missing names the methods that are not in the ranking.
func (r Ranking) missing() string {
	return "Left out, since other methods have more seeds: " + strings.Join(r.leftOut, ", ") + "."
}

const blocksNote = "Seeds of one data set share samples and are no independent blocks: this describes the order on these splits and proves less than its p."

func (r Ranking) friedman() string {
	return fmt.Sprintf("Friedman: chi²(%d) = %.1f, p %s, %d blocks", len(r.Methods)-1, r.ChiSquare, chanceIs(r.P), r.Blocks)
}

// chanceIs is as in "= 0.012" or "< 0.001".
func chanceIs(p float64) string {
	if s := chance(&p); strings.HasPrefix(s, "<") {
		return "< " + s[1:]
	}
	return "= " + chance(&p)
}

// csv writes a line per row and data set, with all digits.
func (c Comparison) csv(w io.Writer) error {
	head := []string{
		"table", "column", "stands_for", "synthetic", "against", "picked", "row", "title", "state", "mean", "n", "declared", "dagger", "gain", "low", "high", "pairs",
		"p", "p_holm", "p_wilcoxon", "p_wilcoxon_holm", "wins", "ties", "losses", "verdict", "mean_rank", "cliques",
	}
	var lines [][]string
	for _, col := range c.Columns {
		for _, r := range col.Rows {
			f := map[string]string{
				"table": c.Table, "column": col.Column, "stands_for": col.StandsFor, "synthetic": strconv.FormatBool(col.Synthetic), "against": col.Against, "picked": strconv.FormatBool(col.Picked), "row": r.Row, "title": r.Title,
				"state": string(r.State), "mean": number(r.Mean), "n": strconv.Itoa(r.N), "declared": strconv.Itoa(r.Declared),
				"dagger": strconv.FormatBool(r.Dagger), "verdict": string(r.Standing), "p_wilcoxon_holm": number(r.WilcoxonHolm),
			}
			if k := r.Contrast; k != nil {
				f["gain"], f["pairs"] = number(&k.Gain), strconv.Itoa(k.N)
				f["low"], f["high"] = k.Interval.numbers()
				f["p"], f["p_holm"], f["p_wilcoxon"] = number(k.P), number(k.Holm), number(k.Wilcoxon)
				f["wins"], f["ties"], f["losses"] = strconv.Itoa(r.Wins), strconv.Itoa(r.Ties), strconv.Itoa(r.Losses)
			}
			for _, m := range c.Ranking.Methods {
				if m.Row == r.Row {
					f["mean_rank"], f["cliques"] = number(&m.Rank), m.Letters
				}
			}
			line := make([]string, len(head))
			for i, name := range head {
				line[i] = f[name]
			}
			lines = append(lines, line)
		}
	}
	return report.CSV(w, head, lines)
}

// Diagram is the ranking as a critical-difference diagram under a title; ok is false if
// there is no ranking.
func (c Comparison) Diagram(title string) (d report.CriticalDifference, ok bool) {
	if c.Ranking.Why != "" {
		return d, false
	}
	d = report.CriticalDifference{
		Title: title, Critical: c.Ranking.Critical, Cliques: c.Ranking.test.Cliques(),
		Notes: []string{c.Ranking.friedman() + "; methods under one bar do not differ by Nemenyi's test at 5 %.", blocksNote},
	}
	if len(c.Ranking.LeftOut) > 0 {
		d.Notes = append(d.Notes, c.Ranking.missing())
	}
	for _, m := range c.Ranking.Methods {
		d.Methods, d.Ranks = append(d.Methods, m.Title), append(d.Ranks, m.Rank)
	}
	return d, true
}
