package verify

import (
	"fmt"
	"math"
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
	"ssdl/harness/stats"
)

// Contrast is a difference paired by seed. Gain is positive where the first row
// is the better one.
type Contrast struct {
	What     string    `json:"what"`
	Gain     float64   `json:"gain"`
	N        int       `json:"n"`
	Interval *Interval `json:"interval,omitempty"`
	// P is of the hypothesis that there is no difference, by the corrected t test that the
	// interval is of (by the signed-rank test where the differences are all the same, which
	// leaves the t test nothing to go by); Holm is P adjusted over the contrasts of the claim
	// or of the column, and Wilcoxon the P of the signed-rank test. All are nil where Interval is.
	P        *float64 `json:"p,omitempty"`
	Holm     *float64 `json:"p_holm,omitempty"`
	Wilcoxon *float64 `json:"p_wilcoxon,omitempty"`
	// Refuted is the P of what the claim says at the least, against a worse truth, adjusted by
	// Holm over what the claim compares; nil where the values speak for it or none is tested.
	Refuted *float64 `json:"p_refuted,omitempty"`
	// Decision is on the claim; empty where none is tested.
	Decision Decision `json:"decision,omitempty"`

	pairs       pairs
	testToTrain float64
}

// pairs are values of two rows on the same seeds; x - y is positive where the first is
// the better one.
type pairs struct {
	seeds []uint64
	x, y  []float64
}

func (p *pairs) add(seed uint64, x, y float64) {
	p.seeds, p.x, p.y = append(p.seeds, seed), append(p.x, x), append(p.y, y)
}

// paired joins two cells over the seeds that both have, in their order.
func paired(a, b report.Cell, lowerIsBetter bool) pairs {
	theirs := map[uint64]float64{}
	for _, s := range b.Samples {
		theirs[s.Seed] = s.Value
	}
	var p pairs
	for _, s := range a.Samples {
		v, ok := theirs[s.Seed]
		switch {
		case ok && lowerIsBetter:
			p.add(s.Seed, -s.Value, -v)
		case ok:
			p.add(s.Seed, s.Value, v)
		}
	}
	return p
}

// contrast summarises pairs, with the interval of Nadeau and Bengio: the training parts of
// the seeds overlap, so the plain interval would be too narrow. One seed has none.
func contrast(what string, p pairs, testToTrain float64) Contrast {
	c := Contrast{What: what, N: len(p.seeds), pairs: p, testToTrain: testToTrain}
	if c.N == 1 {
		c.Gain = p.x[0] - p.y[0]
	}
	if c.N < 2 {
		return c
	}
	t, err := stats.CorrectedT(p.x, p.y, testToTrain)
	if err != nil {
		return c // not of a table that passes Check
	}
	w, err := stats.Wilcoxon(p.x, p.y)
	if err != nil {
		return c
	}
	c.Gain, c.Interval, c.P, c.Wilcoxon = t.Mean, &Interval{t.Low, t.High}, &t.P, &w.P
	if c.alike() {
		c.P = c.Wilcoxon
	}
	return c
}

// alike says that the differences are all the same. Accuracies are multiples of one over the
// number of test samples, so two or three seeds agree by chance.
func (c Contrast) alike() bool {
	return c.Interval != nil && c.Interval.High-c.Interval.Low <= rounding
}

// enoughAlike is the number of seeds from which on differences that are all the same decide:
// that many of one sign have a probability under 5 % if either sign is as likely, 2/2^6.
const enoughAlike = 6

// adjust fills in what Holm's procedure makes of the P of a family of contrasts.
func adjust(family []Contrast) {
	var tested []int
	var p []float64
	for i, c := range family {
		if c.P != nil {
			tested, p = append(tested, i), append(p, *c.P)
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return // these are no probabilities; CorrectedT gives none such
	}
	for k, i := range tested {
		family[i].Holm = &adjusted[k]
	}
}

// settle decides the contrasts that a claim makes: better than 0 (best), by at least the number
// (margin), or different by at most the number (similar). The claim says all of them, so each may
// hold at its own 95 %; but one refutes it, and of many one does so by chance: what fails must
// do so after Holm's adjustment.
func settle(family []Contrast, kind paper.Kind, number float64) {
	p := make([]float64, len(family))
	for i := range family {
		c := &family[i]
		c.Decision, p[i] = c.judge(kind, number), 1
		if c.Decision == Fails {
			p[i] = c.refutation(kind, number)
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return // these are no probabilities; refutation gives none such
	}
	for i := range family {
		if c := &family[i]; c.Decision == Fails {
			c.Refuted = &adjusted[i]
			if adjusted[i] >= 0.05 {
				c.Decision = Undecided
			}
		}
	}
}

// judge is settle for a contrast alone.
func (c Contrast) judge(kind paper.Kind, number float64) Decision {
	if c.Interval == nil || c.alike() && c.N < enoughAlike {
		return Undecided
	}
	low, high := c.Interval.Low, c.Interval.High
	holds, fails := false, false
	switch kind {
	case paper.Best:
		holds, fails = low > rounding, high < -rounding || high <= rounding && c.alike()
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
	if c.alike() {
		return math.Exp2(float64(1 - c.N)) // all on one side, as enoughAlike has it
	}
	bound := number
	if kind == paper.Similar && c.Gain < 0 {
		bound = -number
	}
	kept := slices.Clone(c.pairs.x)
	for i := range kept {
		kept[i] -= bound
	}
	t, err := stats.CorrectedT(kept, c.pairs.y, c.testToTrain)
	if err != nil {
		return 1 // not of a table that passes Check
	}
	return t.P
}

// words is as in "ssdl over ledl: +3.00 [2.10, 3.90], 8 seeds", with one decimal more than
// the table shows.
func (c Contrast) words(decimals int) string {
	if c.N == 0 {
		return c.What + ": no common seed"
	}
	if c.Interval == nil {
		return fmt.Sprintf("%s: %+.*f from one common seed, an interval needs two", c.What, decimals+1, c.Gain)
	}
	if c.alike() {
		return fmt.Sprintf("%s: %+.*f on each of %d seeds", c.What, decimals+1, c.Gain, c.N)
	}
	s := fmt.Sprintf("%s: %+.*f [%.*f, %.*f], %d seeds", c.What, decimals+1, c.Gain, decimals+1, c.Interval.Low, decimals+1, c.Interval.High, c.N)
	if c.Refuted != nil {
		s += fmt.Sprintf(", adjusted p %.2g", *c.Refuted)
	}
	return s
}
