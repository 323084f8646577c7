package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The reference values are those of SciPy 1.10.1, with
//
//	import numpy as np, itertools
//	from scipy import special, stats
//	x = np.array([.912, .918, .903, .927, .909, .915, .921, .906])
//	y = np.array([.897, .921, .891, .912, .912, .900, .903, .897])
//	d = x - y
var (
	x = []float64{.912, .918, .903, .927, .909, .915, .921, .906}
	y = []float64{.897, .921, .891, .912, .912, .900, .903, .897}
)

// The two columns of the paper's Table 1, in its order.
var (
	stanford40 = []float64{66.0, 70.1, 67.7, 65.3, 66.9, 74.8, 73.3, 67.7, 73.3, 72.9, 72.7, 75.9}
	uiucSE     = []float64{88.4, 94.2, 89.7, 93.4, 90.2, 95.7, 94.2, 89.1, 91.3, 91.8, 92.4, 96.4}
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-10*max(1, math.Abs(want))) {
		t.Errorf("%s is %.16g, want %.16g", what, got, want)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error is %v, want one that says %q", err, part)
	}
}

func TestSummary(t *testing.T) {
	// np.mean(x); np.std(x, ddof=1); stats.t.interval(0.95, 7, np.mean(x), stats.sem(x))
	s := Summarize(x)
	if s.N != 8 {
		t.Errorf("N is %d", s.N)
	}
	near(t, "mean", s.Mean, 0.913875)
	near(t, "sd", s.SD, 0.008007808689023491)
	low, high, ok := s.Interval()
	if !ok {
		t.Error("no interval")
	}
	near(t, "low", low, 0.9071803044012173)
	near(t, "high", high, 0.9205696955987827)

	// [(df * (1 - t) / t)**.5 for df in (1, 2, 7, 30, 1000) for t in [special.betaincinv(df / 2, .5, .05)]],
	// since stats.t.ppf is good to 1e-9 only.
	for df, want := range map[int]float64{
		1: 12.706204736174707, 2: 4.302652729749464, 7: 2.364624251592785,
		30: 2.042272456301239, 1000: 1.9623390808262562,
	} {
		near(t, fmt.Sprintf("t quantile at %d", df), tQuantile(df), want)
	}

	if s := Summarize(nil); s != (Summary{}) {
		t.Errorf("nothing: %+v", s)
	}
	if s := Summarize([]float64{0.1}); s != (Summary{N: 1, Mean: 0.1}) {
		t.Errorf("one: %+v", s)
	}
	if _, _, ok := Summarize([]float64{0.1}).Interval(); ok {
		t.Error("one value has an interval")
	}
	if s := Summarize(slices.Repeat([]float64{0.1}, 8)); s != (Summary{N: 8, Mean: 0.1}) {
		t.Errorf("the same value eight times: %+v", s)
	}
}

func TestCorrectedT(t *testing.T) {
	for _, c := range []struct{ ratio, t, p, low, high float64 }{
		// stats.ttest_rel(x, y); d.mean() -+ stats.t.ppf(.975, 7) * stats.sem(d)
		{0, 3.3250676333505065, 0.012676552643502554, 0.0028162804521305526, 0.016683719547869465},
		// se = np.std(d, ddof=1) * (1/8 + 30/70)**.5; t = d.mean() / se; 2 * stats.t.sf(t, 7);
		// d.mean() -+ stats.t.ppf(.975, 7) * se
		{30.0 / 70, 1.5800420917676885, 0.1581084372567498, -0.004841438144256846, 0.024341438144256863},
	} {
		r, err := CorrectedT(x, y, c.ratio)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "mean", r.Mean, 0.00975)
		near(t, "t", r.T, c.t)
		near(t, "p", r.P, c.p)
		near(t, "low", r.Low, c.low)
		near(t, "high", r.High, c.high)
		back, err := CorrectedT(y, x, c.ratio)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "t the other way round", back.T, -r.T)
		near(t, "p the other way round", back.P, r.P)
	}

	same, err := CorrectedT(x, x, 0.5)
	if err != nil || same != (TTest{N: 8, P: 1}) {
		t.Errorf("no difference: %+v, %v", same, err)
	}
	// The same difference everywhere, though not to the last bit.
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

// TestCorrectedTHoldsItsLevel draws differences that share a part, as overlapping training
// sets make them: the plain test is wrong far too often there, the corrected one is not.
func TestCorrectedTHoldsItsLevel(t *testing.T) {
	const trials, n = 4000, 8
	r := rand.New(rand.NewPCG(1, 2))
	ratio := 30.0 / 70
	// Correlation ρ = ratio/(1+ratio) between any two is what the correction assumes.
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
	upTo60 := make([]float64, 60)
	for i := range upTo60 {
		upTo60[i] = float64(i + 1)
		if i%3 == 0 {
			upTo60[i] = -upTo60[i]
		}
	}
	for _, c := range []struct {
		name string
		d    []float64
		n    int
		plus float64
		p    float64
	}{
		// stats.wilcoxon(d, method='exact'), plus: 120 - 24
		{"Wilcoxon's plants", []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}, 15, 96, 0.041259765625},
		// d = np.arange(1, 61) * np.where(np.arange(60) % 3 == 0, -1, 1)
		// stats.wilcoxon(d, method='exact'); d[d > 0].sum()
		{"sixty", upTo60, 60, 1240, 0.016137123087551525},
		// With ties and zeros SciPy is not exact. All signs, counted:
		//	d = d[d != 0]; r = stats.rankdata(abs(d)); w = r[d > 0].sum()
		//	s = np.array([np.dot(r, g) for g in itertools.product([0, 1], repeat=len(r))])
		//	min(1, 2 * min((s <= w).mean(), (s >= w).mean()))
		{"ties", []float64{15, -3, 12, 15, -3, 15, 18, 9}, 8, 33, 0.0390625},
		{"ties and zeros", []float64{0, 0, 1, 1, 1, -2, 3, 3, -1, 0}, 7, 20.5, 0.34375},
		{"all up", []float64{1, 2, 3, 4, 5, 6, 7, 8}, 8, 36, 2.0 / 256},
		{"all the same", []float64{1, 1, 1, 1}, 4, 10, 2.0 / 16},
		{"one", []float64{-1}, 1, 0, 1},
		{"all zero", []float64{0, 0}, 0, 0, 1},
		{"none", nil, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Wilcoxon(c.d, make([]float64, len(c.d)))
			if err != nil {
				t.Fatal(err)
			}
			if r.N != c.n || r.Plus != c.plus {
				t.Errorf("n is %d, sum %v; want %d, %v", r.N, r.Plus, c.n, c.plus)
			}
			near(t, "p", r.P, c.p)
		})
	}

	// The differences of x and y are thousandths that tie but for their last bits.
	r, err := Wilcoxon(x, y)
	if err != nil || r.N != 8 || r.Plus != 33 {
		t.Errorf("%+v, %v", r, err)
	}
	near(t, "p", r.P, 0.0390625)
	// Likewise a zero.
	r, err = Wilcoxon([]float64{0.1 + 0.2, 1}, []float64{0.3, 0})
	if err != nil || r.N != 1 {
		t.Errorf("%+v, %v", r, err)
	}

	_, err = Wilcoxon(x, y[1:])
	wantError(t, err, "8 values against 7")
	_, err = Wilcoxon(make([]float64, 2), []float64{0, math.Inf(1)})
	wantError(t, err, "y[1] is +Inf")
	_, err = Wilcoxon(slices.Repeat([]float64{1}, 1001), make([]float64, 1001))
	wantError(t, err, "at most 1000")
}

// TestWilcoxonCounts compares with all signs counted, on differences full of ties.
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
					// The rank by definition: those smaller, and half of the equal ones.
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
	// In rising order 5 x 0.005, 4 x 0.01, 3 x 0.03, 2 x 0.04 (less than the one before,
	// and raised to it), 1 x 0.5.
	got, err := Holm([]float64{0.01, 0.04, 0.03, 0.005, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.04, 0.09, 0.09, 0.025, 0.5} {
		near(t, fmt.Sprint("p", i), got[i], want)
	}
	got, err = Holm([]float64{0.6, 0.7, 0, 1})
	if err != nil || !slices.Equal(got, []float64{1, 1, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Holm(nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := Holm([]float64{0.5, p})
		wantError(t, err, "p[1]")
	}
}

func TestRankCorrelations(t *testing.T) {
	for _, c := range []struct {
		name          string
		x, y          []float64
		spearman, tau float64
	}{
		// stats.spearmanr(x, y)[0], stats.kendalltau(x, y)[0]
		{"ties", x, y, 0.6867968371144288, 0.5929994533288809},
		{"the paper's columns", stanford40, uiucSE, 0.662566928332072, 0.5116432801804849},
		{"same order", []float64{1, 2, 3}, []float64{10, 100, 1000}, 1, 1},
		{"reversed", []float64{1, 2, 3}, []float64{-1, -2, -3}, -1, -1},
		// The third value of the first list is equal to the second up to rounding.
		{"nearly tied", []float64{0.1, 0.3, 0.1 + 0.2}, []float64{1, 2, 3}, math.Sqrt(3) / 2, math.Sqrt(2.0 / 3)},
	} {
		s, err := Spearman(c.x, c.y)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		near(t, c.name+": ρ", s, c.spearman)
		k, err := Kendall(c.x, c.y)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		near(t, c.name+": τ", k, c.tau)
	}
	for name, f := range map[string]func(x, y []float64) (float64, error){"Spearman": Spearman, "Kendall": Kendall} {
		for _, c := range []struct {
			x, y []float64
			want string
		}{
			{x, y[1:], "8 values against 7"},
			{x[:1], y[:1], "at least 2"},
			{[]float64{1, 2}, []float64{3, 3}, "no order"},
			{[]float64{0, 0}, []float64{3, 4}, "no order"},
			{[]float64{1, 2}, []float64{3, math.NaN()}, "y[1] is NaN"},
		} {
			_, err := f(c.x, c.y)
			wantError(t, err, c.want)
			wantError(t, err, name)
		}
	}
}

func TestGrim(t *testing.T) {
	for _, c := range []struct {
		printed      string
		size, splits int
		want         bool
	}{
		{"33.3", 3, 1, true},
		{"33.33", 3, 1, true},
		{"33.34", 3, 1, false},
		{"33", 3, 1, true},
		{"34", 3, 1, false},
		{"66.7", 3, 1, true},
		{"66.6", 3, 1, false},
		{"12.5", 8, 1, true},
		{"12.4", 4, 2, false},
		{"6.2", 16, 1, true}, // 6.25 may go either way
		{"6.3", 16, 1, true},
		{"6.4", 16, 1, false},
		{"0", 7, 1, true},
		{"0.0", 7, 1, true},
		{"100", 7, 1, true},
		{"100.0", 7, 1, true},
		{"99.9", 7, 1, false},
		{"99.8", 7, 72, true}, // 503 of 504
		{"99.9", 7, 72, false},
		{"88.4", 1000, 1, true},
	} {
		got, err := Grim(c.printed, c.size, c.splits)
		if err != nil || got != c.want {
			t.Errorf("%s from %d x %d: %v, %v", c.printed, c.splits, c.size, got, err)
		}
	}
	for _, printed := range []string{"", ".5", "5.", "-1", "+1", "1e1", "88,4", "1.2.3", "100.1", "101", "_1", "1_0", "½"} {
		if ok, err := Grim(printed, 10, 1); err == nil {
			t.Errorf("%q: %v", printed, ok)
		}
	}
	_, err := Grim("50", 0, 1)
	wantError(t, err, "0 sample(s)")
	_, err = Grim("50", 1, 0)
	wantError(t, err, "0 split(s)")
}

// TestGrimAgainstAll compares with every count of correct predictions, rounded as a
// program would print it.
func TestGrimAgainstAll(t *testing.T) {
	for n := 1; n <= 150; n++ {
		seen := map[string]bool{}
		for k := range n + 1 {
			seen[strconv.FormatFloat(100*float64(k)/float64(n), 'f', 1, 64)] = true
			if 1000*k%n*2 == n { // halfway: both
				seen[fmt.Sprintf("%d.%d", 1000*k/n/10, 1000*k/n%10)] = true
				seen[fmt.Sprintf("%d.%d", (1000*k/n+1)/10, (1000*k/n+1)%10)] = true
			}
		}
		for v := range 1001 {
			printed := fmt.Sprintf("%d.%d", v/10, v%10)
			if got, err := Grim(printed, n, 1); err != nil || got != seen[printed] {
				t.Fatalf("%s of %d: %v, %v", printed, n, got, err)
			}
		}
	}
}

// TestGrimOnThePaper counts the test sizes from 200 to 699 at which the twelve numbers of
// a column of Table 1 are possible: none with a single split.
func TestGrimOnThePaper(t *testing.T) {
	for _, c := range []struct {
		name     string
		column   []float64
		splits   int
		sizes    int
		smallest int
	}{
		{"UIUC-SE", uiucSE, 1, 0, 0},
		{"UIUC-SE", uiucSE, 2, 239, 400},
		{"UIUC-SE", uiucSE, 3, 395, 269},
		{"UIUC-SE", uiucSE, 5, 500, 200},
		{"Stanford40", stanford40, 1, 0, 0},
		{"Stanford40", stanford40, 2, 247, 373},
	} {
		var possible []int
		for size := 200; size < 700; size++ {
			all := true
			for _, v := range c.column {
				ok, err := Grim(strconv.FormatFloat(v, 'f', 1, 64), size, c.splits)
				if err != nil {
					t.Fatal(err)
				}
				all = all && ok
			}
			if all {
				possible = append(possible, size)
			}
		}
		if len(possible) != c.sizes || c.sizes > 0 && possible[0] != c.smallest {
			t.Errorf("%s with %d split(s): possible at %d sizes: %v", c.name, c.splits, len(possible), possible)
		}
	}
}

func TestFriedman(t *testing.T) {
	z := []float64{.9, .91, .9, .92, .905, .9, .92, .906}
	mixed := append(slices.Clone(x[:4]), y[4:]...)
	for _, c := range []struct {
		name   string
		x      [][]float64
		chi, p float64
		ranks  []float64
	}{
		// stats.friedmanchisquare(x, y, z)
		// np.mean([stats.rankdata([-a, -b, -c]) for a, b, c in zip(x, y, z)], 0)
		{"three", [][]float64{x, y, z}, 6.2, 0.04504920239355781, []float64{1.3125, 2.4375, 2.25}},
		{"ties", [][]float64{x, y, mixed}, 3, 0.22313016014842982, []float64{1.625, 2.375, 2}},
		{"equal", [][]float64{x, x}, 0, 1, []float64{1.5, 1.5}},
	} {
		r, err := Friedman(c.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name+": χ²", r.ChiSquare, c.chi)
		near(t, c.name+": p", r.P, c.p)
		for i, want := range c.ranks {
			near(t, c.name+": rank", r.Ranks[i], want)
		}
	}
	r, err := Friedman([][]float64{x, y, z})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "critical difference", r.Critical, 3.314493155398122*math.Sqrt(3*4/(12*8.0)))

	// stats.studentized_range.ppf(.95, k, np.inf); that of two groups, which is
	// √2 stats.norm.ppf(.975) in closed form, shows it to be good to 1e-9 or so.
	for k, want := range map[int]float64{
		2: 2.7718076486993554, 3: 3.314493155398122, 5: 3.857655510378623,
		10: 4.474124221725907, 12: 4.621655471868518, 20: 5.0116887941184425,
	} {
		if got := rangeQuantile(k); math.Abs(got-want) > 1e-7 {
			t.Errorf("range quantile of %d is %.12g, want %.12g", k, got, want)
		}
	}

	for _, c := range []struct {
		x    [][]float64
		want string
	}{
		{nil, "0 method(s)"},
		{[][]float64{x}, "1 method(s)"},
		{[][]float64{x[:1], y[:1]}, "1 block(s)"},
		{[][]float64{x, y[1:]}, "method 1 has 7 values"},
		{[][]float64{x[:2], {1, math.NaN()}}, "method 1: x[1] is NaN"},
	} {
		_, err := Friedman(c.x)
		wantError(t, err, c.want)
	}
}
