package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/compare"
)

// OfComparison is the document of a comparison.
func OfComparison(c compare.Comparison) Document {
	d := Document{Head: comparisonHead, Lines: comparisonLines(c), Value: c}
	for _, col := range c.Columns {
		d.Grids = append(d.Grids, comparisonGrid(c, col))
	}
	d.Grids = append(d.Grids, rankingGrid(c))
	if len(c.OtherLosses) > 0 {
		d.Grids[len(d.Grids)-1].note(otherLosses(c) + " To compare them, name one of them with --against.")
	}
	return d
}

// otherLosses says how many rows are not compared because they have another loss.
func otherLosses(c compare.Comparison) string {
	var parts []string
	for _, o := range c.OtherLosses {
		parts = append(parts, Count(len(o.Rows), "row", "rows")+" of "+o.Metric.Title)
	}
	return fmt.Sprintf("All values are of %s. Not compared: %s.", c.Metric.Title, Listed(parts, "and"))
}

func comparisonGrid(c compare.Comparison, col compare.ColumnComparison) Grid {
	var reference compare.Row // zero if it has no result
	for _, r := range col.Rows {
		if r.Row == col.Against {
			reference = r
		}
	}
	g := Grid{
		Heading: fmt.Sprintf("%s on %s, against %s", c.Table, ColumnTitle(col.Column), reference.Title),
		Head:    []string{"Method", "Mean", "Seeds", "Gain", "95 % interval", "p", "p (Holm)", "Wilcoxon p", "(Holm)", "Won/tied/lost", "Verdict"},
		Align:   "lrrrrrrrrrl",
	}
	if col.Against == "" {
		g.Heading = fmt.Sprintf("%s on %s: the reference row has no result", c.Table, ColumnTitle(col.Column))
	}
	tuned, uncommon, digits := false, false, c.Metric.Decimals
	for i, r := range col.Rows {
		if i == 0 || r.Group != col.Rows[i-1].Group {
			g.Groups = append(g.Groups, nil)
		}
		mean := string(r.State)
		if r.Mean != nil {
			mean = fmt.Sprintf("%.*f", digits, *r.Mean)
		}
		line := []string{r.Title, mean, "", "", "", "", "", "", "", "", string(r.Outcome)}
		switch d := r.Difference; {
		case r.Row == col.Against:
			line[10] = "reference"
		case d != nil:
			line[2] = strconv.Itoa(d.N)
			uncommon = uncommon || d.N < r.N || d.N < reference.N
			line[3] = Signed(d.Gain, digits+1)
			if !d.Constant() {
				line[4] = intervalText(d.Interval, digits+1)
			}
			line[5], line[6], line[7], line[8] = probability(d.P), probability(d.Holm), probability(d.Wilcoxon), probability(r.WilcoxonHolm)
			line[9] = fmt.Sprintf("%d/%d/%d", r.Wins, r.Ties, r.Losses)
			switch {
			case d.Interval == nil:
				line[10] += ": one common seed has no interval"
			case d.Constant():
				line[10] += fmt.Sprintf(": the same on each of %d seeds, so no interval; p is Wilcoxon's", d.N)
			}
		case r.Mean != nil && col.Against != "":
			line[10] = "undecided: no common seed"
		}
		row := items(line...)
		if r.TunedOnTest {
			tuned = true
			row[1].Suffix = "†"
		}
		if r.Mean != nil && r.N < r.RequestedSeeds {
			row[1].Suffix += fmt.Sprintf(" (%d/%d)", r.N, r.RequestedSeeds)
		}
		g.add(row...)
	}
	if tuned {
		g.Notes = append(g.Notes, tunedNote)
	}
	unit := ""
	if c.Metric.Unit == "%" {
		unit = " in points"
	}
	if col.Against != "" {
		g.note(
			"Gain: mean difference"+unit+" over the common seeds (column Seeds), positive if the method is better than "+reference.Title+".",
			"Interval and p: t test with the correction of Nadeau and Bengio for overlapping training parts.",
			"Wilcoxon: signed-rank test, which assumes independent seeds. Holm: p adjusted over the methods of this data set.",
			"Verdict: by the adjusted p of the t test at 5 %. Undecided does not mean equal.",
		)
	}
	if uncommon {
		g.note("Mean: over all seeds of a row, also those that the reference lacks. A gain can differ from the difference of two means.")
	}
	if !c.Metric.HigherIsBetter {
		g.note("Lower values are better.")
	}
	if col.Picked {
		among := ""
		if slices.ContainsFunc(col.Rows, func(r compare.Row) bool { return r.Mean != nil && c.Metric.Better(*r.Mean, *reference.Mean) }) {
			among = " of the ranked rows"
		}
		g.note("The reference has the best mean" + among + ", so p is too small. Choose the reference beforehand with --against.")
	}
	return g
}

// probability formats a p-value; "" for nil.
func probability(p *float64) string {
	switch {
	case p == nil:
		return ""
	case *p < 0.0005:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", *p)
}

// probabilityIs is text such as "= 0.012" or "< 0.001".
func probabilityIs(p float64) string {
	if s := probability(&p); strings.HasPrefix(s, "<") {
		return "< " + s[1:]
	}
	return "= " + probability(&p)
}

func rankingGrid(c compare.Comparison) Grid {
	r := c.Ranking
	g := Grid{
		Heading: fmt.Sprintf("%s: mean ranks over %d blocks (seeds of %s)", c.Table, r.Blocks, strings.Join(r.Columns, ", ")),
		Head:    []string{"Method", "Mean rank", "Alike"}, Align: "lrl", Groups: [][][]Item{nil},
	}
	if r.Lacks != "" {
		g.note("No ranking: " + LackText(r) + ".")
	} else {
		for _, m := range r.Rows {
			g.add(items(m.Title, fmt.Sprintf("%.2f", m.Rank), m.Letters)...)
		}
		g.note(friedman(r) + ".")
		if k := len(r.Rows); r.F != nil {
			g.note(fmt.Sprintf("Iman and Davenport: F(%d, %d) = %.2f, p %s.", k-1, (k-1)*(r.Blocks-1), *r.F, probabilityIs(r.PF)))
		} else {
			g.note("Iman and Davenport: F is infinite, because all blocks agree on the order.")
		}
		g.note(fmt.Sprintf("Nemenyi: mean ranks differ at 5 %% from %.2f on; methods with a common letter do not differ.", r.Critical), blocksNote)
	}
	if len(r.LeftOut) > 0 {
		g.note(leftOut(r))
	}
	return g
}

// LackText says why there is no ranking.
func LackText(r compare.Ranking) string {
	if r.Lacks == compare.LacksRows {
		have := "none of the methods has"
		if len(r.Rows) == 1 {
			have = "1 of the methods has"
		}
		return have + " all seeds of all data sets, but a ranking needs 2"
	}
	return "one seed on one data set, but a ranking needs 2 blocks"
}

// leftOut names the methods left out of the ranking.
func leftOut(r compare.Ranking) string {
	var titles []string
	for _, m := range r.LeftOut {
		titles = append(titles, m.Title)
	}
	return "Left out for lack of seeds: " + strings.Join(titles, ", ") + "."
}

const blocksNote = "Seeds of one data set share samples and are not independent blocks: p is too small, and the order holds for these splits only."

func friedman(r compare.Ranking) string {
	return fmt.Sprintf("Friedman: chi²(%d) = %.1f, p %s, %d blocks", len(r.Rows)-1, r.ChiSquare, probabilityIs(r.P), r.Blocks)
}

var comparisonHead = []string{
	"table", "column", "stands_for", "synthetic", "metric", "against", "picked", "row", "title", "state", "mean", "n", "requested_seeds", "tuned_on_test", "gain", "low", "high", "pairs",
	"p", "p_holm", "p_wilcoxon", "p_wilcoxon_holm", "wins", "ties", "losses", "verdict", "mean_rank", "cliques",
}

// comparisonLines has a line per row and data set, with all digits.
func comparisonLines(c compare.Comparison) (lines [][]string) {
	for _, col := range c.Columns {
		for _, r := range col.Rows {
			f := map[string]string{
				"table": c.Table, "metric": c.Metric.Name, "column": col.Column.ID, "stands_for": col.Column.StandsFor, "synthetic": strconv.FormatBool(col.Column.Synthetic),
				"against": col.Against, "picked": strconv.FormatBool(col.Picked), "row": r.Row, "title": r.Title,
				"state": string(r.State), "mean": number(r.Mean), "n": strconv.Itoa(r.N), "requested_seeds": strconv.Itoa(r.RequestedSeeds),
				"tuned_on_test": strconv.FormatBool(r.TunedOnTest), "verdict": string(r.Outcome), "p_wilcoxon_holm": number(r.WilcoxonHolm),
			}
			if d := r.Difference; d != nil {
				f["gain"], f["pairs"] = number(&d.Gain), strconv.Itoa(d.N)
				f["low"], f["high"] = ends(d.Interval)
				f["p"], f["p_holm"], f["p_wilcoxon"] = number(d.P), number(d.Holm), number(d.Wilcoxon)
				f["wins"], f["ties"], f["losses"] = strconv.Itoa(r.Wins), strconv.Itoa(r.Ties), strconv.Itoa(r.Losses)
			}
			if i := slices.IndexFunc(c.Ranking.Rows, func(m compare.Ranked) bool { return m.Row == r.Row }); i >= 0 && c.Ranking.Lacks == "" {
				f["mean_rank"], f["cliques"] = number(&c.Ranking.Rows[i].Rank), c.Ranking.Rows[i].Letters
			}
			lines = append(lines, lineOf(comparisonHead, f))
		}
	}
	return lines
}

// Diagram is the critical-difference diagram of a ranking. Draw fails on it if there is no ranking.
func Diagram(c compare.Comparison, title string) CriticalDifference {
	r := c.Ranking
	d := CriticalDifference{
		Title: title, Critical: r.Critical, Cliques: r.Cliques,
		Notes: []string{friedman(r) + "; methods under one bar do not differ by Nemenyi's test at 5 %.", blocksNote},
	}
	if len(r.LeftOut) > 0 {
		d.Notes = append(d.Notes, leftOut(r))
	}
	if len(c.OtherLosses) > 0 {
		d.Notes = append(d.Notes, otherLosses(c))
	}
	for _, m := range r.Rows {
		d.Methods, d.Ranks, d.TunedOnTest = append(d.Methods, m.Title), append(d.Ranks, m.Rank), append(d.TunedOnTest, m.TunedOnTest)
	}
	return d
}

// ColumnTitles are the titles of the data sets of a comparison, marked if they are not the paper's.
func ColumnTitles(c compare.Comparison) (titles []string) {
	for _, col := range c.Columns {
		titles = append(titles, ColumnTitle(col.Column))
	}
	return titles
}
