package compare

import (
	"ssdl/harness/results"
	"ssdl/harness/stats"
)

// Difference is the difference of two rows, paired by seed. Gain is positive if the first row is
// better.
type Difference struct {
	Gain     float64           `json:"gain"`
	N        int               `json:"n"` // common seeds
	Interval *results.Interval `json:"interval,omitempty"`
	// P is the p-value of the corrected t test for no difference. If all differences are equal, the
	// t test has no p-value, and P is that of the signed-rank test. Holm is P adjusted over the
	// differences of the claim or column. Wilcoxon is the p-value of the signed-rank test. All
	// three are nil if Interval is.
	P        *float64 `json:"p,omitempty"`
	Holm     *float64 `json:"p_holm,omitempty"`
	Wilcoxon *float64 `json:"p_wilcoxon,omitempty"`
}

// Rounding is the tolerance for rounding errors of decimal numbers: 75.9 - 74.8 is not exactly 1.1.
const Rounding = 1e-9

// EnoughConstant is the number of equal differences that decide: if either sign is equally likely,
// six of one sign have a probability of 2/2^6, below 5 %.
const EnoughConstant = 6

// Constant reports whether all differences are equal. Accuracies are multiples of one over the
// number of test samples, so two or three seeds can agree by chance.
func (d Difference) Constant() bool {
	return d.Interval != nil && d.Interval.High-d.Interval.Low <= Rounding
}

// Pairs holds the values of two rows on the same seeds. X - Y is positive if the first is better.
type Pairs struct {
	Seeds []uint64
	X, Y  []float64
}

// Add appends a pair.
func (p *Pairs) Add(seed uint64, x, y float64) {
	p.Seeds, p.X, p.Y = append(p.Seeds, seed), append(p.X, x), append(p.Y, y)
}

// Pair pairs two cells over their common seeds, in order.
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

// Difference summarises pairs of finite values. Its interval is that of Nadeau and Bengio: the
// training parts of the seeds overlap, so the plain interval is too narrow. One seed has no
// interval. testToTrain is the size of the test part over that of the training part, 0 if seeds do
// not change the split.
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
		return d // the values are not finite
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

// Holm adjusts p-values for their number. nil stays nil and is not counted.
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
		return out // not probabilities: cannot happen for p-values of tests
	}
	for k, i := range tested {
		out[i] = &adjusted[k]
	}
	return out
}
