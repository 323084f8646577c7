package dictionary

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

// facts fits SSDL to p, predicts X and returns what was traced at iteration 0, and the predictions.
func facts(t *testing.T, m SSDL, p methods.Problem, X *mat.Dense) (map[string]float64, []int) {
	t.Helper()
	out := map[string]float64{}
	p.Rand = rand.New(rand.NewPCG(1, 1))
	p.Trace = func(name string, it int, v float64) {
		if it == 0 || name == "objective" {
			out[name] = v
		}
	}
	model, err := m.FitTargets(t.Context(), p, methods.OneHot(p.Labels, p.Classes, 0))
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := model.Predict(context.Background(), X)
	if err != nil {
		t.Fatal(err)
	}
	return out, predicted
}

// A dictionary is degenerate if it has more atoms than features and so small a weight of the l1 norm
// that each code reproduces its sample; neither alone makes it so.
func TestDegenerateDictionary(t *testing.T) {
	p, test := clusters(41, 10, 3, 20), clusters(42, 10, 3, 20)
	for _, c := range []struct {
		k     int
		alpha float64
		want  float64
	}{
		{40, 0x1p-14, 1}, {40, 0.125, 0}, {8, 0x1p-14, 0}, {10, 0x1p-14, 0},
	} {
		for _, rule := range []string{"exact", "sweeps"} {
			m := ssdl("as-intended")
			m.K, m.Alpha, m.Test = c.k, c.alpha, rule
			got, _ := facts(t, m, p, test.X)
			if got["degenerate"] != c.want || got["atoms"] != float64(c.k) {
				t.Errorf("%d atoms, 10 features, alpha %g, %s: degenerate is %g, want %g (%g entries a code, %g atoms)",
					c.k, c.alpha, rule, got["degenerate"], c.want, got["test_support"], got["atoms"])
			}
			if s := got["test_support"]; s <= 0 || s > float64(c.k) {
				t.Errorf("%d atoms: %g entries in a code", c.k, s)
			}
		}
	}
}

// With more atoms than features and random labels, codes that saw the labels classify the samples by
// them, and codes that did not cannot. With few atoms both are alike.
func TestLeakOfLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	p := methods.Problem{X: unit(r, 10, 90, 1), Classes: 3}
	for range 90 {
		p.Labels = append(p.Labels, r.IntN(3))
	}
	m := ssdl("as-intended")
	m.Leak, m.Alpha, m.Gamma, m.Iterations = true, 0x1p-12, 0x1p-5, 60
	const with, without = "train_accuracy_with_labels", "train_accuracy_without_labels"
	m.K = 60
	if got, _ := facts(t, m, p, p.X); got[with] < 0.99 || got[without] > 0.6 {
		t.Errorf("60 atoms for 10 features: %g right with labels and %g without, want all and about a third", got[with], got[without])
	}
	m.K = 6
	if got, _ := facts(t, m, p, p.X); got[with] > 0.8 || got[with]-got[without] > 0.15 {
		t.Errorf("6 atoms for 10 features: %g right with labels and %g without, want them alike", got[with], got[without])
	}
}

// The facts are those of labelled samples alone, are what their names say, and change nothing else.
func TestTrainingAccuracies(t *testing.T) {
	p := clusters(44, 12, 3, 20)
	test := clusters(45, 12, 3, 20)
	F := methods.OneHot(p.Labels, 3, 0)
	for j := range p.Labels {
		if j >= 24 { // targets of the others, hidden labels
			p.Labels[j] = methods.Unlabeled
		}
	}
	p.Labels[0] = 1 // no method can get this one right
	m := ssdl("as-intended")
	fit := func(leak bool) (facts map[string]float64, predicted []int) {
		facts = map[string]float64{}
		q := p
		q.Rand = rand.New(rand.NewPCG(1, 1))
		q.Trace = func(name string, it int, v float64) { facts[name] = v }
		m.Leak = leak
		model, err := m.FitTargets(t.Context(), q, F)
		if err != nil {
			t.Fatal(err)
		}
		if predicted, err = model.Predict(t.Context(), test.X); err != nil {
			t.Fatal(err)
		}
		// By the definition: the labelled columns, classified as test samples.
		right := 0
		labelled := p.Labelled()
		classes, err := model.Predict(t.Context(), labelled.X)
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range classes {
			if c == labelled.Labels[j] {
				right++
			}
		}
		if got := facts["train_accuracy_without_labels"]; leak && got != float64(right)/24 {
			t.Errorf("%g of the labelled samples are right without labels, want %d of 24", got, right)
		}
		return facts, predicted
	}
	plain, predictedPlain := fit(false)
	measured, predictedMeasured := fit(true)
	if v := plain["train_accuracy_with_labels"]; v != float64(23)/24 {
		t.Errorf("%g of the labelled samples are right with labels, want 23 of 24", v)
	}
	if _, ok := plain["train_accuracy_without_labels"]; ok {
		t.Error("codes without labels are traced unasked")
	}
	delete(measured, "train_accuracy_without_labels")
	if len(plain) != len(measured) {
		t.Errorf("facts %v and %v", plain, measured)
	}
	for name, v := range plain {
		if measured[name] != v {
			t.Errorf("%s is %g, and %g when the leak is measured", name, v, measured[name])
		}
	}
	if !slices.Equal(predictedPlain, predictedMeasured) {
		t.Error("predictions change when the leak is measured")
	}
}
