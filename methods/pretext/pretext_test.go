package pretext

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// clusters is a problem of n samples around one non-negative centre per class, every
// third sample labelled.
func clusters(n, dim, classes int, spread float64, seed uint64) methods.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	centres := mat.NewDense(dim, classes, nil)
	for i := range dim {
		for c := range classes {
			centres.Set(i, c, 0.5+max(linalg.Gaussian(r), 0))
		}
	}
	p := methods.Problem{X: mat.NewDense(dim, n, nil), Labels: make([]int, n), Classes: classes}
	for j := range n {
		c := j % classes
		p.Labels[j] = methods.Unlabeled
		if j/classes%3 == 0 {
			p.Labels[j] = c
		}
		for i := range dim {
			p.X.Set(i, j, max(centres.At(i, c)+spread*linalg.Gaussian(r), 0))
		}
	}
	linalg.NormalizeColumns(p.X)
	return p
}

func random(n, m int, seed uint64) *mat.Dense {
	r := rand.New(rand.NewPCG(seed, 3))
	A := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			A.Set(i, j, linalg.Gaussian(r))
		}
	}
	return A
}

func frame(t *testing.T, n, m int, seed uint64) *mat.Dense {
	t.Helper()
	Q, err := orthonormalised(random(n, m, seed))
	if err != nil {
		t.Fatal(err)
	}
	return Q
}

func defaultPAHL() PAHL {
	return PAHL{
		K: 5, P: 2.2, Lambda: 0.1, Fill: 0.5, M: 20, T: 10, Step: "luo", Beta: 0.01,
		Gradient: "exact", Retraction: "qr", Operator: "edge",
	}
}

// labels runs a pretext on p.
func labels(t *testing.T, m methods.Pretext, p methods.Problem) *mat.Dense {
	t.Helper()
	F, err := m.PseudoLabels(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := methods.CheckFinite("test", "F", F.F); err != nil {
		t.Fatal(err)
	}
	return F.F
}

func hypergraph(t *testing.T, X *mat.Dense, k int) *Hypergraph {
	t.Helper()
	h, err := NewHypergraph(t.Context(), X, k, "unit")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func eigenpairs(t *testing.T, W *CSR, m int) Embedding {
	t.Helper()
	e, err := Eigenpairs(t.Context(), W, m)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func descended(t *testing.T, m PAHL, W *CSR, start Embedding) Embedding {
	t.Helper()
	e, err := m.Descend(t.Context(), W, start)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// formed returns the matrix of l.
func formed(l Laplacian) *mat.Dense {
	one, out := identity(l.N), mat.NewDense(l.N, l.N, nil)
	l.Apply(out, one)
	return out
}

func identity(n int) *mat.Dense {
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	return one
}

func full(a *CSR) *mat.Dense {
	d := mat.NewDense(a.Rows, a.Cols, nil)
	a.mul(d, identity(a.Cols))
	return d
}

func spectrum(t *testing.T, A mat.Matrix) []float64 {
	t.Helper()
	n, _ := A.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (A.At(i, j)+A.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		t.Fatal("no eigenvalues")
	}
	return e.Values(nil)
}

func distance(A, B mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(A, B)
	worst := 0.0
	for _, v := range d.RawMatrix().Data {
		if !(math.Abs(v) <= worst) {
			worst = math.Abs(v)
		}
	}
	return worst
}

// The fill adds the same to all rows of F.
func TestFillNeverChangesTheArgmax(t *testing.T) {
	p := clusters(90, 12, 3, 0.6, 6)
	for _, m := range []struct {
		name string
		with func(fill float64) methods.Pretext
	}{
		{"gl", func(fill float64) methods.Pretext { return GL{K: 5, Graph: "knn", Lambda: 0.1, Fill: fill} }},
		{"hl", func(fill float64) methods.Pretext {
			return HL{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: fill}
		}},
		{"pahl", func(fill float64) methods.Pretext { m := defaultPAHL(); m.Fill = fill; return m }},
	} {
		none, half := labels(t, m.with(0), p), labels(t, m.with(0.5), p)
		if !slices.Equal(methods.Harden(none), methods.Harden(half)) {
			t.Errorf("%s: argmax depends on the fill", m.name)
		}
		var d mat.Dense
		d.Sub(half, none)
		if mat.Max(&d) < 0.01 {
			t.Errorf("%s: the fill changes nothing", m.name)
		}
		for j := range p.Labels {
			if math.Abs(d.At(0, j)-d.At(1, j)) > 1e-11 {
				t.Fatalf("%s: the fill adds %g and %g to two rows of column %d", m.name, d.At(0, j), d.At(1, j), j)
			}
		}
	}
}

func TestGLAlpha(t *testing.T) {
	p := clusters(40, 8, 2, 0.3, 7)
	m := GL{K: 4, Graph: "knn", Lambda: 0.25, Fill: 0}
	l, err := m.Laplacian(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	// F <- alpha F S + (1-alpha) O, started at 0, converges to F.
	alpha := 1 / (1 + m.Lambda)
	S := identity(l.N)
	S.Sub(S, formed(l))
	O := initialLabels(p, 0)
	F := mat.NewDense(2, l.N, nil)
	for range 300 {
		var next mat.Dense
		next.Mul(F, S)
		next.Scale(alpha, &next)
		for c := range 2 {
			for j := range l.N {
				next.Set(c, j, next.At(c, j)+(1-alpha)*O.At(c, j))
			}
		}
		F.Copy(&next)
	}
	if d := distance(labels(t, m, p), F); d > 1e-12 {
		t.Errorf("F differs from the limit of the iteration by %.1e", d)
	}
}

func TestBitsDoNotDependOnGoroutines(t *testing.T) {
	p := clusters(300, 40, 4, 0.4, 8)
	run := func() []float64 {
		m := defaultPAHL()
		m.M, m.T = 40, 4
		m.P = 1.8
		var out []float64
		for _, m := range []methods.Pretext{m, HL{K: 5, Bandwidth: "mean", Lambda: 0.1, Fill: 0.5}, GL{K: 5, Graph: "rbf", Lambda: 0.1, Fill: 0.5}} {
			F, err := m.PseudoLabels(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			scores, err := F.Score(t.Context(), p.X)
			if err != nil {
				t.Fatal(err)
			}
			out = slices.Concat(out, F.F.RawMatrix().Data, scores.RawMatrix().Data)
		}
		return out
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := run()
	for _, procs := range []int{2, 5} {
		runtime.GOMAXPROCS(procs)
		for i, v := range run() {
			if math.Float64bits(v) != math.Float64bits(want[i]) {
				t.Fatalf("GOMAXPROCS %d: value %d is %v, was %v", procs, i, v, want[i])
			}
		}
	}
}

// The order of the samples is of no consequence.
func TestPermutedSamples(t *testing.T) {
	p := clusters(80, 12, 3, 0.4, 9)
	r := rand.New(rand.NewPCG(1, 1))
	order := r.Perm(len(p.Labels))
	q := p
	q.X, q.Labels = methods.Columns(p.X, order), make([]int, len(order))
	for i, j := range order {
		q.Labels[i] = p.Labels[j]
	}
	vertex := defaultPAHL()
	vertex.Operator = "vertex"
	for _, m := range []methods.Pretext{
		GL{K: 5, Graph: "knn", Lambda: 0.1, Fill: 0.5},
		HL{K: 5, Bandwidth: "knn", Lambda: 0.1, Fill: 0.5},
		defaultPAHL(), vertex,
	} {
		if d := distance(labels(t, m, q), methods.Columns(labels(t, m, p), order)); d > 1e-7 {
			t.Errorf("%T: F changes by %.1e with the order of the samples", m, d)
		}
	}
}

// A grid over lambda builds the embedding once, one over p the eigenpairs, and nothing of
// that changes a bit.
func TestSharedStages(t *testing.T) {
	p := clusters(80, 12, 3, 0.4, 12)
	shared := p
	builds := map[string]int{}
	kept := map[string]any{}
	shared.Share = func(_ context.Context, key string, build func() (any, int64, error)) (any, error) {
		if v, ok := kept[key]; ok {
			return v, nil
		}
		v, bytes, err := build()
		if bytes <= 0 {
			t.Errorf("%s holds %d bytes", key, bytes)
		}
		builds[key]++
		kept[key] = v
		return v, err
	}
	for _, power := range []float64{1.8, 2.2} {
		for _, lambda := range []float64{0.01, 0.1, 1} {
			m := defaultPAHL()
			m.P, m.Lambda = power, lambda
			alone, f1 := p, 0
			alone.Trace = func(name string, _ int, _ float64) {
				if name == "f1" {
					f1++
				}
			}
			want := labels(t, m, alone)
			again := 0
			shared.Trace = func(name string, _ int, _ float64) {
				if name == "f1" {
					again++
				}
			}
			if d := distance(labels(t, m, shared), want); d != 0 {
				t.Errorf("p %g, lambda %g: sharing changes F by %.1e", power, lambda, d)
			}
			if f1 != m.T+1 || again != f1 {
				t.Errorf("%d values of f1 alone, %d shared, want %d", f1, again, m.T+1)
			}
			labels(t, HL{K: 5, Bandwidth: "unit", Lambda: lambda, Fill: 0.5}, shared)
			labels(t, GL{K: 5, Graph: "knn", Lambda: lambda, Fill: 0.5}, shared)
		}
	}
	// neighbours, hypergraph, eigenpairs, two embeddings, the graph of GL
	if len(builds) != 6 {
		t.Errorf("%d values built, want 6: %v", len(builds), builds)
	}
	for key, n := range builds {
		if n != 1 {
			t.Errorf("%s was built %d times", key, n)
		}
	}
}

func TestScoreIsAWeightedMean(t *testing.T) {
	p := clusters(40, 8, 2, 0.3, 13)
	F, err := HL{K: 3, Bandwidth: "knn", Lambda: 0.1, Fill: 0.5}.PseudoLabels(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHypergraph(t.Context(), p.X, 3, "knn")
	if err != nil {
		t.Fatal(err)
	}
	unseen := clusters(5, 8, 2, 0.3, 14).X
	scores, err := F.Score(t.Context(), unseen)
	if err != nil {
		t.Fatal(err)
	}
	for q := range 5 {
		type near struct {
			d2 float64
			j  int
		}
		var all []near
		for j := range 40 {
			d2 := 0.0
			for i := range 8 {
				d := unseen.At(i, q) - p.X.At(i, j)
				d2 += d * d
			}
			all = append(all, near{d2, j})
		}
		slices.SortFunc(all, func(a, b near) int {
			if a.d2 < b.d2 {
				return -1
			}
			return 1
		})
		sum, total := 0.0, 0.0
		for _, a := range all[:3] {
			w := math.Exp(-a.d2 / h.Sigma2)
			sum += w * F.F.At(1, a.j)
			total += w
		}
		if d := math.Abs(scores.At(1, q) - sum/total); d > 1e-13 {
			t.Errorf("score of sample %d is off by %.1e", q, d)
		}
	}
	// One neighbour: a training sample scores its own column.
	own, err := outOfSample("hl", p.X, F.F, 1, 1)(t.Context(), p.X)
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(own, F.F); d != 0 {
		t.Errorf("own columns are off by %.1e", d)
	}
}

func ExampleHL() {
	// Two groups of three samples each, the first of each labelled.
	X := mat.NewDense(2, 6, []float64{1, 0.9, 0.95, 0, 0.1, 0.05, 0, 0.1, 0.05, 1, 0.9, 0.95})
	linalg.NormalizeColumns(X)
	p := methods.Problem{X: X, Labels: []int{0, -1, -1, 1, -1, -1}, Classes: 2}
	F, err := HL{K: 2, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}.PseudoLabels(context.Background(), p)
	fmt.Println(methods.Harden(F.F), err)
	// Output: [0 0 0 1 1 1] <nil>
}
