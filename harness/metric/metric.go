// Package metric lists the metrics of a run: one entry per metric, with all that specs, tuning and
// tables need to know. It reads no store and prints nothing.
package metric

import (
	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/pretext"
)

// Metric is a number from Min to Max that is computed for each run.
type Metric struct {
	// Name is the name in specs and in the store.
	Name string
	// Title is the name in figures, such as "recognition rate".
	Title string
	// Unit is "%" if tables show the value times 100, else empty. Decimals is the number of
	// decimals shown unless the paper's table has its own.
	Unit     string
	Decimals int
	// HigherIsBetter is the direction for tuning, ranks and marks.
	HigherIsBetter bool
	// Min and Max bound the value; Max may be infinite.
	Min, Max float64
	// From is what the metric is computed from. It decides which rows have it.
	From Source
	// Of computes the metric.
	Of func(Outcome) float64
}

// Source is the input of a metric.
type Source string

// Every run has predictions. Runs without a method also have the scores of the pseudo labels.
const (
	Predictions  Source = "predictions"
	PseudoLabels Source = "pseudo labels"
)

// Outcome is the result of a run on M scored samples.
type Outcome struct {
	// Truth and Predicted are classes 0..Classes-1, each of length M.
	Truth, Predicted []int
	Classes          int
	// Scores is Classes x M; nil unless the run scores pseudo labels.
	Scores *mat.Dense
}

// Default is the metric of a spec that names none.
const Default = "accuracy"

var metrics = []Metric{
	{"accuracy", "recognition rate", "%", 1, true, 0, 1, Predictions, accuracy},
	{"balanced-accuracy", "balanced accuracy", "%", 1, true, 0, 1, Predictions, balancedAccuracy},
	{"macro-f1", "macro F1", "%", 1, true, 0, 1, Predictions, macroF1},
	{"bce", "binary cross-entropy", "", 3, false, 0, maxBCE, PseudoLabels, loss(pretext.BCE)},
	{"ce_row", "row cross-entropy", "", 3, false, 0, maxLoss, PseudoLabels, loss(pretext.CERow)},
	{"ce_softmax", "softmax cross-entropy", "", 3, false, 0, maxLoss, PseudoLabels, loss(pretext.CESoftmax)},
}

// All lists the metrics, the paper's main one first. The caller must not change the list.
func All() []Metric { return metrics }

// Lookup finds a metric by its name.
func Lookup(name string) (Metric, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// Names lists the metrics computed from a source.
func Names(from Source) []string {
	var names []string
	for _, m := range metrics {
		if m.From == from {
			names = append(names, m.Name)
		}
	}
	return names
}

// Shown converts a recorded value to the unit: 75.9 for 0.759 of a metric in %.
func (m Metric) Shown(v float64) float64 {
	if m.Unit == "%" {
		return 100 * v
	}
	return v
}

// MeasureScores computes the losses of the scores F (C x M), and the accuracy of the class with the
// largest score.
func MeasureScores(F *mat.Dense, truth []int) map[string]float64 {
	o := Outcome{Truth: truth, Predicted: methods.Harden(F), Scores: F}
	values := map[string]float64{Default: accuracy(o)}
	for _, m := range metrics {
		if m.From == PseudoLabels {
			values[m.Name] = m.Of(o)
		}
	}
	return values
}

// Measure computes, by name, every metric whose input the outcome has.
func Measure(o Outcome) map[string]float64 {
	values := map[string]float64{}
	for _, m := range metrics {
		if m.From == Predictions || o.Scores != nil {
			values[m.Name] = m.Of(o)
		}
	}
	return values
}
