package dictionary

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// clusters makes n samples per class around one direction for each, of unit norm.
func clusters(seed uint64, dim, classes, n int) methods.Problem {
	r := rand.New(rand.NewPCG(seed, 1))
	centres := unit(r, dim, classes, 1)
	p := methods.Problem{X: mat.NewDense(dim, classes*n, nil), Classes: classes, Rand: rand.New(rand.NewPCG(seed, 2))}
	for j := range classes * n {
		c := j % classes
		p.Labels = append(p.Labels, c)
		for i := range dim {
			p.X.Set(i, j, centres.At(i, c)+0.15*linalg.Gaussian(r))
		}
	}
	linalg.NormalizeColumns(p.X)
	return p
}

func permuted(p methods.Problem, order []int, names []int) methods.Problem {
	q := p
	q.X = methods.Columns(p.X, order)
	q.Labels = make([]int, len(order))
	for i, j := range order {
		q.Labels[i] = names[p.Labels[j]]
	}
	return q
}

func ssdl(variant string) SSDL {
	m := SSDL{Norm: "ball", Targets: "unit", Test: "exact", Alpha: 0x1p-7, Gamma: 0x1p-6, Size: 0.5, SizeOf: "all", Init: "gaussian", Iterations: 20, Tolerance: 1e-6}
	if variant == asPrinted {
		m.Norm, m.Targets, m.Test = "sphere", "raw", "sweeps"
	}
	if variant == fromColumns {
		m.Init = "columns"
	}
	return m
}

const asPrinted, fromColumns = "as-printed", "from-columns"

var variants = []string{"as-intended", asPrinted, fromColumns}

// predict fits with F = one-hot labels and predicts X.
func predict(t *testing.T, m methods.Learner, p methods.Problem, X *mat.Dense) []int {
	t.Helper()
	model, err := methods.Supervised("ssdl", m).Fit(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := model.Predict(context.Background(), X)
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range got {
		if c < 0 || c >= p.Classes {
			t.Fatalf("prediction %d is %d, want a class below %d", j, c, p.Classes)
		}
	}
	return got
}

func TestSSDLSeparatesClusters(t *testing.T) {
	p := clusters(1, 20, 3, 30)
	for _, variant := range variants {
		if a := accuracy(predict(t, ssdl(variant), p, p.X), p.Labels); a < 0.97 {
			t.Errorf("%s: %.3f of three separate clusters right", variant, a)
		}
	}
}

// Predictions follow a permutation of the samples and a renaming of the classes.
func TestSSDLEquivariance(t *testing.T) {
	test := clusters(2, 20, 4, 40)
	order, names := rand.New(rand.NewPCG(3, 3)).Perm(160), []int{2, 0, 3, 1}
	for _, variant := range variants {
		p, q := clusters(2, 20, 4, 40), clusters(2, 20, 4, 40)
		q = permuted(q, order, names)
		for j := range 160 { // the same half labelled in both
			if order[j]%8 > 3 {
				q.Labels[j] = methods.Unlabeled
			}
			if j%8 > 3 {
				p.Labels[j] = methods.Unlabeled
			}
		}
		want, got := predict(t, ssdl(variant), p, test.X), predict(t, ssdl(variant), q, test.X)
		for j := range want {
			if got[j] != names[want[j]] {
				t.Errorf("%s: sample %d goes to class %d, and to %d, renamed %d, when the classes are renamed",
					variant, j, want[j], got[j], names[want[j]])
			}
		}
	}
}

// As intended, the length of the columns of F does not matter; as printed it does.
func TestSSDLScaleOfTargets(t *testing.T) {
	fit := func(variant string, factor float64) *Steps {
		p := clusters(4, 12, 3, 20)
		F := methods.OneHot(p.Labels, 3, 0)
		F.Scale(factor, F)
		model, err := ssdl(variant).FitTargets(context.Background(), p, F)
		if err != nil {
			t.Fatal(err)
		}
		m := model.(*ssdlModel)
		return &Steps{d: m.d, b: m.b}
	}
	a, b := fit("as-intended", 1), fit("as-intended", 0.125)
	if !mat.EqualApprox(a.b, b.b, 1e-12) || !mat.EqualApprox(a.d, b.d, 1e-12) {
		t.Error("as-intended: the result depends on the scale of F")
	}
	a, b = fit(asPrinted, 1), fit(asPrinted, 0.125)
	if mat.EqualApprox(a.d, b.d, 1e-3) {
		t.Error("as-printed: the result does not depend on the scale of F")
	}
}

func TestSSDLEdges(t *testing.T) {
	base := func() methods.Problem { return clusters(5, 10, 3, 8) }
	zeroed := base()
	for i := range 10 {
		zeroed.X.Set(i, 0, 0)
		zeroed.X.Set(i, 4, 0)
	}
	empty := base()
	empty.Classes = 5 // classes 3 and 4 have no sample
	one := base()
	for j := range one.Labels {
		one.Labels[j] = 0
	}
	one.Classes = 1
	single := base()
	for j := range single.Labels {
		if j > 2 {
			single.Labels[j] = methods.Unlabeled
		}
	}
	allZero := base()
	allZero.X.Zero()
	for _, tc := range []struct {
		name string
		p    methods.Problem
		edit func(*SSDL)
	}{
		{"more atoms than samples", base(), func(m *SSDL) { m.K = 40 }},
		{"one atom", base(), func(m *SSDL) { m.K = 1 }},
		{"one class", one, nil},
		{"empty classes", empty, nil},
		{"zero samples", zeroed, nil},
		{"only zero samples", allZero, nil},
		{"gamma 0", base(), func(m *SSDL) { m.Gamma = 0 }},
		{"alpha above every correlation", base(), func(m *SSDL) { m.Alpha = 100 }},
		{"one labelled sample per class", single, nil},
	} {
		for _, variant := range variants {
			t.Run(tc.name+"/"+variant, func(t *testing.T) {
				m := ssdl(variant)
				if tc.edit != nil {
					tc.edit(&m)
				}
				p := tc.p
				p.Rand = rand.New(rand.NewPCG(1, 1))
				p.Trace = func(name string, it int, v float64) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s is %v at iteration %d", name, v, it)
					}
				}
				X := mat.DenseCopyOf(p.X)
				X.SetCol(3, make([]float64, 10))
				for _, c := range predict(t, m, p, X) {
					if c >= 3 {
						t.Errorf("class %d, which has no sample, is predicted", c)
					}
				}
			})
		}
	}
}

func TestSSDLRefuses(t *testing.T) {
	p := clusters(6, 6, 2, 4)
	F := methods.OneHot(p.Labels, 2, 0)
	nan := mat.DenseCopyOf(F)
	nan.Set(1, 3, math.NaN())
	for _, tc := range []struct {
		F    *mat.Dense
		want string
	}{
		{nil, "no targets"},
		{mat.NewDense(2, 7, nil), "F is 2 x 7, want 2 classes x 8 samples"},
		{nan, "row 1, column 3"},
	} {
		_, err := ssdl("as-intended").FitTargets(context.Background(), p, tc.F)
		if !errors.Is(err, methods.ErrInput) || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "ssdl: ") {
			t.Errorf("error %q, want one of ssdl with %q", err, tc.want)
		}
	}
	model, err := ssdl("as-intended").FitTargets(context.Background(), p, F)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Predict(context.Background(), mat.NewDense(5, 1, nil)); !errors.Is(err, methods.ErrInput) {
		t.Errorf("error %v for test samples of another dimension", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ssdl("as-intended").FitTargets(ctx, p, F); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancellation", err)
	}
}

func TestSSDLWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []float64
	var labels []int
	for _, workers := range []int{1, 3} {
		runtime.GOMAXPROCS(workers)
		p := clusters(7, 30, 4, 80)
		var trace []float64
		p.Trace = func(name string, _ int, v float64) {
			if name == "objective" {
				trace = append(trace, v)
			}
		}
		m := ssdl("as-intended")
		m.K = 20
		got := predict(t, m, p, p.X)
		if first == nil {
			first, labels = trace, got
			continue
		}
		if !slices.Equal(first, trace) || !slices.Equal(labels, got) {
			t.Errorf("%d workers change the objective or the predictions", workers)
		}
	}
	if len(first) < 3 {
		t.Errorf("%d objective values traced", len(first))
	}
}

// On real features SSDL with hidden labels left out stays within three points of ridge
// regression, which has 92-93 % of them right.
func TestSSDLOnSports8(t *testing.T) {
	p, _, Xt, yt := sports8(t, 1000)
	m := SSDL{Norm: "ball", Targets: "unit", Test: "exact", Alpha: 0x1p-12, Gamma: 0x1p-12, Size: 0.5, SizeOf: "all", Init: "gaussian", Iterations: 30, Tolerance: 1e-6}
	p.Trace = func(name string, _ int, v float64) {
		if name == "test_unconverged" && v > 0.01*float64(len(yt)) {
			t.Errorf("%v of %d test codes are unconverged", v, len(yt))
		}
	}
	if a := accuracy(predict(t, m, p, Xt), yt); a < 0.895 {
		t.Errorf("accuracy %.4f, want at least 0.895", a)
	} else {
		t.Logf("accuracy %.4f", a)
	}
}
