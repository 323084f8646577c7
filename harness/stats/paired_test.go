package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCorrectedT(t *testing.T) {
	for _, c := range load(t).CorrectedT {
		r, err := CorrectedT(c.X, c.Y, c.Ratio)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "mean", r.Mean, c.Mean)
		near(t, "t", r.T, c.T)
		near(t, "p", r.P, c.P)
		near(t, "low", r.Low, c.Low)
		near(t, "high", r.High, c.High)
		back, err := CorrectedT(c.Y, c.X, c.Ratio)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "t the other way round", back.T, -r.T)
		near(t, "p the other way round", back.P, r.P)
	}
}

func TestCorrectedTOfLittle(t *testing.T) {
	same, err := CorrectedT(x, x, 0.5)
	if err != nil || same != (TTest{N: 8, P: 1}) {
		t.Errorf("no difference: %+v, %v", same, err)
	}
	// Equal differences up to rounding.
	shifted := slices.Clone(x)
	for i := range shifted {
		shifted[i] -= 0.01
	}
	r, err := CorrectedT(x, shifted, 0.5)
	if err != nil || r.P != 0 || !math.IsInf(r.T, 1) || r.Low != r.High {
		t.Errorf("one difference: %+v, %v", r, err)
	}
	near(t, "mean", r.Mean, 0.01)

	_, err = CorrectedT(x, y[1:], 0)
	wantError(t, err, "8 values against 7")
	_, err = CorrectedT(x[:1], y[:1], 0)
	wantError(t, err, "at least 2")
	_, err = CorrectedT(x, []float64{1, 2, 3, math.NaN(), 5, 6, 7, 8}, 0)
	wantError(t, err, "y[3] is NaN")
	for _, ratio := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, err = CorrectedT(x, y, ratio)
		wantError(t, err, "ratio")
	}
}

// TestCorrectedTHoldsItsLevel draws differences with a common part, as overlapping training sets cause:
// the plain test rejects far too often there, the corrected one does not.
func TestCorrectedTHoldsItsLevel(t *testing.T) {
	const trials, n = 4000, 8
	r := rand.New(rand.NewPCG(1, 2))
	ratio := 30.0 / 70
	// The correction assumes a correlation ρ = ratio/(1+ratio) between any two.
	shared := math.Sqrt(ratio / (1 + ratio))
	own := math.Sqrt(1 / (1 + ratio))
	zero := make([]float64, n)
	var plain, corrected float64
	for range trials {
		common := r.NormFloat64()
		d := make([]float64, n)
		for i := range d {
			d[i] = shared*common + own*r.NormFloat64()
		}
		p, err := CorrectedT(d, zero, 0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := CorrectedT(d, zero, ratio)
		if err != nil {
			t.Fatal(err)
		}
		if p.P < 0.05 {
			plain += 1.0 / trials
		}
		if c.P < 0.05 {
			corrected += 1.0 / trials
		}
	}
	t.Logf("false alarms at 5 %%: plain %.3f, corrected %.3f", plain, corrected)
	if plain < 0.2 || math.Abs(corrected-0.05) > 0.015 {
		t.Errorf("false alarms at 5 %%: plain %.3f, corrected %.3f", plain, corrected)
	}
}

func TestWilcoxon(t *testing.T) {
	for _, c := range load(t).Wilcoxon {
		t.Run(c.Name, func(t *testing.T) {
			r, err := Wilcoxon(c.D, make([]float64, len(c.D)))
			if err != nil {
				t.Fatal(err)
			}
			if r.N != c.N || r.Plus != c.Plus || r.Exact != c.Exact {
				t.Errorf("n is %d, sum %v, exact %v; want %d, %v, %v", r.N, r.Plus, r.Exact, c.N, c.Plus, c.Exact)
			}
			near(t, "p", r.P, c.P)
			back, err := Wilcoxon(make([]float64, len(c.D)), c.D)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "p the other way round", back.P, r.P)
		})
	}
	for _, nothing := range [][]float64{nil, {0, 0}} {
		if r, err := Wilcoxon(nothing, nothing); err != nil || r != (SignedRank{P: 1, Exact: true}) {
			t.Errorf("%v: %+v, %v", nothing, r, err)
		}
	}

	// The differences of x and y are multiples of 0.001 that tie up to rounding.
	r, err := Wilcoxon(x, y)
	if err != nil || r.N != 8 || r.Plus != 33 {
		t.Errorf("%+v, %v", r, err)
	}
	near(t, "p", r.P, 0.0390625)
	// A zero up to rounding.
	r, err = Wilcoxon([]float64{0.1 + 0.2, 1}, []float64{0.3, 0})
	if err != nil || r.N != 1 {
		t.Errorf("%+v, %v", r, err)
	}

	_, err = Wilcoxon(x, y[1:])
	wantError(t, err, "8 values against 7")
	_, err = Wilcoxon(make([]float64, 2), []float64{0, math.Inf(1)})
	wantError(t, err, "y[1] is +Inf")
}

// TestWilcoxonApproximates compares the normal approximation with the exact value where both are
// feasible.
func TestWilcoxonApproximates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, shift := range []float64{0, 0.1, 0.2} {
		ranks := make([]float64, exactPairs)
		var plus float64
		for i := range ranks {
			ranks[i] = float64(i + 1)
			if r.Float64() < 0.5+shift/2 {
				plus += ranks[i]
			}
		}
		exact, normal := countSigns(ranks, plus), normalSigns(ranks, plus)
		if math.Abs(exact-normal) > 0.002 {
			t.Errorf("shift %v: p is %v, approximately %v", shift, exact, normal)
		}
	}
}

// TestWilcoxonCounts compares with a count of all signs, on differences full of ties.
func TestWilcoxonCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		d := make([]float64, 1+r.IntN(9))
		for i := range d {
			d[i] = float64(r.IntN(9) - 4)
		}
		got, err := Wilcoxon(d, make([]float64, len(d)))
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
		size := make([]float64, len(kept))
		for i, v := range kept {
			size[i] = math.Abs(v)
		}
		var below, above float64
		for signs := range 1 << len(kept) {
			var w float64
			for i := range kept {
				if signs>>i&1 == 1 {
					// The rank by definition: the smaller values plus half of the equal ones.
					w++
					for j := range size {
						if size[j] < size[i] {
							w++
						} else if j != i && size[j] == size[i] {
							w += 0.5
						}
					}
				}
			}
			if w <= got.Plus {
				below++
			}
			if w >= got.Plus {
				above++
			}
		}
		want := min(1, 2*min(below, above)/float64(int(1)<<len(kept)))
		if got.P != want {
			t.Errorf("%v: p is %v, want %v", d, got.P, want)
		}
	}
}

func TestHolm(t *testing.T) {
	for _, c := range load(t).Holm {
		got, err := Holm(c.P)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Adjusted {
			near(t, fmt.Sprintf("p[%d] of %v", i, c.P), got[i], want)
		}
	}
	if got, err := Holm(nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := Holm([]float64{0.5, p})
		wantError(t, err, "p[1]")
	}
}

func TestBenjaminiHochberg(t *testing.T) {
	got, err := BenjaminiHochberg([]float64{0.01, 0.04, 0.03, 0.005, 0.5, 0.05})
	want := []float64{0.03, 0.06, 0.06, 0.03, 0.5, 0.06}
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("adjusted %v, want %v", got, want)
			break
		}
	}
	if got, err := BenjaminiHochberg(nil); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	if _, err := BenjaminiHochberg([]float64{1.5}); err == nil {
		t.Error("1.5 passes for a probability")
	}
	// It rejects everything that Holm's procedure rejects.
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := make([]float64, 1+r.IntN(20))
		for i := range p {
			p[i] = r.Float64()
		}
		holm, err := Holm(p)
		if err != nil {
			t.Fatal(err)
		}
		bh, err := BenjaminiHochberg(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p {
			if bh[i] > holm[i] || bh[i] < p[i] {
				t.Fatalf("%v: %v, by Holm %v", p, bh, holm)
			}
		}
	}
}
