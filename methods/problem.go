package methods

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods/param"
)

// ErrInput is wrapped by every error that says a problem cannot be given to a method.
var ErrInput = errors.New("unusable input")

// Check is the first thing that every Fit, FitTargets and PseudoLabels does. It reports, under the
// name of the method, each parameter of the method m that is out of its range (a *param.Error), or
// else why m cannot use the problem: no samples, labels of another length, a label out of range, a
// value that is not finite, no labelled sample at all. Zero columns and classes without samples
// are usable.
func (p Problem) Check(method string, m any) error {
	if err := param.Check(method, m); err != nil {
		return err
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", method, ErrInput, fmt.Sprintf(format, args...))
	}
	if p.X == nil || p.X.IsEmpty() {
		return bad("X has no samples")
	}
	if p.Classes < 1 {
		return bad("%d classes, want at least 1", p.Classes)
	}
	_, n := p.X.Dims()
	if len(p.Labels) != n {
		return bad("%d labels for %d columns of X", len(p.Labels), n)
	}
	labelled := 0
	for j, y := range p.Labels {
		if y == Unlabeled {
			continue
		}
		if y < 0 || y >= p.Classes {
			return bad("label %d of column %d is outside 0..%d", y, j, p.Classes-1)
		}
		labelled++
	}
	if labelled == 0 {
		return bad("no column is labelled")
	}
	return CheckFinite(method, "X", p.X)
}

// CheckFinite reports the first value of m that is NaN or infinite, by method, matrix
// name, row and column.
func CheckFinite(method, name string, m *mat.Dense) error {
	raw := m.RawMatrix()
	for i := 0; i < raw.Rows; i++ {
		for j, v := range raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: %w: %s is %v at row %d, column %d; remove or repair that sample",
					method, ErrInput, name, v, i, j)
			}
		}
	}
	return nil
}

// CheckTest reports why X (dim x M) cannot be given to a model trained on dim features.
func CheckTest(method string, X *mat.Dense, dim int) error {
	if X == nil || X.IsEmpty() {
		return fmt.Errorf("%s: %w: no test samples", method, ErrInput)
	}
	if d, _ := X.Dims(); d != dim {
		return fmt.Errorf("%s: %w: test samples have %d features, the training samples %d", method, ErrInput, d, dim)
	}
	return CheckFinite(method, "test X", X)
}

// OneHot returns the C x N matrix with a one at (Labels[j], j); the columns of
// unlabelled samples hold fill. It is the H of the supervised methods (no unlabelled
// columns) and the O of the pretexts.
func OneHot(labels []int, classes int, fill float64) *mat.Dense {
	o := mat.NewDense(classes, len(labels), nil)
	for j, y := range labels {
		if y != Unlabeled {
			o.Set(y, j, 1)
			continue
		}
		for c := range classes {
			o.Set(c, j, fill)
		}
	}
	return o
}

// LabelledPrefix precedes the keys shared within Labelled: on fewer columns the same key means
// another value.
const LabelledPrefix = "labelled/"

// Labelled returns the problem restricted to its labelled columns: what a supervised
// method may see. X is a copy.
func (p Problem) Labelled() Problem {
	keep := make([]int, 0, len(p.Labels))
	for j, y := range p.Labels {
		if y != Unlabeled {
			keep = append(keep, j)
		}
	}
	q := p
	if p.Share != nil {
		q.Share = func(ctx context.Context, key string, build func() (any, int64, error)) (any, error) {
			return p.Share(ctx, LabelledPrefix+key, build)
		}
	}
	q.X = Columns(p.X, keep)
	q.Labels = make([]int, len(keep))
	for i, j := range keep {
		q.Labels[i] = p.Labels[j]
	}
	return q
}

// Columns copies the columns of X named by idx, in that order.
func Columns(X *mat.Dense, idx []int) *mat.Dense {
	dim, _ := X.Dims()
	if len(idx) == 0 {
		return &mat.Dense{}
	}
	out := mat.NewDense(dim, len(idx), nil)
	src, dst := X.RawMatrix(), out.RawMatrix()
	for i := range dim {
		s, d := src.Data[i*src.Stride:], dst.Data[i*dst.Stride:]
		for k, j := range idx {
			d[k] = s[j]
		}
	}
	return out
}

// Supervised returns the method that gives a learner one-hot targets on the labelled columns. name
// is the learner's, for errors.
func Supervised(name string, l Learner) Method { return supervised{name, l} }

type supervised struct {
	name    string
	learner Learner
}

func (s supervised) Fit(ctx context.Context, p Problem) (Model, error) {
	if err := p.Check(s.name, s.learner); err != nil {
		return nil, err
	}
	p = p.Labelled()
	return s.learner.FitTargets(ctx, p, OneHot(p.Labels, p.Classes, 0))
}

// Harden returns, for each column of F, the row of its largest entry (the first one on ties).
func Harden(F *mat.Dense) []int {
	c, n := F.Dims()
	out := make([]int, n)
	for j := range n {
		best := math.Inf(-1)
		for i := range c {
			if v := F.At(i, j); v > best {
				best, out[j] = v, i
			}
		}
	}
	return out
}
