// Package methods defines the input and the output of every method. It runs nothing, and knows
// nothing of files, databases, clocks or specs. The methods are in represent, dictionary and
// pretext; catalog lists them.
//
// The symbols are the paper's ("SSDL: Self-Supervised Dictionary Learning", ICME
// 2021), in the code as in the text:
//
//	X  dim x N   training samples, one per column, each of unit l2 norm
//	D  dim x K   dictionary, atoms are columns
//	S  K x N     sparse codes
//	B  C x K     linear classifier on the codes
//	O  C x N     initial labels: one-hot, and a fill value where the label is hidden
//	F  C x N     soft pseudo labels
//	H  N x |E|   incidence matrix of the hypergraph (in the pretexts);
//	   C x N     one-hot labels (in the supervised dictionary methods)
//	Q  |E| x M   p-Laplacian embedding
package methods

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Unlabeled marks a sample whose label is hidden from the method.
const Unlabeled = -1

// Problem is all that a method may see. A method never changes it.
type Problem struct {
	// X is dim x N, one sample per column, l2-normalised (a zero column stays zero).
	X *mat.Dense
	// Labels has length N; entries are 0..Classes-1, or Unlabeled.
	Labels []int
	// Classes is C. A class may have no labelled sample; it is then never predicted.
	Classes int
	// Rand is the only source of randomness.
	Rand *rand.Rand
	// Trace receives objective values and other facts of the fit; nil discards them.
	Trace Trace
	// Share keeps costly intermediate results that several settings share; nil computes them
	// every time. It never changes a result.
	Share Share
}

// Method learns from the labelled columns of a problem (and, if it is
// semi-supervised, from the others).
type Method interface {
	Fit(ctx context.Context, p Problem) (Model, error)
}

// Model assigns each column of X (dim x M) to a class.
type Model interface {
	Predict(ctx context.Context, X *mat.Dense) ([]int, error)
}

// Pretext turns a partly labelled problem into soft pseudo labels for all of its columns.
type Pretext interface {
	PseudoLabels(ctx context.Context, p Problem) (Pseudo, error)
}

// Pseudo is what a Pretext returns.
type Pseudo struct {
	// F is C x N, one column per training sample.
	F *mat.Dense
	// Score extends F to unseen columns X (dim x M) and returns C x M.
	Score func(ctx context.Context, X *mat.Dense) (*mat.Dense, error)
}

// Learner is a dictionary method that takes soft targets F (C x N), from any source. It ignores
// p.Labels unless its documentation says otherwise.
type Learner interface {
	FitTargets(ctx context.Context, p Problem, F *mat.Dense) (Model, error)
}

// OrderDependent is implemented by methods whose start depends on the order of the
// training columns, as in their authors' code. It returns the reason.
type OrderDependent interface {
	OrderDependent() string
}

// Sizer is implemented by methods that hold much more than their input. Bytes estimates
// the peak memory of a fit and prediction with n training and m test samples.
type Sizer interface {
	Bytes(dim, n, m, classes int) int64
}

// Staged is implemented by methods that use a Problem's Share. Stages lists the keys that
// a fit and a prediction use, for dim features and n labelled samples.
type Staged interface {
	Stages(dim, n int) []string
}

// Trace receives named values: ("objective", 3, 0.25) is the objective after the
// third iteration. Single values use iteration 0.
type Trace func(name string, iteration int, value float64)

// Add records a value; on a nil Trace it does nothing.
func (t Trace) Add(name string, iteration int, value float64) {
	if t != nil {
		t(name, iteration, value)
	}
}

// Share returns the value stored under key, and builds it at most once. bytes is the memory of the
// value. A value is immutable once built. The key names everything that the value depends on,
// except the Problem's X, Labels and Classes: the harness adds these three.
type Share func(ctx context.Context, key string, build func() (value any, bytes int64, err error)) (any, error)

// Shared is Share with a type. Without a Share in p it builds the value.
func Shared[T any](ctx context.Context, p Problem, key string, build func() (T, int64, error)) (T, error) {
	if p.Share == nil {
		v, _, err := build()
		return v, err
	}
	v, err := p.Share(ctx, key, func() (any, int64, error) { return build() })
	if err != nil {
		var zero T
		return zero, err
	}
	return v.(T), nil
}
