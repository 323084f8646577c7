package metric

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Computed by hand from the definitions of scikit-learn: accuracy_score, balanced_accuracy_score, and
// f1_score with average="macro" and zero_division=0. Class 4 is only predicted, class 5 does not occur.
func TestClassMetrics(t *testing.T) {
	o := Outcome{
		Truth:     []int{0, 0, 0, 1, 1, 2, 3, 3},
		Predicted: []int{0, 1, 0, 1, 4, 2, 0, 3},
		Classes:   6,
	}
	got := Measure(o)
	want := map[string]float64{"accuracy": 5.0 / 8, "balanced-accuracy": 2.0 / 3, "macro-f1": 17.0 / 30}
	if len(got) != len(want) {
		t.Errorf("measured %v, want the metrics of predictions alone", got)
	}
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-15 {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
}

func TestMetricsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	o := Outcome{Truth: []int{0, 1}, Predicted: []int{1, 1}, Classes: 2, Scores: mat.NewDense(2, 2, []float64{.3, .2, .7, .8})}
	for _, m := range All() {
		if m.Name == "" || m.Title == "" || m.Of == nil || m.Unit != "" && m.Unit != "%" || !(m.Min < m.Max) || seen[m.Name] {
			t.Errorf("%+v is incomplete, or there twice", m)
		}
		seen[m.Name] = true
		if v := m.Of(o); !(v >= m.Min && v <= m.Max) {
			t.Errorf("%s is %v, outside %v..%v", m.Name, v, m.Min, m.Max)
		}
	}
	if len(Measure(o)) != len(All()) {
		t.Errorf("with scores %d of %d metrics are measured", len(Measure(o)), len(All()))
	}
}
