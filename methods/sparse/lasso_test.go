package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// gaussian returns a rows x cols matrix of standard normals.
func gaussian(r *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = linalg.Gaussian(r)
	}
	return m
}

// lassoObjective is 0.5 tr(S^T G S) - tr(R^T S) + alpha |S|_1.
func lassoObjective(S, G, R *mat.Dense, alpha float64) float64 {
	var GS mat.Dense
	GS.Mul(G, S)
	f := 0.0
	k, n := S.Dims()
	for i := range k {
		for c := range n {
			v := S.At(i, c)
			f += v*(0.5*GS.At(i, c)-R.At(i, c)) + alpha*math.Abs(v)
		}
	}
	return f
}

// lassoCase is a problem with its Gram form.
type lassoCase struct {
	A, Y, G, R *mat.Dense
	yy         []float64
}

func newLassoCase(A, Y *mat.Dense) lassoCase {
	c := lassoCase{A: A, Y: Y, G: linalg.Gram(A), R: new(mat.Dense), yy: linalg.ColumnSquares(Y)}
	c.R.Mul(A.T(), Y)
	return c
}

func (c lassoCase) solve(t testing.TB, lambda float64) (*mat.Dense, Report) {
	t.Helper()
	S, report, err := Lasso{Lambda: lambda}.Solve(context.Background(), c.G, c.R, c.yy)
	if err != nil {
		t.Fatal(err)
	}
	return S, report
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkOptimal tests the optimality conditions from A itself: g = A^T(y - A s) has
// g_i = lambda sign(s_i) where s_i != 0 and |g_i| <= lambda elsewhere. Optimality is
// sufficient: the problem is convex.
func (c lassoCase) checkOptimal(t fataler, S *mat.Dense, lambda, tol float64) {
	t.Helper()
	var E, g mat.Dense
	E.Mul(c.A, S)
	E.Sub(c.Y, &E)
	g.Mul(c.A.T(), &E)
	k, m := S.Dims()
	for i := range k {
		for j := range m {
			bad := math.Abs(g.At(i, j)) - lambda
			if s := S.At(i, j); s != 0 {
				bad = math.Abs(g.At(i, j) - math.Copysign(lambda, s))
			}
			if !(bad <= tol) {
				t.Fatalf("entry (%d, %d): code %g, correlation %.17g, lambda %g: off by %g", i, j, S.At(i, j), g.At(i, j), lambda, bad)
			}
		}
	}
}

// TestLassoOfAnOrthonormalBasis has a closed form: soft(A^T y, lambda).
func TestLassoOfAnOrthonormalBasis(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var qr mat.QR
	qr.Factorize(gaussian(r, 20, 20))
	var Q mat.Dense
	qr.QTo(&Q)
	c := newLassoCase(&Q, gaussian(r, 20, 30))
	for _, lambda := range []float64{1e-6, 0.5, 2} {
		S, _ := c.solve(t, lambda)
		for i := range 20 {
			for j := range 30 {
				v := c.R.At(i, j)
				want := math.Copysign(max(math.Abs(v)-lambda, 0), v)
				if math.Abs(S.At(i, j)-want) > 1e-12 {
					t.Fatalf("lambda %g: code %.17g, want %.17g", lambda, S.At(i, j), want)
				}
			}
		}
	}
}

// TestLassoIsOptimal draws problems of all shapes and degeneracies: more columns than rows,
// repeated, negated, dependent and zero columns, a large common direction, exact ties,
// zero samples, samples that are columns, columns and samples of other scales.
func TestLassoIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim, k, m := rapid.IntRange(1, 24).Draw(t, "dim"), rapid.IntRange(1, 40).Draw(t, "K"), rapid.IntRange(1, 5).Draw(t, "M")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		A, Y := gaussian(r, dim, k), gaussian(r, dim, m)
		if rapid.Bool().Draw(t, "ties") {
			for _, m := range []*mat.Dense{A, Y} {
				m.Apply(func(_, _ int, v float64) float64 { return math.Round(v) }, m)
			}
		}
		common := rapid.SampledFrom([]float64{0, 3}).Draw(t, "common")
		for i := range dim {
			for j := range k {
				A.Set(i, j, A.At(i, j)+common)
			}
		}
		linalg.NormalizeColumns(A)
		linalg.NormalizeColumns(Y)
		column := func(j int) []float64 { return mat.Col(nil, j, A) }
		for range rapid.IntRange(0, 6).Draw(t, "edits") {
			from, to := rapid.IntRange(0, k-1).Draw(t, "from"), rapid.IntRange(0, k-1).Draw(t, "to")
			v := column(from)
			switch rapid.SampledFrom([]string{"copy", "negate", "mix", "zero", "scale", "sample", "no sample"}).Draw(t, "edit") {
			case "copy":
			case "negate":
				for i := range v {
					v[i] = -v[i]
				}
			case "mix":
				for i, x := range column((from + 1) % k) {
					v[i] = (v[i] + x) / 2
				}
			case "zero":
				clear(v)
			case "scale":
				for i := range v {
					v[i] *= 10
				}
			case "sample":
				Y.SetCol(0, v)
			case "no sample":
				Y.SetCol(m-1, make([]float64, dim))
			}
			A.SetCol(to, v)
		}
		scale := rapid.SampledFrom([]float64{1, 1e-3, 1e4}).Draw(t, "scale")
		Y.Scale(scale, Y)
		lambda := scale * math.Ldexp(1, rapid.IntRange(-12, 0).Draw(t, "log2 lambda"))
		c := newLassoCase(A, Y)
		S, report, err := Lasso{Lambda: lambda}.Solve(context.Background(), c.G, c.R, c.yy)
		if err != nil {
			t.Fatalf("%v", err)
		}
		// Rounding of g, a few 1e-16 |A s|, shows in the gap as a fraction of lambda.
		if !(report.WorstGap <= 1e-7) {
			t.Fatalf("%+v", report)
		}
		c.checkOptimal(t, S, lambda, 1e-9*scale)
		for j := range k {
			if c.G.At(j, j) == 0 && mat.Norm(S.RowView(j), 1) != 0 {
				t.Fatalf("a zero column has a code")
			}
		}
	})
}

// TestDescendAlone runs the fallback from zero, without the two steps before it.
func TestDescendAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim, k := rapid.IntRange(1, 24).Draw(t, "dim"), rapid.IntRange(1, 40).Draw(t, "K")
		lambda := math.Ldexp(1, rapid.IntRange(-10, -1).Draw(t, "log2 lambda"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		A, Y := gaussian(r, dim, k), gaussian(r, dim, 1)
		for j := rapid.IntRange(1, k).Draw(t, "repeated"); j < k; j++ {
			A.SetCol(j, mat.Col(nil, j-1, A))
		}
		linalg.NormalizeColumns(A)
		linalg.NormalizeColumns(Y)
		c := newLassoCase(A, Y)
		g := c.G.RawMatrix()
		p := newPatternCoder(g, lambda)
		S := mat.NewDense(k, 1, nil)
		p.load(S.RawMatrix(), c.R.RawMatrix(), 0)
		if gap := p.descend(context.Background(), c.yy[0]); !(gap <= 1e-9) {
			t.Fatalf("gap %g", gap)
		}
		p.store(S.RawMatrix(), 0)
		c.checkOptimal(t, S, lambda, 1e-9)
		other, _, err := Lasso{Lambda: lambda}.Solve(context.Background(), c.G, c.R, c.yy)
		if err != nil {
			t.Fatalf("%v", err)
		}
		f, want := lassoObjective(S, c.G, c.R, lambda), lassoObjective(other, c.G, c.R, lambda)
		if math.Abs(f-want) > 1e-12 {
			t.Fatalf("objective %.17g, by the other way %.17g", f, want)
		}
	})
}

// TestBothFormsOfTheSystem settles with the inverse of G, of full rank and singular, and without it.
func TestBothFormsOfTheSystem(t *testing.T) {
	const lambda = 0.01
	for _, dim := range []int{500, 300} {
		r := rand.New(rand.NewPCG(3, uint64(dim)))
		const k, m = 400, 8
		A, Y := gaussian(r, dim, k), gaussian(r, dim, m)
		linalg.NormalizeColumns(A)
		c := newLassoCase(A, Y)
		want, report := c.solve(t, lambda)
		if report.Unconverged > 0 {
			t.Fatalf("%+v", report)
		}
		g := c.G.RawMatrix()
		refused := &gramInverse{g: g}
		refused.once.Do(func() {})
		for form, inverse := range []*gramInverse{{g: g}, refused} {
			S, gaps := mat.DenseCopyOf(want), make([]float64, m)
			for j := range m {
				if dim < k {
					break // a wrong sign may be one too many for a singular G
				}
				S.Set(0, j, 1-math.Abs(sign(S.At(0, j))))
				S.Set(k/2, j, 1-math.Abs(sign(S.At(k/2, j))))
			}
			p := newSettler(g, linalg.NewMultiplier(c.G), inverse, lambda)
			settled := p.run(context.Background(), c.R.RawMatrix(), S.RawMatrix(), c.yy, gaps, []int{0, 1, 2, 3, 4, 5, 6, 7}, 0)
			for j, ok := range settled {
				if !ok || gaps[j] > 1e-10 {
					t.Errorf("dim %d, form %d, sample %d: settled %t, gap %g", dim, form, j, ok, gaps[j])
				}
				if p.slots[j].byRest != (form == 0) {
					t.Errorf("dim %d, sample %d: form %d was not taken", dim, j, form)
				}
			}
			if !mat.EqualApprox(S, want, 1e-9) {
				t.Errorf("dim %d: form %d gives other codes", dim, form)
			}
		}
	}
}

// TestLassoCodesOneByOne: neither the company of a sample nor the number of goroutines
// touches a bit of its code.
func TestLassoCodesOneByOne(t *testing.T) {
	const k, m = 90, 300
	r := rand.New(rand.NewPCG(4, 4))
	A, Y := gaussian(r, 70, k), gaussian(r, 70, m)
	linalg.NormalizeColumns(A)
	linalg.NormalizeColumns(Y)
	c := newLassoCase(A, Y)
	const lambda = 0.03
	S, _ := c.solve(t, lambda)
	for _, procs := range []int{1, 3} {
		old := runtime.GOMAXPROCS(procs)
		again, _ := c.solve(t, lambda)
		runtime.GOMAXPROCS(old)
		if !mat.Equal(S, again) {
			t.Errorf("the codes differ with GOMAXPROCS=%d", procs)
		}
	}
	for _, j := range []int{0, 17, 256, 299} {
		R := mat.DenseCopyOf(c.R.Slice(0, k, j, j+1))
		alone, _, err := Lasso{Lambda: lambda}.Solve(context.Background(), c.G, R, c.yy[j:j+1])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone.RawMatrix().Data, mat.Col(nil, j, S)) {
			t.Errorf("the code of sample %d depends on the other samples", j)
		}
	}
}

func TestLassoTinyAndLargeLambda(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, k := range []int{10, 60} {
		A, Y := gaussian(r, 30, k), gaussian(r, 30, 6)
		linalg.NormalizeColumns(A)
		c := newLassoCase(A, Y)
		S, report := c.solve(t, 2*mat.Max(c.R)+2*math.Abs(mat.Min(c.R)))
		if mat.Norm(S, 1) != 0 || report.WorstGap != 0 || report.Unconverged != 0 {
			t.Errorf("K=%d: a lambda above every correlation leaves %g, %+v", k, mat.Norm(S, 1), report)
		}
		// At a lambda next to nothing the gap is a fraction of an objective next to
		// nothing: the report may say so, but the code must fit and be finite.
		S, report = c.solve(t, math.Ldexp(1, -60))
		if err := methods.CheckFinite("lasso", "S", S); err != nil {
			t.Error(err)
		}
		if math.IsNaN(report.WorstGap) {
			t.Errorf("K=%d: %+v", k, report)
		}
		c.checkOptimal(t, S, 0, 1e-8)
	}
}

func TestLassoRefuses(t *testing.T) {
	G, R := mat.NewDense(2, 2, []float64{1, 0, 0, 1}), mat.NewDense(2, 1, []float64{1, 1})
	indefinite := mat.NewDense(2, 2, []float64{1, 9, 9, 1})
	for name, solve := range map[string]func() error{
		"lambda 0": func() error {
			_, _, err := Lasso{}.Solve(context.Background(), G, R, []float64{1})
			return err
		},
		"lambda NaN": func() error {
			_, _, err := Lasso{Lambda: math.NaN()}.Solve(context.Background(), G, R, []float64{1})
			return err
		},
		"norms missing": func() error {
			_, _, err := Lasso{Lambda: 1}.Solve(context.Background(), G, R, nil)
			return err
		},
		"NaN in R": func() error {
			_, _, err := Lasso{Lambda: 1}.Solve(context.Background(), G, mat.NewDense(2, 1, []float64{1, math.NaN()}), []float64{1})
			return err
		},
		"no Gram matrix": func() error {
			_, _, err := Lasso{Lambda: 0.1}.Solve(context.Background(), indefinite, R, []float64{1})
			return err
		},
	} {
		if err := solve(); !errors.Is(err, methods.ErrInput) {
			t.Errorf("%s: error %v, want one that wraps ErrInput", name, err)
		}
	}
}

func TestLassoCancelled(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	A, Y := gaussian(r, 300, 600), gaussian(r, 300, 400)
	linalg.NormalizeColumns(A)
	c := newLassoCase(A, Y)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, _, err := Lasso{Lambda: 1e-5}.Solve(ctx, c.G, c.R, c.yy)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v after %v", err, time.Since(begin))
	}
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("took %v to stop", d)
	}
}

// With more columns than features and a tiny lambda a code has nearly as many entries as there are features.
func TestLassoOfManyColumns(t *testing.T) {
	const dim, k, m = 150, 250, 30
	r := rand.New(rand.NewPCG(11, 12))
	A, Y := gaussian(r, dim, k), gaussian(r, dim, m)
	linalg.NormalizeColumns(A)
	linalg.NormalizeColumns(Y)
	c := newLassoCase(A, Y)
	for _, e := range []int{-9, -14} {
		lambda := math.Ldexp(1, e)
		S, report := c.solve(t, lambda)
		if report.Unconverged > 0 || report.Support < 0.9*dim || report.Support > dim {
			t.Errorf("lambda 2^%d: %+v", e, report)
		}
		c.checkOptimal(t, S, lambda, 1e-12)
	}
}

// The splitting ends at the minimum, and counts the entries that it still changes.
func TestSplittingEndsAtTheMinimum(t *testing.T) {
	const dim, k, m, lambda = 60, 90, 5, 0.05
	r := rand.New(rand.NewPCG(13, 14))
	A, Y := gaussian(r, dim, k), gaussian(r, dim, m)
	linalg.NormalizeColumns(A)
	linalg.NormalizeColumns(Y)
	c := newLassoCase(A, Y)
	p, ok := newSplitting(c.G.RawMatrix(), lambda, 1, 1)
	if !ok {
		t.Fatal("no inverse")
	}
	V, all := mat.NewDense(k, m, nil), []int{0, 1, 2, 3, 4}
	changing := 0
	for _, f := range p.run(context.Background(), c.R.RawMatrix(), V.RawMatrix(), all, watchedPasses) {
		changing += f.changes
	}
	if changing == 0 {
		t.Error("the first passes change no support")
	}
	last := p.run(context.Background(), c.R.RawMatrix(), V.RawMatrix(), all, 3000)
	p.soft(V.RawMatrix(), all)
	c.checkOptimal(t, V, lambda, 1e-9)
	for j, f := range last {
		nonzeros := 0
		for i := range k {
			if V.At(i, j) != 0 {
				nonzeros++
			}
		}
		if f.changes != 0 || f.support != nonzeros {
			t.Errorf("sample %d of %d entries: %+v", j, nonzeros, f)
		}
	}
}

// A sparse code grown from zero is the code that the splitting and settle find, and grow
// gives up on a dense one.
func TestGrowFindsTheSameCode(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	A, Y := gaussian(r, 80, 300), gaussian(r, 80, 6)
	linalg.NormalizeColumns(A)
	linalg.NormalizeColumns(Y)
	c := newLassoCase(A, Y)
	for _, lambda := range []float64{0.3, 0.22} {
		want, report, err := Lasso{Lambda: lambda}.Solve(context.Background(), c.G, c.R, c.yy)
		if err != nil || report.Unconverged > 0 {
			t.Fatal(report, err)
		}
		p := newPatternCoder(c.G.RawMatrix(), lambda)
		for j := range 6 {
			p.load(want.RawMatrix(), c.R.RawMatrix(), j)
			if gap := p.grow(context.Background(), c.yy[j]); !(gap <= 1e-12) {
				t.Fatalf("lambda %g, sample %d: gap %g", lambda, j, gap)
			}
			for i, v := range p.s {
				if math.Abs(v-want.At(i, j)) > 1e-12 {
					t.Fatalf("lambda %g, sample %d: entry %d is %g, want %g", lambda, j, i, v, want.At(i, j))
				}
			}
		}
	}
	many := newLassoCase(gaussian(r, 400, 300), gaussian(r, 400, 1))
	p := newPatternCoder(many.G.RawMatrix(), 1e-6)
	p.load(mat.NewDense(300, 1, nil).RawMatrix(), many.R.RawMatrix(), 0)
	if gap := p.grow(context.Background(), many.yy[0]); !math.IsNaN(gap) {
		t.Fatalf("grow went on to a support of %d", len(p.support))
	}
}

// keep reports the gap of a code that is left as it is.
func TestKeepMeasuresTheGap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	c := newLassoCase(gaussian(r, 30, 20), gaussian(r, 30, 1))
	const lambda = 0.3
	S, _, err := Lasso{Lambda: lambda}.Solve(context.Background(), c.G, c.R, c.yy)
	if err != nil {
		t.Fatal(err)
	}
	p := newPatternCoder(c.G.RawMatrix(), lambda)
	p.load(S.RawMatrix(), c.R.RawMatrix(), 0)
	if gap := p.keep(context.Background(), c.yy[0]); gap > 1e-12 {
		t.Fatalf("the gap of a solved code is %g", gap)
	}
	p.start[0] += 0.1
	if gap := p.keep(context.Background(), c.yy[0]); gap < 1e-6 || math.IsNaN(gap) {
		t.Fatalf("the gap of a spoilt code is %g", gap)
	}
}
