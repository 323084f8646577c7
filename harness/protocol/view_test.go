package protocol

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

// someInput is a set of 12 + 9 + 15 samples of two features, split by class.
func someInput(seed uint64) Input {
	labels := classesOf(12, 9, 15)
	Stream(1, "order").Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	in := Input{X: mat.NewDense(2, len(labels), nil), Labels: labels, Classes: 3}
	var of []int
	for j, training := range DrawTraining(labels, 0.7, seed) {
		in.X.Set(0, j, float64(j))
		in.X.Set(1, j, float64(labels[j]))
		if training {
			in.Train, of = append(in.Train, j), append(of, labels[j])
		} else {
			in.Test = append(in.Test, j)
		}
	}
	in.Labelled = DrawLabelled(of, 0.4, seed)
	return in
}

// Held-out samples are neither training nor test samples.
func TestHeldOutSamplesAreApart(t *testing.T) {
	in := someInput(1000)
	val, test := in.View(1000, true), in.View(1000, false)
	if len(val.Eval) == 0 {
		t.Fatal("nothing is held out")
	}
	for _, j := range val.Eval {
		if slices.Contains(val.Train, j) || slices.Contains(test.Eval, j) {
			t.Errorf("sample %d is held out and used", j)
		}
		i := slices.Index(in.Train, j)
		if i < 0 || !in.Labelled[i] {
			t.Errorf("sample %d is held out, but is no labelled training sample", j)
		}
	}
	if len(val.Train)+len(val.Eval) != len(in.Train) {
		t.Errorf("%d trained on and %d held out of %d", len(val.Train), len(val.Eval), len(in.Train))
	}
	for _, v := range []View{val, test} {
		for i, y := range v.Labels {
			if y != methods.Unlabeled && y != in.Labels[v.Train[i]] {
				t.Errorf("sample %d has label %d, want %d", v.Train[i], y, in.Labels[v.Train[i]])
			}
		}
	}
	if want := len(test.Train) - (3 + 2 + 4); len(test.Hidden()) != want { // 40 % of 8, 6 and 11
		t.Errorf("%d labels are hidden, want %d", len(test.Hidden()), want)
	}
}

// A method cannot learn from the order of samples: columns come in an order drawn by the seed. Predictions are
// recorded in ascending order of the samples.
func TestOrderTellsNothing(t *testing.T) {
	sorted := Input{Labels: classesOf(40, 40, 40), Classes: 3}
	sorted.X = mat.NewDense(1, len(sorted.Labels), nil)
	for j := range sorted.Labels {
		sorted.X.Set(0, j, float64(j))
		if j%4 == 0 {
			sorted.Test = append(sorted.Test, j)
		} else {
			sorted.Train, sorted.Labelled = append(sorted.Train, j), append(sorted.Labelled, true)
		}
	}
	orders := map[string]bool{}
	for seed := range uint64(20) {
		v := sorted.View(seed, false)
		if slices.IsSorted(v.Train) || slices.IsSorted(v.Eval) {
			t.Errorf("seed %d gives samples in the order of the file", seed)
		}
		orders[fmt.Sprint(v.Eval)] = true
		right := 0
		for i, j := range v.Eval {
			if sorted.Labels[j] == 3*i/len(v.Eval) {
				right++
			}
		}
		if right > 20 { // of 30; 10 by chance, with a deviation of 2.6
			t.Errorf("seed %d: the position tells the class of %d of 30 samples", seed, right)
		}
		out, err := Execute(t.Context(), sorted, Trial{Method: echo{}, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Predicted, sorted.Test) {
			t.Fatalf("seed %d: predictions are kept as %v", seed, out.Predicted)
		}
		if !slices.Equal(out.Truth, pick(sorted.Labels, sorted.Test)) {
			t.Fatalf("seed %d: the truth is kept as %v", seed, out.Truth)
		}
		again := sorted.View(seed, false)
		if !slices.Equal(again.Train, v.Train) || !slices.Equal(again.Eval, v.Eval) {
			t.Errorf("seed %d gives two orders", seed)
		}
	}
	if len(orders) != 20 {
		t.Errorf("%d orders of 20 seeds", len(orders))
	}
	if !slices.IsSorted(sorted.Train) || !slices.IsSorted(sorted.Test) {
		t.Error("the split was changed")
	}
}

// echo predicts the first feature.
type echo struct{}

func (echo) Fit(context.Context, methods.Problem) (methods.Model, error) { return echo{}, nil }

func (echo) Predict(_ context.Context, X *mat.Dense) ([]int, error) {
	_, n := X.Dims()
	out := make([]int, n)
	for j := range out {
		out[j] = int(X.At(0, j))
	}
	return out, nil
}
