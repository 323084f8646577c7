package compare

import (
	"ssdl/harness/results"
	"ssdl/harness/stats"
)

// Difference is the difference of two rows, paired by seed. Gain is positive where the first row
// is the better one.
type Difference struct {
	Gain     float64           `json:"gain"`
	N        int               `json:"n"` // common seeds
	Interval *results.Interval `json:"interval,omitempty"`
	// P is of the hypothesis that there is no difference, by the corrected t test that the
	// interval is of (by the signed-rank test where the differences are all the same, which
	// leaves the t test nothing to go by); Holm is P adjusted over the differences of the claim
	// or of the column, and Wilcoxon the P of the signed-rank test. All are nil where Interval is.
	P        *float64 `json:"p,omitempty"`
	Holm     *float64 `json:"p_holm,omitempty"`
	Wilcoxon *float64 `json:"p_wilcoxon,omitempty"`
}

// Rounding forgives the last bits of decimal numbers: 1.1 is not 75.9 - 74.8.
const Rounding = 1e-9

// EnoughConstant is the number of seeds from which on differences that are all the same decide:
// that many of one sign have a probability under 5 % if either sign is as likely, 2/2^6.
const EnoughConstant = 6

// Constant says that the differences are all the same. Accuracies are multiples of one over the
// number of test samples, so two or three seeds agree by chance.
func (d Difference) Constant() bool {
	return d.Interval != nil && d.Interval.High-d.Interval.Low <= Rounding
}

// Pairs are values of two rows on the same seeds; X - Y is positive where the first is
// the better one.
type Pairs struct {
	Seeds []uint64
	X, Y  []float64
}

// Add appends a pair.
func (p *Pairs) Add(seed uint64, x, y float64) {
	p.Seeds, p.X, p.Y = append(p.Seeds, seed), append(p.X, x), append(p.Y, y)
}

// Pair joins two cells over the seeds that both have, in their order.
func Pair(a, b results.Cell, m results.Metric) Pairs {
	sign := 1.0
	if !m.HigherIsBetter {
		sign = -1
	}
	theirs := map[uint64]float64{}
	for _, s := range b.Samples {
		theirs[s.Seed] = s.Value
	}
	var p Pairs
	for _, s := range a.Samples {
		if v, ok := theirs[s.Seed]; ok {
			p.Add(s.Seed, sign*s.Value, sign*v)
		}
	}
	return p
}

// Difference summarises pairs of finite values, with the interval of Nadeau and Bengio: the training
// parts of the seeds overlap, so the plain interval would be too narrow. One seed has none. testToTrain
// is the size of the test part over that of the training part, 0 where seeds do not change the split.
func (p Pairs) Difference(testToTrain float64) Difference {
	d := Difference{N: len(p.Seeds)}
	if d.N == 1 {
		d.Gain = p.X[0] - p.Y[0]
	}
	if d.N < 2 {
		return d
	}
	t, err := stats.CorrectedT(p.X, p.Y, testToTrain)
	if err != nil {
		return d // not of finite values
	}
	w, err := stats.Wilcoxon(p.X, p.Y)
	if err != nil {
		return d
	}
	d.Gain, d.Interval, d.P, d.Wilcoxon = t.Mean, &results.Interval{Low: t.Low, High: t.High}, &t.P, &w.P
	if d.Constant() {
		d.P = d.Wilcoxon
	}
	return d
}

// Holm adjusts those of some probabilities that there are; nil stays nil.
func Holm(p []*float64) []*float64 {
	out := make([]*float64, len(p))
	var tested []int
	var values []float64
	for i := range p {
		if p[i] != nil {
			tested, values = append(tested, i), append(values, *p[i])
		}
	}
	adjusted, err := stats.Holm(values)
	if err != nil {
		return out // these are no probabilities; the tests give none such
	}
	for k, i := range tested {
		out[i] = &adjusted[k]
	}
	return out
}
