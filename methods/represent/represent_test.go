package represent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

func gaussian(r *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = linalg.Gaussian(r)
	}
	return m
}

// clusters draws n samples around one direction per class, normalised, with their classes.
func clusters(r *rand.Rand, dim, n, classes int) (*mat.Dense, []int) {
	centres := gaussian(rand.New(rand.NewPCG(99, uint64(dim))), dim, classes)
	X, labels := gaussian(r, dim, n), make([]int, n)
	for j := range n {
		labels[j] = r.IntN(classes)
		for i := range dim {
			X.Set(i, j, 0.5*X.At(i, j)+centres.At(i, labels[j]))
		}
	}
	linalg.NormalizeColumns(X)
	return X, labels
}

// every is the methods in all their modes, at their defaults.
func every() map[string]methods.Method {
	return map[string]methods.Method{
		"src":           SRC{Lambda: math.Ldexp(1, -7), Mode: "paper"},
		"src reference": SRC{Lambda: math.Ldexp(1, -7), Mode: "reference"},
		"crc":           CRC{Lambda: math.Ldexp(1, -4), Rule: "ratio"},
		"crc plain":     CRC{Lambda: math.Ldexp(1, -4), Rule: "plain"},
		"nrc":           NRC{Solver: "exact", Rho: 1, Passes: 1, Rule: "plain"},
		"euler":         EulerSRC{Alpha: 0.5, Lambda: 0.05, Codes: "complex", Passes: 6},
		"euler real":    EulerSRC{Alpha: 0.5, Lambda: 0.05, Codes: "real", Passes: 6},
		"slrc":          SLRC{Lambda: math.Ldexp(1, -7), Penalty: "l1", Mode: "paper"},
		"slrc l2":       SLRC{Lambda: math.Ldexp(1, -4), Penalty: "l2", Mode: "paper", Unit: true},
		"nrc admm":      NRC{Solver: "admm", Rho: 1, Passes: 40, Rule: "reconstruction"},
	}
}

func fit(t *testing.T, m methods.Method, p methods.Problem) methods.Model {
	t.Helper()
	model, err := m.Fit(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func predict(t *testing.T, m methods.Model, Y *mat.Dense) []int {
	t.Helper()
	classes, err := m.Predict(context.Background(), Y)
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

func TestResidualsAreThoseOfTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const classes = 4 // the last one without samples
	X, labels := clusters(r, 15, 22, classes-1)
	Y, S := gaussian(r, 15, 9), gaussian(r, 22, 9)
	g := newGallery(methods.Problem{X: X, Labels: labels, Classes: classes})
	R, yy := g.correlations(Y)
	E := g.residuals(S, R, yy)
	Q := g.perNorm(E, S)
	for j := range 9 {
		for k := range classes {
			want, norm := 0.0, 0.0
			for i := range 15 {
				e := Y.At(i, j)
				for c, y := range labels {
					if y == k {
						e -= X.At(i, c) * S.At(c, j)
					}
				}
				want += e * e
			}
			for c, y := range labels {
				if y == k {
					norm += S.At(c, j) * S.At(c, j)
				}
			}
			ratio := want / norm
			if k == classes-1 {
				want, ratio = math.Inf(1), math.Inf(1)
			}
			if got := E.At(k, j); got != want && !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("residual (%d, %d) is %g, want %g", k, j, got, want)
			}
			if got := Q.At(k, j); got != ratio && !(math.Abs(got-ratio) <= 1e-12*ratio) {
				t.Errorf("ratio (%d, %d) is %g, want %g", k, j, got, ratio)
			}
		}
	}
}

// TestCRCCodesSolveTheRidgeSystem on both sides of N = dim, where the form changes.
func TestCRCCodesSolveTheRidgeSystem(t *testing.T) {
	for _, n := range []int{5, 20, 21, 60} {
		r := rand.New(rand.NewPCG(uint64(n), 2))
		X, labels := clusters(r, 20, n, 3)
		Y := gaussian(r, 20, 7)
		for _, lambda := range []float64{1e-6, 0.1, 4} {
			model := fit(t, CRC{Lambda: lambda, Rule: "plain"}, methods.Problem{X: X, Labels: labels, Classes: 3}).(*CRCModel)
			if model.primal != (n > 20) {
				t.Fatalf("N=%d: primal is %t", n, model.primal)
			}
			S, err := model.Codes(context.Background(), Y)
			if err != nil {
				t.Fatal(err)
			}
			// The gradient X^T (X s - y) + lambda s must vanish.
			var E, grad mat.Dense
			E.Mul(X, S)
			E.Sub(&E, Y)
			grad.Mul(X.T(), &E)
			for i := range n {
				for j := range 7 {
					if v := grad.At(i, j) + lambda*S.At(i, j); math.Abs(v) > 1e-9 {
						t.Fatalf("N=%d, lambda=%g: gradient %g at (%d, %d)", n, lambda, v, i, j)
					}
				}
			}
		}
	}
}

// TestLabStopsAboveTheMinimum, but close to it.
func TestLabStopsAboveTheMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	X, labels := clusters(r, 40, 30, 3)
	Y, _ := clusters(r, 40, 12, 3)
	p := methods.Problem{X: X, Labels: labels, Classes: 3}
	const lambda = 0.02
	objective := map[string]float64{}
	for _, mode := range []string{"paper", "reference"} {
		sweeps := 0.0
		p.Trace = func(name string, _ int, v float64) {
			if name == "sweeps" {
				sweeps = v
			}
		}
		model := fit(t, SRC{Lambda: lambda, Mode: mode}, p).(*SRCModel)
		S, err := model.Codes(context.Background(), Y)
		if err != nil {
			t.Fatal(err)
		}
		var E mat.Dense
		E.Mul(X, S)
		E.Sub(Y, &E)
		l1 := 0.0
		for _, v := range S.RawMatrix().Data {
			l1 += math.Abs(v)
		}
		norm := mat.Norm(&E, 2)
		objective[mode] = 0.5*norm*norm + lambda*l1
		if (sweeps > 0) != (mode == "reference") || sweeps > referenceSweeps {
			t.Errorf("mode %s: %g sweeps", mode, sweeps)
		}
	}
	if d := (objective["reference"] - objective["paper"]) / objective["paper"]; d < 0 || d > 1e-3 {
		t.Errorf("objectives %v: the reference's is %g above the minimum", objective, d)
	}
}

func TestUnlabelledColumnsAndTheOrderOfColumnsDoNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	X, labels := clusters(r, 30, 40, 3)
	Y, _ := clusters(r, 30, 50, 3)
	for j := 0; j < 40; j += 3 {
		labels[j] = methods.Unlabeled
	}
	other := mat.DenseCopyOf(X)
	for j := 0; j < 40; j += 3 {
		other.SetCol(j, mat.Col(nil, j, Y))
	}
	perm := r.Perm(40)
	shuffled := make([]int, 40)
	for i, j := range perm {
		shuffled[i] = labels[j]
	}
	for name, m := range every() {
		want := predict(t, fit(t, m, methods.Problem{X: X, Labels: labels, Classes: 3}), Y)
		if got := predict(t, fit(t, m, methods.Problem{X: other, Labels: labels, Classes: 3}), Y); !slices.Equal(got, want) {
			t.Errorf("%s reads unlabelled columns", name)
		}
		if got := predict(t, fit(t, m, methods.Problem{X: methods.Columns(X, perm), Labels: shuffled, Classes: 3}), Y); !slices.Equal(got, want) {
			t.Errorf("%s depends on the order of the columns", name)
		}
		if got := predict(t, fit(t, m, methods.Problem{X: X, Labels: labels, Classes: 9}), Y); !slices.Equal(got, want) {
			t.Errorf("%s is moved by classes without samples", name)
		}
	}
}

// TestDegenerateProblems have defined outcomes: every class predicted has samples, whatever
// is wrong with the columns.
func TestDegenerateProblems(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	base, labels := clusters(r, 12, 18, 3)
	Y, truth := clusters(r, 12, 20, 3)
	Y.SetCol(0, make([]float64, 12)) // a zero test sample
	zero := mat.DenseCopyOf(base)
	zero.SetCol(4, make([]float64, 12))
	twice := mat.DenseCopyOf(base)
	for j := 1; j < 18; j++ {
		if labels[j] == labels[0] {
			twice.SetCol(j, mat.Col(nil, 0, base))
		}
	}
	all := func(v int) []int { return slices.Repeat([]int{v}, 18) }
	one := all(methods.Unlabeled) // one sample of each class
	for j, y := range labels {
		if !slices.Contains(one, y) {
			one[j] = y
		}
	}
	gap := slices.Clone(labels)
	for j, y := range gap {
		if y == 1 {
			gap[j] = methods.Unlabeled
		}
	}
	for _, c := range []struct {
		name   string
		X      *mat.Dense
		labels []int
		least  int // correct predictions of the 19 samples that are not zero, at least
	}{
		{"a zero column", zero, labels, 15},
		{"a class of equal columns", twice, labels, 13},
		{"one class", base, all(2), 0},
		{"one sample per class", base, one, 12},
		{"no sample of class 1", base, gap, 0},
		{"all columns zero", mat.NewDense(12, 18, nil), labels, 0},
	} {
		for name, m := range every() {
			p := methods.Problem{X: c.X, Labels: c.labels, Classes: 4}
			before := mat.DenseCopyOf(p.X)
			got := predict(t, fit(t, m, p), Y)
			hits := 0
			for j, y := range got {
				if !slices.Contains(c.labels, y) {
					t.Fatalf("%s, %s: sample %d goes to class %d, which has no samples", name, c.name, j, y)
				}
				if j > 0 && y == truth[j] {
					hits++
				}
			}
			if hits < c.least {
				t.Errorf("%s, %s: %d of 19 right, want at least %d", name, c.name, hits, c.least)
			}
			if strings.HasPrefix(name, "euler") {
				continue // the map makes a constant of a zero sample, and no zero
			}
			if first := slices.Min(slices.DeleteFunc(slices.Clone(c.labels), func(y int) bool { return y < 0 })); got[0] != first {
				t.Errorf("%s, %s: the zero sample goes to class %d, want the lowest with samples, %d", name, c.name, got[0], first)
			}
			if !mat.Equal(before, p.X) {
				t.Errorf("%s, %s: Fit or Predict changed X", name, c.name)
			}
		}
	}
}

// TestZeroCodesGoToTheNearest: above the largest cosine every code is zero.
func TestZeroCodesGoToTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	X, labels := clusters(r, 25, 30, 4)
	Y, _ := clusters(r, 25, 40, 4)
	var C mat.Dense
	C.Mul(X.T(), Y)
	want := make([]int, 40)
	for j := range want {
		best := 0.0
		for i := range 30 {
			if a := math.Abs(C.At(i, j)); a > best {
				best, want[j] = a, labels[i]
			}
		}
	}
	for _, mode := range []string{"paper", "reference"} {
		zero := 0.0
		p := methods.Problem{X: X, Labels: labels, Classes: 4, Trace: func(name string, _ int, v float64) {
			if name == "zero codes" {
				zero = v
			}
		}}
		got := predict(t, fit(t, SRC{Lambda: 1.01, Mode: mode}, p), Y)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mode %s: %s", mode, diff)
		}
		if zero != 40 {
			t.Errorf("mode %s: %g zero codes traced, want 40", mode, zero)
		}
	}
}

func TestRefusals(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 17))
	X, labels := clusters(r, 10, 12, 2)
	p := methods.Problem{X: X, Labels: labels, Classes: 2}
	bad := mat.DenseCopyOf(X)
	bad.Set(3, 4, math.NaN())
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, m := range every() {
		if _, err := m.Fit(context.Background(), methods.Problem{X: bad, Labels: labels, Classes: 2}); !errors.Is(err, methods.ErrInput) {
			t.Errorf("%s: error %v for a NaN in X", name, err)
		}
		model := fit(t, m, p)
		for what, Y := range map[string]*mat.Dense{"NaN": bad, "9 features": mat.NewDense(9, 2, nil), "nothing": nil} {
			if _, err := model.Predict(context.Background(), Y); !errors.Is(err, methods.ErrInput) {
				t.Errorf("%s: error %v for test samples with %s", name, err, what)
			}
		}
		if _, err := model.Predict(cancelled, X); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v when cancelled", name, err)
		}
	}
}

// TestGramIsShared: a grid over lambda builds each shared matrix once, and sharing changes
// no prediction.
func TestGramIsShared(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 19))
	for _, dim := range []int{8, 50} {
		X, labels := clusters(r, dim, 30, 3)
		Y, _ := clusters(r, dim, 30, 3)
		alone := methods.Problem{X: X, Labels: labels, Classes: 3}
		built, kept := map[string]int{}, map[string]any{}
		p := alone
		p.Share = func(_ context.Context, key string, build func() (any, int64, error)) (any, error) {
			if v, ok := kept[key]; ok {
				return v, nil
			}
			v, bytes, err := build()
			if side, _ := v.(*mat.Dense).Dims(); bytes != int64(8*side*side) {
				t.Errorf("%s: %d bytes for %d x %d", key, bytes, side, side)
			}
			kept[key], built[key] = v, built[key]+1
			return v, err
		}
		for _, e := range []int{-9, -5, -1} {
			for _, m := range []methods.Method{SRC{math.Ldexp(1, e), "paper"}, CRC{math.Ldexp(1, e), "ratio"}} {
				if got, want := predict(t, fit(t, m, p), Y), predict(t, fit(t, m, alone), Y); !slices.Equal(got, want) {
					t.Errorf("%T: sharing changes the predictions", m)
				}
			}
		}
		for key, n := range built {
			if n != 1 {
				t.Errorf("%q was built %d times", key, n)
			}
		}
		if want := 1 + map[bool]int{true: 1}[dim < 30]; len(built) != want {
			t.Errorf("dim %d: shared %v, want %d", dim, built, want)
		}
	}
}

func TestPredictionsDoNotDependOnWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	X, labels := clusters(r, 60, 90, 5)
	Y, _ := clusters(r, 60, 300, 5)
	for name, m := range every() {
		scores := func(procs int) *mat.Dense {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			model := fit(t, m, methods.Problem{X: X, Labels: labels, Classes: 5})
			E, err := model.(interface {
				Residuals(context.Context, *mat.Dense) (*mat.Dense, error)
			}).Residuals(context.Background(), Y)
			if err != nil {
				t.Fatal(err)
			}
			return E
		}
		if one, three := scores(1), scores(3); !mat.Equal(one, three) {
			t.Errorf("%s: the residuals differ with the number of goroutines", name)
		}
	}
}

// TestRecognitionOnFeatures: at 40 % labels ridge regression is right in 92-93 % of the test
// samples of sports8.
func TestRecognitionOnFeatures(t *testing.T) {
	dir := os.Getenv("SSDL_DATA")
	if dir == "" {
		t.Skip("SSDL_DATA is not set: no real features to test on")
	}
	set, err := data.Load(context.Background(), filepath.Join(dir, "sports8"), data.Options{})
	if err != nil {
		t.Skipf("no real features to test on: %v", err)
	}
	split, err := data.MakeSplit(set, data.SplitSpec{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	p := methods.Problem{X: methods.Columns(set.X, split.Train), Classes: len(set.Classes)}
	for i, j := range split.Train {
		y := methods.Unlabeled
		if split.Labelled[i] {
			y = set.Labels[j]
		}
		p.Labels = append(p.Labels, y)
	}
	Y := methods.Columns(set.X, split.Test)
	for name, m := range every() {
		facts := ""
		p.Trace = func(name string, _ int, v float64) { facts += fmt.Sprintf(" %s=%.3g", name, v) }
		hits := 0
		for j, y := range predict(t, fit(t, m, p), Y) {
			if y == set.Labels[split.Test[j]] {
				hits++
			}
		}
		accuracy := float64(hits) / float64(len(split.Test))
		t.Logf("%s: %.3f%s", name, accuracy, facts)
		if accuracy < 0.88 || accuracy > 0.98 {
			t.Errorf("%s: accuracy %.3f", name, accuracy)
		}
	}
}
