package dictionary

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// In the span of the samples K-SVD must find the dictionary that it finds in the features.
func TestTrainingInTheSpanChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const dim, n, classes = 40, 30, 3
	X := mat.NewDense(dim, n, nil)
	labels := make([]int, n)
	for j := range n {
		labels[j] = j % classes
		for i := range dim {
			v := math.Abs(linalg.Gaussian(r))
			if i%classes == labels[j] {
				v += 1
			}
			X.Set(i, j, v)
		}
	}
	for i := range dim { // a zero sample makes R singular (a copy would, too, but with ties)
		X.Set(i, 9, 0)
	}
	linalg.NormalizeColumns(X)

	basis, R := coordinates(X)
	if back := basis.lift(R); !mat.EqualApprox(back, X, 1e-14) {
		t.Fatal("the coordinates are not those of X")
	}

	m := LCKSVD{Variant: 2, K: 12, Size: 1, SizeOf: "all", Sparsity: 4, Iterations: 6, InitIterations: 3, SqrtAlpha: 0.5, SqrtBeta: 0.25}
	var inSpan, inFull []float64
	record := func(to *[]float64) methods.Trace {
		return func(name string, _ int, v float64) {
			if name == "rmse" {
				*to = append(*to, v)
			}
		}
	}
	p := methods.Problem{X: X, Labels: labels, Classes: classes, Trace: record(&inSpan)}
	F := methods.OneHot(labels, classes, 0)
	fitted, err := m.FitTargets(t.Context(), p, F)
	if err != nil {
		t.Fatal(err)
	}
	p.Trace = record(&inFull)
	q, err := hardened("lcksvd", m, p, F)
	if err != nil {
		t.Fatal(err)
	}
	start, err := StartKSVD(t.Context(), q, float64(m.K), m.Sparsity, m.InitIterations)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := m.Train(t.Context(), q, start)
	if err != nil {
		t.Fatal(err)
	}
	got := fitted.(*KSVDModel)
	if !mat.EqualApprox(got.D, want.D, 1e-9) || !mat.EqualApprox(got.W, want.W, 1e-9) {
		t.Fatal("another dictionary or classifier")
	}
	if len(inSpan) != m.Iterations || !slices.EqualFunc(inSpan, inFull, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Fatalf("errors %v, want %v", inSpan, inFull)
	}
}
