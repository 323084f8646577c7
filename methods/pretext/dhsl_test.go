package pretext

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
)

func defaultDHSL() DHSL {
	return DHSL{K: 5, Lambda: 0.1, Fill: 0.5, Beta: 0.5, Step: 0.3, Backtrack: true, Outer: 3, Inner: 2, Mask: 15, Anchor: "equal"}
}

func structure(t *testing.T, m DHSL, p methods.Problem) Structure {
	t.Helper()
	s, err := m.Learn(t.Context(), p, initialLabels(p, m.Fill))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start returns the candidates of p and the incidences that m begins with.
func start(t *testing.T, m DHSL, p methods.Problem) (*candidates, *CSR) {
	t.Helper()
	nb, err := selfNeighbours(t.Context(), p.X, m.Mask, false)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCandidates(t.Context(), p.X, nb)
	if err != nil {
		t.Fatal(err)
	}
	return c, c.incidence(nb, m.K)
}

// similarity is tr(Theta(H) C) by its definition, with matrices of N x N.
func similarity(H, C *mat.Dense) float64 {
	n, edges := H.Dims()
	B := mat.NewDense(n, edges, nil)
	for v := range n {
		for e := range edges {
			if h := H.At(v, e); h > 0 {
				B.Set(v, e, h/math.Sqrt(mat.Sum(H.RowView(v))*mat.Sum(H.ColView(e))))
			}
		}
	}
	var theta mat.Dense
	theta.Mul(B, B.T())
	theta.Mul(&theta, C)
	return mat.Trace(&theta)
}

// fusion is C of DHSL.
func fusion(F, X *mat.Dense, beta float64) *mat.Dense {
	var c, x mat.Dense
	c.Mul(F.T(), F)
	c.Scale(1-beta, &c)
	x.Mul(X.T(), X)
	x.Scale(beta, &x)
	c.Add(&c, &x)
	return &c
}

// At incidences that are no start, J is the trace and its gradient what finite differences
// of the trace give, for members and for candidates outside.
func TestSimilarityAndItsGradient(t *testing.T) {
	p := clusters(25, 7, 3, 0.5, 31)
	m := defaultDHSL()
	m.Mask = 9
	c, H := start(t, m, p)
	r := rand.New(rand.NewPCG(2, 2))
	for i, v := range H.Val {
		if v > 0 {
			H.Val[i] = 0.2 + 0.7*r.Float64()
		} else if r.IntN(2) == 0 {
			H.Val[i] = 0.3 * r.Float64()
		}
	}
	for _, beta := range []float64{0, 0.3, 1} {
		F := random(3, 25, 4)
		C := fusion(F, p.X, beta)
		a := c.ascent(H, transposed(F), beta)
		formed := mat.DenseCopyOf(full(H).T())
		if d := math.Abs(a.J - similarity(formed, C)); d > 1e-12 {
			t.Errorf("beta %g: J is off by %.1e", beta, d)
		}
		slope := a.gradient()
		const step = 1e-5
		for i, v := range H.Col {
			e := i / c.size
			value := func(h float64) float64 {
				formed.Set(int(v), e, h)
				return similarity(formed, C)
			}
			h := H.Val[i]
			var want float64
			if h > step {
				want = (value(h+step) - value(h-step)) / (2 * step)
			} else { // second order from one side
				want = (4*value(h+step) - value(h+2*step) - 3*value(h)) / (2 * step)
			}
			value(h)
			if d := math.Abs(slope[i] - want); d > 2e-8 {
				t.Errorf("beta %g, vertex %d, hyperedge %d (H = %g): slope %g, finite differences %g", beta, v, e, h, slope[i], want)
			}
		}
	}
}

// Backtracking lets J rise only; whole steps of that length make it fall.
func TestBacktracking(t *testing.T) {
	p := clusters(60, 10, 3, 0.8, 32)
	falls := func(m DHSL) (n int) {
		for _, values := range structure(t, m, p).Similarity {
			for i := 1; i < len(values); i++ {
				if values[i] < values[i-1] {
					n++
				}
			}
		}
		return n
	}
	for _, step := range []float64{0.1, 0.3, 3, 100, 1e4} {
		m := defaultDHSL()
		m.Beta, m.Step, m.Inner = 0.2, step, 5
		if n := falls(m); n > 0 {
			t.Errorf("step %g: J fell %d times", step, n)
		}
	}
	m := defaultDHSL()
	m.Beta, m.Step, m.Inner, m.Backtrack = 0.2, 1e4, 5, false
	if falls(m) == 0 {
		t.Error("J never falls with whole steps: the test shows nothing")
	}
}

// Hyperedges take samples in, and F is another than HL's; steps of no length leave HL.
func TestHyperedgesChange(t *testing.T) {
	p := clusters(60, 10, 3, 0.8, 33)
	m := defaultDHSL()
	s := structure(t, m, p)
	_, H := start(t, m, p)
	joined, left, moved := 0, 0, 0.0
	for i, v := range s.H.Val {
		if v < 0 || v > 1 {
			t.Fatalf("incidence %g", v)
		}
		if H.Val[i] == 0 && v > 0 {
			joined++
		}
		if H.Val[i] > 0 && v == 0 {
			left++
		}
		moved = max(moved, math.Abs(v-H.Val[i]))
	}
	if joined == 0 || moved < 0.01 {
		t.Errorf("%d joined, %d left, incidences moved by %g at most", joined, left, moved)
	}
	if len(s.Similarity) != m.Outer || len(s.Similarity[0]) != m.Inner+1 || s.Steps[0][0] != m.Step {
		t.Errorf("%v, steps %v", s.Similarity, s.Steps)
	}
	hl := labels(t, HL{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}, p)
	if distance(s.F, hl) < 1e-3 {
		t.Error("F is that of HL")
	}
	m.Step = 1e-12
	if d := distance(structure(t, m, p).F, hl); d > 1e-9 {
		t.Errorf("without steps F differs from HL's by %.1e", d)
	}
}

// With all samples as candidates the mask leaves nothing out, and more of them than there
// are change nothing.
func TestMaskBeyondAllSamples(t *testing.T) {
	p := clusters(40, 8, 2, 0.5, 34)
	m := defaultDHSL()
	m.Mask = 39
	all := labels(t, m, p)
	m.Mask = 200
	if distance(labels(t, m, p), all) != 0 {
		t.Error("F depends on candidates that are not there")
	}
	m.Mask = 15
	if d := distance(labels(t, m, p), all); d == 0 || d > 0.2 {
		t.Errorf("the mask changes F by %g", d)
	}
}

// F (lambda A + Delta) = lambda O A, by elimination.
func TestAnchor(t *testing.T) {
	p := clusters(40, 8, 2, 0.5, 35)
	m := defaultDHSL()
	m.Anchor = "thu"
	s := structure(t, m, p)
	M := formed(HL{}.Laplacian(learned(s.H)))
	right := initialLabels(p, m.Fill)
	for j, y := range p.Labels {
		a := 1e-4
		if y == methods.Unlabeled {
			a = 1
		}
		M.Set(j, j, M.At(j, j)+m.Lambda*a)
		for c := range 2 {
			right.Set(c, j, m.Lambda*a*right.At(c, j))
		}
	}
	var want mat.Dense
	if err := want.Solve(M, right.T()); err != nil {
		t.Fatal(err)
	}
	if d := distance(s.F, want.T()); d > 1e-10 {
		t.Errorf("F differs from the solution by %.1e", d)
	}
	m.Anchor = "equal"
	if d := distance(s.F, labels(t, m, p)); d < 0.1 {
		t.Errorf("the anchor changes F by %g only", d)
	}
}

// A vertex in no hyperedge keeps lambda/(1+lambda) of its label, a hyperedge without
// vertices joins nothing, and neither makes a value that is not finite.
func TestEmptyHyperedges(t *testing.T) {
	p := clusters(20, 6, 2, 0.4, 36)
	m := defaultDHSL()
	m.Mask = 8
	c, H := start(t, m, p)
	for i, v := range H.Col {
		if v == 0 || i/c.size == 5 {
			H.Val[i] = 0
		}
	}
	F := random(2, 20, 1)
	a := c.ascent(H, transposed(F), 0.5)
	slope := a.gradient()
	for _, v := range slices.Concat(slope, []float64{a.J}) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatal("a value that is not finite")
		}
	}
	for i := 5 * c.size; i < 6*c.size; i++ {
		if slope[i] != 0 {
			t.Errorf("the empty hyperedge has the slope %g", slope[i])
		}
	}
	O := initialLabels(p, 0.5)
	s, err := m.solve(t.Context(), H, p, O)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if d := math.Abs(s.F.At(i, 0) - m.Lambda/(1+m.Lambda)*O.At(i, 0)); d > 1e-12 {
			t.Errorf("row %d of the lone vertex is off by %.1e", i, d)
		}
	}
}

func TestDHSLOnAwkwardProblems(t *testing.T) {
	for _, beta := range []float64{0, 0.5, 1} {
		for _, step := range []float64{0.3, 1e3} {
			m := defaultDHSL()
			m.Beta, m.Step = beta, step
			checkAwkward(t, m)
			m.Backtrack = false
			checkAwkward(t, m)
		}
	}
	m := defaultDHSL()
	m.Anchor = "thu"
	checkAwkward(t, m)
}

func TestDHSLInvariance(t *testing.T) {
	m := defaultDHSL()
	checkInvariance(t, m)
	m.Anchor = "thu"
	checkInvariance(t, m)
}

func TestDHSLErrors(t *testing.T) {
	checkErrors(t, defaultDHSL())
	m := defaultDHSL()
	m.Mask = m.K - 1
	if _, err := m.PseudoLabels(t.Context(), clusters(30, 6, 3, 0.3, 37)); !errors.Is(err, methods.ErrInput) || !strings.HasPrefix(err.Error(), "dhsl: ") {
		t.Errorf("mask below k: error %v, want ErrInput of dhsl", err)
	}
}
