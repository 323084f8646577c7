package protocol

import (
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

// What tunes a method is neither trained on nor part of the test samples.
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
