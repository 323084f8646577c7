package metric

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxBCE is -ln 1e-6, the loss of an element clipped on the wrong side; maxLoss means no bound.
var (
	maxBCE  = -math.Log(1e-6)
	maxLoss = math.Inf(1)
)

// accuracy is the share of samples with the right prediction.
func accuracy(o Outcome) float64 {
	right := 0
	for i, y := range o.Truth {
		if o.Predicted[i] == y {
			right++
		}
	}
	return float64(right) / float64(len(o.Truth))
}

// balancedAccuracy is the mean of the accuracies of the classes that have samples.
func balancedAccuracy(o Outcome) float64 {
	right, of, _ := o.count()
	sum, present := 0.0, 0
	for c := range of {
		if of[c] > 0 {
			sum += float64(right[c]) / float64(of[c])
			present++
		}
	}
	return sum / float64(present)
}

// macroF1 is the mean over classes of the harmonic mean of precision and recall. A class without
// samples and predictions is left out; one with predictions only contributes 0.
func macroF1(o Outcome) float64 {
	right, of, predicted := o.count()
	sum, present := 0.0, 0
	for c := range of {
		if n := of[c] + predicted[c]; n > 0 {
			sum += 2 * float64(right[c]) / float64(n)
			present++
		}
	}
	return sum / float64(present)
}

// count returns, by class, the right predictions, the samples and the predictions.
func (o Outcome) count() (right, of, predicted []int) {
	right, of, predicted = make([]int, o.Classes), make([]int, o.Classes), make([]int, o.Classes)
	for i, y := range o.Truth {
		of[y]++
		predicted[o.Predicted[i]]++
		if o.Predicted[i] == y {
			right[y]++
		}
	}
	return right, of, predicted
}

// loss turns a loss of scores against classes into a metric.
func loss(of func(F *mat.Dense, labels []int) float64) func(Outcome) float64 {
	return func(o Outcome) float64 { return of(o.Scores, o.Truth) }
}
