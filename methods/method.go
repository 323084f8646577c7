// Package methods states what every method of the harness is given and what it
// must give back. It runs nothing, and knows nothing of files, databases, clocks
// or specs; the methods themselves live in represent, dictionary and pretext, and
// the list of them in catalog.
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

// Problem is all that a method may see. A method never changes what it is given.
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
	// Share keeps costly intermediate results that several settings have in common;
	// nil computes them anew. It never changes a result.
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

// Learner is a label-embedded dictionary method: it takes soft targets F (C x N),
// whoever made them. It ignores p.Labels except where its documentation says so.
type Learner interface {
	FitTargets(ctx context.Context, p Problem, F *mat.Dense) (Model, error)
}

// OrderDependent is implemented by methods whose start depends on the order of the
// training columns, as their authors' code has it. It returns the reason.
type OrderDependent interface {
	OrderDependent() string
}

// Sizer is implemented by methods that hold much more than their input. Bytes estimates
// the peak memory of a fit and prediction with n training and m test samples.
type Sizer interface {
	Bytes(dim, n, m, classes int) int64
}

// Staged is implemented by methods that use a Problem's Share. Stages lists the keys that
// a fit and a prediction ask for, for samples of dim features of which n are labelled.
type Staged interface {
	Stages(dim, n int) []string
}

// Trace is a sink of named values: ("objective", 3, 0.25) is the objective after the
// third iteration. Facts that are no series use iteration 0.
type Trace func(name string, iteration int, value float64)

// Add records a value; on a nil Trace it does nothing.
func (t Trace) Add(name string, iteration int, value float64) {
	if t != nil {
		t(name, iteration, value)
	}
}

// Share returns the value stored under key, building it at most once. bytes is the
// memory the value holds. A value is immutable once built. The key must name
// everything but the Problem's X, Labels and Classes that the value depends on: the
// harness adds these three itself.
type Share func(ctx context.Context, key string, build func() (value any, bytes int64, err error)) (any, error)

// Shared is Share with a type; without a Share in p it just builds.
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
