package pretext

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

func defaultHLW() HLW {
	return HLW{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5, Mu: 1, Rounds: 5, Step: "frozen"}
}

func weighting(t *testing.T, m HLW, p methods.Problem) Weighting {
	t.Helper()
	l, err := m.Learn(t.Context(), hypergraph(t, p.X, m.K), initialLabels(p, m.Fill))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The nearest point of a convex set is where v - w makes no acute angle with the way to
// any other point; on the simplex it is enough to look at the corners.
func TestSimplexIsTheNearestPoint(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 2, 3, 50, 400} {
		for _, scale := range []float64{0, 1e-3, 1, 100, 1e6} {
			v := make([]float64, n)
			for i := range v {
				v[i] = scale * (linalg.Gaussian(r) + 0.3)
			}
			if n > 2 {
				v[1] = v[0]
			}
			w := simplex(v, float64(n))
			sum, along := 0.0, 0.0
			for i := range w {
				if w[i] < weightFloor {
					t.Fatalf("n %d, scale %g: weight %d is %g", n, scale, i, w[i])
				}
				sum += w[i]
				along += (v[i] - w[i]) * w[i]
			}
			slack := 1e-12*(1+scale)*float64(n) + 2*weightFloor*float64(n)
			if math.Abs(sum-float64(n)) > slack {
				t.Errorf("n %d, scale %g: sum %v", n, scale, sum)
			}
			for i := range w {
				if d := (v[i]-w[i])*float64(n) - along; d > slack*(1+scale)*float64(n) {
					t.Errorf("n %d, scale %g: corner %d is nearer by %g", n, scale, i, d)
				}
			}
		}
	}
}

// The exact step's gain is what the objective, with F at its minimum, loses per unit of a
// weight, but for the part of mu |w|^2. That of the frozen step is not.
func TestGainIsTheGradient(t *testing.T) {
	p := clusters(30, 8, 3, 0.5, 21)
	m := defaultHLW()
	m.Step, m.K = "exact", 4
	O := initialLabels(p, m.Fill)
	r := rand.New(rand.NewPCG(6, 6))
	w := make([]float64, 30)
	for e := range w {
		w[e] = 0.4 + r.Float64()
	}
	h := hypergraph(t, p.X, m.K)
	at := func(w []float64) Weighting {
		l, err := m.solve(t.Context(), Weighting{H: h}, w, O)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	gain := m.gain(at(w), O)
	m.Step = "frozen"
	frozen := m.gain(at(w), O)
	const step = 1e-4
	worst, apart := 0.0, 0.0
	for e := range w {
		up, down := slices.Clone(w), slices.Clone(w)
		up[e] += step
		down[e] -= step
		slope := (at(up).Objective[0] - at(down).Objective[0]) / (2 * step)
		worst = max(worst, math.Abs(2*m.Mu*w[e]-gain[e]-slope))
		apart = max(apart, math.Abs(2*m.Mu*w[e]-frozen[e]-slope))
	}
	if worst > 1e-7 {
		t.Errorf("the gradient differs from finite differences by %.1e", worst)
	}
	if apart < 1e-2 {
		t.Errorf("without the change of Dv it differs by %.1e only", apart)
	}
}

// The objective of the exact step falls, and it ends where the weights reproduce
// themselves; the floor and the ends of the simplex are met on the way for small mu.
func TestExactStepDescends(t *testing.T) {
	p := clusters(60, 10, 3, 0.6, 22)
	for _, mu := range []float64{0.005, 0.05, 1} {
		m := defaultHLW()
		m.Step, m.Mu, m.Rounds = "exact", mu, 200
		l := weighting(t, m, p)
		for i := 1; i < len(l.Objective); i++ {
			if l.Objective[i] > l.Objective[i-1] {
				t.Errorf("mu %g: the objective rises in round %d: %v", mu, i, l.Objective[i-1:i+1])
			}
		}
		if len(l.Objective) < 3 || !(l.Objective[len(l.Objective)-1] < l.Objective[0]-1e-4) {
			t.Errorf("mu %g: the objective went from %g to %g in %d rounds", mu, l.Objective[0], l.Objective[len(l.Objective)-1], len(l.Objective)-1)
		}
		if mu < 0.05 {
			continue // slow to the last digits, on a corner
		}
		gain := m.gain(l, initialLabels(p, m.Fill))
		for e := range gain {
			gain[e] /= 2 * mu
		}
		for e, v := range simplex(gain, 60) {
			if math.Abs(v-l.W[e]) > 1e-4 {
				t.Errorf("mu %g: weight %d is %g, and the projection of its gain %g", mu, e, l.W[e], v)
			}
		}
	}
}

func TestWeights(t *testing.T) {
	p := clusters(80, 12, 4, 0.5, 23)
	hl := labels(t, HL{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}, p)
	for _, step := range []string{"frozen", "exact"} {
		m := defaultHLW()
		m.Step = step
		l := weighting(t, m, p)
		sum := 0.0
		for _, w := range l.W {
			sum += w
		}
		if math.Abs(sum-80) > 1e-5 {
			t.Errorf("%s: the weights sum to %g", step, sum)
		}
		if slices.Max(l.W) < 1.001 {
			t.Errorf("%s: all weights are 1", step)
		}
		if d := distance(l.F, hl); d < 1e-5 {
			t.Errorf("%s: F is that of HL", step)
		}
		// Theta keeps its spectrum in [0, 1] for any weights.
		for _, v := range spectrum(t, formed(HL{}.Laplacian(l.H))) {
			if v < -1e-12 || v > 1+1e-12 {
				t.Errorf("%s: Delta has the eigenvalue %g", step, v)
			}
		}
		m.Mu = 1e9
		if d := distance(labels(t, m, p), hl); d > 1e-8 {
			t.Errorf("%s: F with a large mu differs from HL's by %.1e", step, d)
		}
		// All of the weight goes to few hyperedges; what is left is finite.
		m.Mu = 1e-6
		labels(t, m, p)
	}
}

// awkward lists problems at the edge of what can be given to a pretext.
func awkward() map[string]methods.Problem {
	base := clusters(30, 6, 3, 0.3, 24)
	pick := func(columns ...int) methods.Problem {
		q := base
		q.X, q.Labels = methods.Columns(base.X, columns), make([]int, len(columns))
		for i, j := range columns {
			q.Labels[i] = base.Labels[j]
		}
		return q
	}
	with := func(edit func(p *methods.Problem)) methods.Problem {
		q := base
		q.X, q.Labels = mat.DenseCopyOf(base.X), slices.Clone(base.Labels)
		edit(&q)
		return q
	}
	return map[string]methods.Problem{
		"one sample":        pick(0),
		"two samples":       pick(0, 1),
		"fewer than k":      pick(0, 1, 2, 3),
		"copies":            pick(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 5, 6, 7),
		"only copies":       pick(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		"two equal halves":  pick(0, 3, 6, 9, 12, 15, 18, 0, 3, 6, 9, 12, 15, 18),
		"everything known":  with(knowAll),
		"one class":         with(func(p *methods.Problem) { p.Classes = 1; oneClass(p) }),
		"class without any": with(func(p *methods.Problem) { p.Classes = 5 }),
		"zero columns": with(func(p *methods.Problem) {
			for i := range 6 {
				p.X.Set(i, 0, 0)
				p.X.Set(i, 7, 0)
			}
		}),
		"all zero": with(func(p *methods.Problem) { p.X.Zero() }),
	}
}

// checkAwkward runs m on the awkward problems: all is finite, and a class without labels
// keeps an empty row.
func checkAwkward(t *testing.T, m methods.Pretext) {
	t.Helper()
	unseen := clusters(12, 6, 3, 0.3, 25).X
	for name, p := range awkward() {
		F := labels(t, m, p)
		pseudo, err := m.PseudoLabels(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := pseudo.Score(t.Context(), unseen)
		if err != nil {
			t.Errorf("%s: %+v: %v", name, m, err)
		} else if err := methods.CheckFinite("test", "scores", scores); err != nil {
			t.Errorf("%s: %+v: %v", name, m, err)
		}
		if name == "class without any" && mat.Norm(F.Slice(3, 5, 0, len(p.Labels)), 1) != 0 {
			t.Errorf("%+v: classes without labels have rows that are not 0", m)
		}
	}
}

func TestHLWOnAwkwardProblems(t *testing.T) {
	for _, step := range []string{"frozen", "exact"} {
		for _, mu := range []float64{1e-6, 0.1, 10} {
			m := defaultHLW()
			m.Step, m.Mu = step, mu
			checkAwkward(t, m)
		}
	}
}

// checkInvariance runs m with another order of the samples and with other numbers of
// goroutines.
func checkInvariance(t *testing.T, m methods.Pretext) {
	t.Helper()
	p := clusters(150, 20, 3, 0.4, 26)
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(p.Labels))
	q := p
	q.X, q.Labels = methods.Columns(p.X, order), make([]int, len(order))
	for i, j := range order {
		q.Labels[i] = p.Labels[j]
	}
	want := labels(t, m, p)
	if d := distance(labels(t, m, q), methods.Columns(want, order)); d > 1e-9 {
		t.Errorf("%+v: F changes by %.1e with the order of the samples", m, d)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		for i, v := range labels(t, m, p).RawMatrix().Data {
			if math.Float64bits(v) != math.Float64bits(want.RawMatrix().Data[i]) {
				t.Fatalf("%+v: GOMAXPROCS %d changes the bits of F", m, procs)
			}
		}
	}
}

func TestHLWInvariance(t *testing.T) {
	m := defaultHLW()
	checkInvariance(t, m)
	m.Step = "exact"
	checkInvariance(t, m)
}

// checkErrors gives m what it must refuse.
func checkErrors(t *testing.T, m methods.Pretext) {
	t.Helper()
	p := clusters(30, 6, 3, 0.3, 27)
	nan, none := p, p
	nan.X = mat.DenseCopyOf(p.X)
	nan.X.Set(2, 3, math.NaN())
	none.Labels = slices.Repeat([]int{methods.Unlabeled}, 30)
	for _, q := range []methods.Problem{nan, none} {
		if _, err := m.PseudoLabels(t.Context(), q); !errors.Is(err, methods.ErrInput) {
			t.Errorf("%T: error %v, want ErrInput", m, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.PseudoLabels(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("%T: error %v, want Canceled", m, err)
	}
	F, err := m.PseudoLabels(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := F.Score(t.Context(), mat.NewDense(5, 2, nil)); !errors.Is(err, methods.ErrInput) {
		t.Errorf("%T: scoring five features of six: %v, want ErrInput", m, err)
	}
}

func TestHLWErrors(t *testing.T) { checkErrors(t, defaultHLW()) }
