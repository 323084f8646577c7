package pretext

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
)

// The losses compare scores F (C x M) with labels of length M. They leave out columns whose label is
// methods.Unlabeled, and are 0 if no column remains.

// BCE is the element-wise binary cross-entropy, the mean over samples and classes of
// -(y ln f + (1-y) ln(1-f)) with f clipped to [1e-6, 1-1e-6].
func BCE(F *mat.Dense, labels []int) float64 {
	classes, _ := F.Dims()
	return meanLoss(labels, func(j, y int) float64 {
		sum := 0.0
		for c := range classes {
			f := min(max(F.At(c, j), 1e-6), 1-1e-6)
			if c == y {
				sum -= math.Log(f)
			} else {
				sum -= math.Log(1 - f)
			}
		}
		return sum / float64(classes)
	})
}

// CERow is the multi-class cross-entropy of the columns of F, floored at 1e-12 and
// divided by their sum.
func CERow(F *mat.Dense, labels []int) float64 {
	classes, _ := F.Dims()
	return meanLoss(labels, func(j, y int) float64 {
		sum := 0.0
		for c := range classes {
			sum += max(F.At(c, j), 1e-12)
		}
		return math.Log(sum) - math.Log(max(F.At(y, j), 1e-12))
	})
}

// CESoftmax is the multi-class cross-entropy of the softmax of the columns of F.
func CESoftmax(F *mat.Dense, labels []int) float64 {
	classes, _ := F.Dims()
	return meanLoss(labels, func(j, y int) float64 {
		top := math.Inf(-1)
		for c := range classes {
			top = max(top, F.At(c, j))
		}
		sum := 0.0
		for c := range classes {
			sum += math.Exp(F.At(c, j) - top)
		}
		return top + math.Log(sum) - F.At(y, j)
	})
}

// Accuracy is the share of columns with the largest score, the first one on ties, in the row of
// their label.
func Accuracy(F *mat.Dense, labels []int) float64 {
	predicted := methods.Harden(F)
	return meanLoss(labels, func(j, y int) float64 {
		if predicted[j] == y {
			return 1
		}
		return 0
	})
}

func meanLoss(labels []int, of func(j, y int) float64) float64 {
	sum, n := 0.0, 0
	for j, y := range labels {
		if y != methods.Unlabeled {
			sum += of(j, y)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
