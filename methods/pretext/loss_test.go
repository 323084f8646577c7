package pretext

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
)

func TestLosses(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-14 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	// The constants by which the scale of a printed loss is told.
	even := mat.NewDense(10, 2, nil)
	half := mat.NewDense(10, 2, nil)
	for c := range 10 {
		for j := range 2 {
			even.Set(c, j, 0.1)
			half.Set(c, j, 0.5)
		}
	}
	labels := []int{3, 0}
	near("BCE of 1/2", BCE(half, labels), math.Ln2)
	near("BCE of 1/C", BCE(even, labels), -(0.1*math.Log(0.1) + 0.9*math.Log(0.9)))
	near("CERow of a constant", CERow(half, labels), math.Log(10))
	near("CESoftmax of a constant", CESoftmax(half, labels), math.Log(10))
	near("Accuracy on ties", Accuracy(half, labels), 0.5)

	// Scores outside [0,1] are clipped, and hidden labels left out.
	F := mat.NewDense(2, 3, []float64{1.5, -0.5, 7, -0.2, 0.25, 8})
	labels = []int{0, 1, methods.Unlabeled}
	clip := -math.Log(1 - 1e-6)
	near("BCE", BCE(F, labels), (clip+(clip-math.Log(0.25))/2)/2)
	near("CERow", CERow(F, labels), (math.Log(1.5+1e-12)-math.Log(1.5)+math.Log(0.25+1e-12)-math.Log(0.25))/2)
	near("CESoftmax", CESoftmax(F, labels), (math.Log(1+math.Exp(-1.7))+math.Log(1+math.Exp(-0.75)))/2)
	near("Accuracy", Accuracy(F, labels), 1)
	for _, loss := range []func(*mat.Dense, []int) float64{BCE, CERow, CESoftmax, Accuracy} {
		near("loss of nothing", loss(F, []int{-1, -1, -1}), 0)
	}
}
