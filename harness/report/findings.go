package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
	"ssdl/harness/spec"
	"ssdl/harness/verdict"
)

// FindingText gives the reason of the decision on a claim.
func FindingText(m results.Metric, f verdict.Finding) string {
	switch {
	case f.Lacks != "":
		return lackText(f)
	case f.Variants != nil:
		return variantsText(m, f)
	}
	var parts []string
	if f.Decisive != nil {
		parts = append(parts, contrastText(m, f, f.Contrasts[*f.Decisive]))
	}
	if n := len(f.Contrasts); n > 1 {
		parts = append(parts, fmt.Sprintf("most adverse of %d comparisons", n))
	}
	if len(f.Missing) > 0 {
		parts = append(parts, without(f.Missing))
	}
	return strings.Join(parts, "; ")
}

func lackText(f verdict.Finding) string {
	switch f.Lacks {
	case verdict.LacksColumn:
		return "no results on this data set"
	case verdict.LacksRange:
		return fmt.Sprintf("needs values of %s within and outside %s..%s", f.Setting, spec.FormatValue(f.From), spec.FormatValue(f.To))
	case verdict.LacksSettings:
		if f.Setting == "" {
			return "needs results of at least two settings of " + f.Row
		}
		return fmt.Sprintf("needs results of %s at two values of %s", f.Row, f.Setting)
	case verdict.LacksEnds:
		return fmt.Sprintf("no result of %s at %s = %s and %s", f.Row, f.Setting, spec.FormatValue(f.From), spec.FormatValue(f.To))
	}
	if len(f.Missing) > 0 {
		return without(f.Missing)
	}
	return "no result of " + f.Row
}

// without is text such as "no result of nrc, slrc, euler-src and 4 more".
func without(missing []string) string {
	const shown = 3
	if n := len(missing) - shown; n > 1 {
		return fmt.Sprintf("no result of %s and %d more", strings.Join(missing[:shown], ", "), n)
	}
	return "no result of " + strings.Join(missing, ", ")
}

// seedsText is "8 seeds", or "2 of 8 seeds" if some have no result yet.
func seedsText(c verdict.Contrast) string {
	if c.N < c.RequestedSeeds {
		return fmt.Sprintf("%d of %d seeds", c.N, c.RequestedSeeds)
	}
	return fmt.Sprintf("%d seeds", c.N)
}

func variantsText(m results.Metric, f verdict.Finding) string {
	v := f.Variants
	return fmt.Sprintf("%s, after correction for their number (Benjamini and Hochberg; %d and %d before)%s; at best %s; at worst %s",
		variantCounts(f), v.Alone.Holds, v.Alone.Fails, variantsMissing(f), contrastText(m, f, f.Contrasts[v.Best]), contrastText(m, f, f.Contrasts[v.Worst]))
}

// findingInBrief is FindingText, but of variants it gives the counts and the range of the differences alone.
func findingInBrief(m results.Metric, f verdict.Finding) string {
	if f.Lacks != "" || f.Variants == nil {
		return FindingText(m, f)
	}
	amountOf := func(c verdict.Contrast) string {
		if c.N == 0 {
			return "no common seed"
		}
		metric := c.Row.Setting.Metric(m)
		amount, direction := gainText(metric, c)
		return withDagger(metric.Title+" "+amount+" "+direction, c.Row.TunedOnTest || c.Over.TunedOnTest)
	}
	v := f.Variants
	return fmt.Sprintf("%s%s; at best %s, at worst %s", variantCounts(f), variantsMissing(f), amountOf(f.Contrasts[v.Best]), amountOf(f.Contrasts[v.Worst]))
}

// variantCounts is text such as "holds in 3 of 24 variants, fails in 10".
func variantCounts(f verdict.Finding) string {
	v, holds, fails := f.Variants, "holds", "fails"
	if f.Kind == paper.Best {
		holds, fails = "significantly better", "significantly worse"
	}
	return fmt.Sprintf("%s in %d of %d variants, %s in %d", holds, v.Holds, v.All, fails, v.Fails)
}

func variantsMissing(f verdict.Finding) string {
	if f.Variants.Missing == 0 {
		return ""
	}
	return "; " + Count(f.Variants.Missing, "lacks results", "lack results")
}

// gainText is the size of a difference with one decimal more than tables show, such as "3.00 points", and its
// direction: higher or lower.
func gainText(m results.Metric, c verdict.Contrast) (amount, direction string) {
	amount = fmt.Sprintf("%.*f", m.Decimals+1, math.Abs(c.Gain))
	if m.Unit == "%" {
		amount += " points"
	}
	if (c.Gain >= 0) == m.HigherIsBetter {
		return amount, "higher"
	}
	return amount, "lower"
}

// contrastText is text such as "ssdl's recognition rate is 3.00 points higher than ledl's [2.10, 3.90], 8
// seeds", with one decimal more than tables show.
func contrastText(m results.Metric, f verdict.Finding, c verdict.Contrast) string {
	m = c.Row.Setting.Metric(m)
	row, over := sideText(c.Row), sideText(c.Over)
	if c.N == 0 {
		return row + " and " + over + " have no common seed"
	}
	amount, direction := gainText(m, c)
	extreme := "lowest"
	if m.HigherIsBetter {
		extreme = "highest"
	}
	var s string
	switch f.Kind {
	case paper.Slower:
		loses := "less"
		if c.Gain < 0 {
			loses = "more"
		}
		s = fmt.Sprintf("%s loses %s %s than %s from %s = %s to %s", row, amount, loses, over, f.Setting, spec.FormatValue(f.To), spec.FormatValue(f.From))
	case paper.Minimum:
		at := func(side verdict.Side) string {
			v, _ := side.Setting.Number(f.Setting)
			return spec.FormatValue(v)
		}
		best, next, where := at(c.Row), at(c.Over), "within"
		if c.Gain < 0 {
			best, next, where, direction = next, best, "outside", map[bool]string{true: "higher", false: "lower"}[m.HigherIsBetter]
		}
		s = fmt.Sprintf("the %s is %s at %s = %s, %s %s..%s: %s %s than at %s", m.Title, extreme, f.Setting, best, where, spec.FormatValue(f.From), spec.FormatValue(f.To), amount, direction, next)
	default:
		s = fmt.Sprintf("%s's %s is %s %s than %s's", row, m.Title, amount, direction, over)
	}
	switch {
	case c.Interval == nil:
		return s + ", from one common seed; an interval needs two"
	case c.Constant():
		return s + " on each of " + seedsText(c)
	}
	// Give the interval of the amount in the direction of the words.
	i := *c.Interval
	if c.Gain < 0 {
		i = results.Interval{Low: -i.High, High: -i.Low}
	}
	s += fmt.Sprintf(" %s, %s", intervalText(&i, m.Decimals+1), seedsText(c))
	if c.Refuted != nil {
		p := fmt.Sprintf("p %.2g%s after Holm correction", *c.Refuted, against(m, f))
		if c.Decision == verdict.Undecided {
			p = "not significant: " + p
		}
		s += ", " + p
	}
	if f.BetterIn(c) {
		s += "; better, not similar"
	}
	return s
}

// against is text such as " against a lead of 1.1 points": what a p value tests, if not the sign of the difference.
func against(m results.Metric, f verdict.Finding) string {
	number := strconv.FormatFloat(f.Number, 'g', -1, 64)
	if m.Unit == "%" {
		number += " points"
	}
	switch f.Kind {
	case paper.Margin:
		return " against a lead of " + number
	case paper.Similar:
		return " against a distance of at most " + number
	}
	return ""
}

// sideText is the row's id, with a dagger if its parameters were chosen on the test part.
func sideText(s verdict.Side) string { return withDagger(s.Row, s.TunedOnTest) }
