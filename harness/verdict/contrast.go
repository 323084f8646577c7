package verdict

import (
	"math"
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/compare"
	"ssdl/harness/results"
	"ssdl/harness/stats"
)

// Contrast is the difference of two rows, as a claim speaks of it. A claim of the kind Slower compares
// what Row loses over the setting with what Over loses: the gain is positive where Row loses less.
type Contrast struct {
	Row  Side `json:"row"`
	Over Side `json:"over"`
	compare.Difference
	// Refuted is the P of what the claim says at the least, against a worse truth, adjusted by
	// Holm over what the claim compares; nil where the values speak for it or none is tested.
	Refuted *float64 `json:"p_refuted,omitempty"`
	// Decision is on the claim.
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

func newContrast(row, over Side, p compare.Pairs, testToTrain float64) Contrast {
	return Contrast{Row: row, Over: over, Difference: p.Difference(testToTrain), pairs: p, testToTrain: testToTrain}
}

// adjust fills in what Holm's procedure makes of the P of a family of contrasts.
func adjust(family []Contrast) {
	p := make([]*float64, len(family))
	for i := range family {
		p[i] = family[i].P
	}
	for i, adjusted := range compare.Holm(p) {
		family[i].Holm = adjusted
	}
}

// settle decides the contrasts that a claim makes: better than 0 (best), by at least the number
// (margin), or different by at most the number (similar). The claim says all of them, so each may
// hold at its own 95 %; but one refutes it, and of many one does so by chance: what fails must
// do so after Holm's adjustment.
func settle(family []Contrast, kind paper.Kind, number float64) {
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
			if *adjusted >= 0.05 {
				c.Decision = Undecided
			}
		}
	}
}

// significance is the P of what a family decides: all of it must support a claim that holds, and one
// refutes it. It is 1 where nothing is decided.
func significance(family []Contrast, kind paper.Kind, number float64) float64 {
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

// judge is settle for a contrast alone.
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

// refutation is the P of a contrast that fails, against the bound that it should have kept.
func (c Contrast) refutation(kind paper.Kind, number float64) float64 {
	if c.Constant() {
		return math.Exp2(float64(1 - c.N)) // all on one side, as EnoughConstant has it
	}
	bound := number
	if kind == paper.Similar && c.Gain < 0 {
		bound = -number
	}
	return c.against(bound)
}

// support is the P of a contrast that holds, against the nearest bound of what the claim says.
func (c Contrast) support(kind paper.Kind, number float64) float64 {
	switch {
	case c.Constant():
		return math.Exp2(float64(1 - c.N))
	case kind == paper.Similar:
		return max(c.against(number), c.against(-number))
	}
	return c.against(number)
}

// against is the P of the gain against a bound.
func (c Contrast) against(bound float64) float64 {
	kept := slices.Clone(c.pairs.X)
	for i := range kept {
		kept[i] -= bound
	}
	t, err := stats.CorrectedT(kept, c.pairs.Y, c.testToTrain)
	if err != nil {
		return 1 // not of a table that passes Check
	}
	return t.P
}
