package verdict

import (
	"math"
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/compare"
	"ssdl/harness/results"
	"ssdl/harness/stats"
)

// Contrast is the difference of two rows that a claim speaks of. For a claim of kind Slower it is
// the difference of their losses over the setting: Gain is positive if Row loses less than Over.
type Contrast struct {
	Row  Side `json:"row"`
	Over Side `json:"over"`
	compare.Difference
	// RequestedSeeds is the number of seeds that were asked for; the difference is over N of them.
	RequestedSeeds int `json:"requested_seeds"`
	// Refuted is the p-value of the contrast if the claim's bound were just true, adjusted by Holm
	// over the contrasts of the claim; nil if the values agree with the claim or nothing is tested.
	Refuted *float64 `json:"p_refuted,omitempty"`
	// Decision is what this contrast alone says of the claim.
	Decision Decision `json:"decision"`

	pairs       compare.Pairs
	testToTrain float64
}

// Side is a row of a contrast.
type Side struct {
	Row         string          `json:"row"`
	Setting     results.Setting `json:"setting,omitempty"`
	TunedOnTest bool            `json:"tuned_on_test,omitempty"`
}

func newContrast(row, over Side, p compare.Pairs, requested int, testToTrain float64) Contrast {
	return Contrast{Row: row, Over: over, Difference: p.Difference(testToTrain), RequestedSeeds: requested, pairs: p, testToTrain: testToTrain}
}

// adjust fills in the Holm-adjusted p-values of a family of contrasts.
func adjust(family []Contrast) {
	p := make([]*float64, len(family))
	for i := range family {
		p[i] = family[i].P
	}
	for i, adjusted := range compare.Holm(p) {
		family[i].Holm = adjusted
	}
}

// decideFamily decides the contrasts of a claim: better than 0 (best), by at least number (margin), or
// different by at most number (similar). A claim asserts all its contrasts, so each is supported at
// its own 95 %. One contrast refutes the claim, and among many one does so by chance, so Fails
// requires significance after Holm's adjustment.
func decideFamily(family []Contrast, kind paper.Kind, number float64) {
	p := make([]*float64, len(family))
	for i := range family {
		c := &family[i]
		c.Decision, p[i] = c.judge(kind, number), new(float64)
		if *p[i] = 1; c.Decision == Fails {
			*p[i] = c.refutation(kind, number)
		}
	}
	for i, adjusted := range compare.Holm(p) {
		if c := &family[i]; c.Decision == Fails {
			c.Refuted = adjusted
			if *adjusted >= compare.Level {
				c.Decision = Undecided
			}
		}
	}
}

// familyP is the p-value of the decision on a family: the largest if the claim holds, since
// all must support it; the smallest if it fails, since one refutes it; 1 if it is undecided.
func familyP(family []Contrast, kind paper.Kind, number float64) float64 {
	worst, refuted := 0.0, 1.0
	for _, c := range family {
		switch c.Decision {
		case Holds:
			worst = max(worst, c.support(kind, number))
		case Fails:
			refuted = min(refuted, *c.Refuted)
			worst = 1
		default:
			worst = 1
		}
	}
	return min(worst, refuted)
}

// judge decides a single contrast.
func (c Contrast) judge(kind paper.Kind, number float64) Decision {
	if c.Interval == nil || c.Constant() && c.N < compare.EnoughConstant {
		return Undecided
	}
	const rounding = compare.Rounding
	low, high := c.Interval.Low, c.Interval.High
	holds, fails := false, false
	switch kind {
	case paper.Best:
		holds, fails = low > rounding, high < -rounding || high <= rounding && c.Constant()
	case paper.Margin:
		holds, fails = low >= number-rounding, high < number-rounding
	case paper.Similar:
		holds = low >= -number-rounding && high <= number+rounding
		fails = low > number+rounding || high < -number-rounding
	}
	switch {
	case holds:
		return Holds
	case fails:
		return Fails
	}
	return Undecided
}

// refutation is the p-value of a failing contrast against the bound that the claim sets.
func (c Contrast) refutation(kind paper.Kind, number float64) float64 {
	if c.Constant() {
		return math.Exp2(float64(1 - c.N)) // all differences on one side, see EnoughConstant
	}
	bound := number
	if kind == paper.Similar && c.Gain < 0 {
		bound = -number
	}
	return c.pAgainst(bound)
}

// support is the p-value of a supporting contrast against the nearest bound of the claim.
func (c Contrast) support(kind paper.Kind, number float64) float64 {
	switch {
	case c.Constant():
		return math.Exp2(float64(1 - c.N))
	case kind == paper.Similar:
		return max(c.pAgainst(number), c.pAgainst(-number))
	}
	return c.pAgainst(number)
}

// pAgainst is the p-value of the gain against a bound.
func (c Contrast) pAgainst(bound float64) float64 {
	kept := slices.Clone(c.pairs.X)
	for i := range kept {
		kept[i] -= bound
	}
	t, err := stats.CorrectedT(kept, c.pairs.Y, c.testToTrain)
	if err != nil {
		return 1 // cannot happen for a table that passes Check
	}
	return t.P
}
