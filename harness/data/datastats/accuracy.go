package datastats

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// Accuracy holds the accuracies of two untuned classifiers on one split. They show how hard the set
// is, and are no result of a method.
type Accuracy struct {
	Seed     uint64 `json:"seed"`
	Train    int    `json:"train"`    // training samples
	Labelled int    `json:"labelled"` // training samples with a label: the classifiers use only these
	Test     int    `json:"test"`
	// NN is the accuracy of the nearest labelled sample (cosine).
	NN float64 `json:"nearest_neighbour"`
	// Ridge is the accuracy of ridge regression to one-hot targets with weight Lambda and no
	// intercept.
	Ridge  float64 `json:"ridge"`
	Lambda float64 `json:"ridge_lambda"`
}

// ridgeLambda is scikit-learn's default, a moderate weight for samples of unit norm.
const ridgeLambda = 1

// testBlock is the number of test samples classified at a time.
const testBlock = 1024

func accuracy(ctx context.Context, set *data.Set, sp *data.Split) (*Accuracy, error) {
	a := &Accuracy{Seed: seed, Train: len(sp.Train), Test: len(sp.Test), Lambda: ridgeLambda}
	var labelled, labels []int
	for i, j := range sp.Train {
		if sp.Labelled[i] {
			labelled = append(labelled, j)
			labels = append(labels, set.Labels[j])
		}
	}
	a.Labelled = len(labelled)
	X := methods.Columns(set.X, labelled)
	W, err := ridge(X, methods.OneHot(labels, len(set.Classes), 0))
	if err != nil {
		return nil, err
	}
	var nn, right int
	for lo := 0; lo < len(sp.Test); lo += testBlock {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		test := sp.Test[lo:min(lo+testBlock, len(sp.Test))]
		Y := methods.Columns(set.X, test)
		var cosines, scores mat.Dense
		cosines.Mul(X.T(), Y)
		scores.Mul(W.T(), Y)
		nearest, best := largestInColumns(&cosines), largestInColumns(&scores)
		for i, j := range test {
			if labels[nearest[i]] == set.Labels[j] {
				nn++
			}
			if best[i] == set.Labels[j] {
				right++
			}
		}
	}
	a.NN, a.Ridge = float64(nn)/float64(a.Test), float64(right)/float64(a.Test)
	return a, nil
}

// ridge returns W (dim x C) = (X X^T + lambda I)^-1 X H^T for X (dim x N) and H (C x N). If N <=
// dim it solves the smaller system X (X^T X + lambda I)^-1 H^T.
func ridge(X, H *mat.Dense) (*mat.Dense, error) {
	dim, n := X.Dims()
	var A *mat.Dense
	if n > dim {
		A = linalg.Outer(X)
	} else {
		A = linalg.Gram(X)
	}
	k, _ := A.Dims()
	for i := range k {
		A.Set(i, i, A.At(i, i)+ridgeLambda)
	}
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(k, A.RawMatrix().Data)) {
		return nil, fmt.Errorf("ridge regression: the Gram matrix of %d samples is not positive definite", n)
	}
	var B, W mat.Dense
	if n > dim {
		B.Mul(X, H.T())
		return &W, chol.SolveTo(&W, &B)
	}
	if err := chol.SolveTo(&B, H.T()); err != nil {
		return nil, err
	}
	W.Mul(X, &B)
	return &W, nil
}

// largestInColumns returns the row of the largest value of each column; on a tie, the first.
func largestInColumns(m *mat.Dense) []int {
	rows, cols := m.Dims()
	at, best := make([]int, cols), append([]float64{}, m.RawRowView(0)...)
	for i := 1; i < rows; i++ {
		for j, v := range m.RawRowView(i) {
			if v > best[j] {
				at[j], best[j] = i, v
			}
		}
	}
	return at
}
