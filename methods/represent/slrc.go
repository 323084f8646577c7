package represent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
	"ssdl/methods/sparse"
)

var _ methods.Method = SLRC{}

// SLRC is superposed linear representation based classification: Deng, Hu, Guo, "Face
// Recognition via Collaborative Representation: Its Discriminant Nature and Superposed
// Representation", TPAMI 2018. A sample is a class mean plus variation that all classes
// share: with P = [m_1 .. m_C] the class means and V = [x_j - m_{label j}],
//
//	l1: (a, b) = argmin 0.5||y - P a - V b||^2 + lambda (||a||_1 + ||b||_1)
//	l2: (a, b) = argmin    ||y - P a - V b||^2 + lambda (||a||^2 + ||b||^2)
//	class = argmin_k ||y - m_k a_k - V b||.
//
// The model is that of the conference version (SSRC, CVPR 2013) and of the public code of the
// SSDL authors, which solves l1. That code derives the Gram matrix of [P V] from the one of X by
// a formula that holds for classes of equal size only. Here it is computed from [P V].
type SLRC struct {
	// Lambda is the weight of the norm of a code.
	Lambda  float64 `param:"lambda" default:"2^-7" min:"2^-30" doc:"weight of the l1 norm (penalty l1) or of the squared norm (l2) of a code"`
	Penalty string  `param:"penalty" default:"l1" choices:"l1,l2" doc:"sparse codes, or collaborative codes in closed form"`
	// Mode is "paper" for the minimum, or "reference" (penalty l1 only) for the early stop of the
	// authors' coordinate descent, as in SRC.
	Mode string `param:"mode" default:"paper" choices:"paper,reference" doc:"exact codes, or coordinate descent stopped as in the authors' code (penalty l1)"`
	// Unit scales the columns of P and V to norm 1. Without it the columns of V are short, and the
	// penalty keeps their codes small.
	Unit bool `param:"unit" default:"false" doc:"scale the columns of P and V to unit norm"`
}

// minNorm is the norm up to which a column of V counts as zero: the deviation of the only sample of
// a class is nothing but rounding.
const minNorm = 1e-12

// Fit computes P and V from the labelled columns. It ignores zero columns.
func (s SLRC) Fit(ctx context.Context, p methods.Problem) (methods.Model, error) {
	if err := p.Check("slrc", s); err != nil {
		return nil, err
	}
	if s.Mode == "reference" && s.Penalty != "l1" {
		return nil, fmt.Errorf("slrc: %w: mode reference needs penalty l1, got %s; choose mode paper or penalty l1", methods.ErrInput, s.Penalty)
	}
	p = p.Labelled()
	m := &SLRCModel{setting: s, classes: p.Classes, trace: p.Trace}
	m.D, m.has = superposed(p, s.Unit)
	key := superposedKey
	if s.Unit {
		key = superposedUnitKey
	}
	var err error
	m.G, err = methods.Shared(ctx, p, key, func() (*mat.Dense, int64, error) {
		G := linalg.Gram(m.D)
		n, _ := G.Dims()
		return G, 8 * int64(n) * int64(n), nil
	})
	if err != nil {
		return nil, fmt.Errorf("slrc: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("slrc: %w", err)
	}
	if s.Penalty == "l2" && !m.ridge.Factorize(shifted(m.G, s.Lambda)) {
		return nil, fmt.Errorf("slrc: lambda = %g is lost in the rounding of the Gram matrix; raise it", s.Lambda)
	}
	return m, nil
}

// superposed returns [P V] (dim x (C+N)) of a problem without unlabelled columns, and which classes
// have samples. The mean of a class without samples is 0.
func superposed(p methods.Problem, unit bool) (D *mat.Dense, has []bool) {
	dim, n := p.X.Dims()
	squares := linalg.ColumnSquares(p.X)
	counts := make([]float64, p.Classes)
	for j, k := range p.Labels {
		if squares[j] > 0 {
			counts[k]++
		}
	}
	D = mat.NewDense(dim, p.Classes+n, nil)
	for i := range dim {
		row, x := D.RawRowView(i), p.X.RawRowView(i)
		for j, k := range p.Labels {
			row[k] += x[j] // a zero column adds nothing
		}
		for k, count := range counts {
			if count > 0 {
				row[k] /= count
			}
		}
		for j, k := range p.Labels {
			if squares[j] > 0 {
				row[p.Classes+j] = x[j] - row[k]
			}
		}
	}
	scale := make([]float64, p.Classes+n)
	for j, v := range linalg.ColumnSquares(D) {
		switch norm := math.Sqrt(v); {
		case norm <= minNorm:
		case unit:
			scale[j] = 1 / norm
		default:
			scale[j] = 1
		}
	}
	for i := range dim {
		row := D.RawRowView(i)
		for j, v := range scale {
			row[j] *= v
		}
	}
	has = make([]bool, p.Classes)
	for k, count := range counts {
		has[k] = count > 0
	}
	if !slices.Contains(has, true) { // all columns are zero: predict one of their classes
		for _, k := range p.Labels {
			has[k] = true
		}
	}
	return D, has
}

// SLRCModel classifies by the codes of SLRC.
type SLRCModel struct {
	setting SLRC
	classes int
	D       *mat.Dense   // dim x (C+N), [P V]
	G       *mat.Dense   // D^T D
	ridge   mat.Cholesky // of G + lambda I, for the penalty l2
	has     []bool       // classes with samples
	trace   methods.Trace
}

// Dictionary returns [P V] (dim x (C+N)): the class means, then the deviations of the
// labelled columns in their order in the problem.
func (m *SLRCModel) Dictionary() *mat.Dense { return mat.DenseCopyOf(m.D) }

// Codes returns the codes [a; b] ((C+N) x M) of the columns of Y (dim x M). With penalty l1 it
// traces what SRC traces. The columns of V of a class sum to zero, so b need not be unique
// if the size of a class is even; V b is unique.
func (m *SLRCModel) Codes(ctx context.Context, Y *mat.Dense) (*mat.Dense, error) {
	S, _, err := m.code(ctx, Y)
	return S, err
}

// Residuals returns ||y - m_k a_k - V b||^2 (C x M); the row of a class without labelled
// samples is +Inf.
func (m *SLRCModel) Residuals(ctx context.Context, Y *mat.Dense) (*mat.Dense, error) {
	S, _, err := m.code(ctx, Y)
	if err != nil {
		return nil, err
	}
	return m.residuals(S, Y), nil
}

// Predict returns the class with the smallest residual. A code without a class part, a = 0, does not
// tell the classes apart: its sample gets the class whose mean it correlates with most, and the
// trace counts it ("zero codes").
func (m *SLRCModel) Predict(ctx context.Context, Y *mat.Dense) ([]int, error) {
	S, R, err := m.code(ctx, Y)
	if err != nil {
		return nil, err
	}
	E := m.residuals(S, Y)
	_, cols := Y.Dims()
	classes, zero := make([]int, cols), 0
	for j := range cols {
		classes[j] = -1
		level := true
		for k := range m.classes {
			level = level && S.At(k, j) == 0
		}
		for k, has := range m.has {
			best := classes[j]
			switch {
			case !has:
			case best < 0,
				level && R.At(k, j) > R.At(best, j),
				!level && E.At(k, j) < E.At(best, j):
				classes[j] = k
			}
		}
		if level {
			zero++
		}
	}
	m.trace.Add("zero codes", 0, float64(zero))
	return classes, nil
}

// residuals returns ||e - m_k a_k||^2 (C x M) with e = y - V b, from P^T e.
func (m *SLRCModel) residuals(S, Y *mat.Dense) *mat.Dense {
	dim, cols := Y.Dims()
	rows, _ := S.Dims()
	var E mat.Dense
	E.Mul(m.D.Slice(0, dim, m.classes, rows), S.Slice(m.classes, rows, 0, cols))
	E.Sub(Y, &E)
	ee := linalg.ColumnSquares(&E)
	var PE mat.Dense
	PE.Mul(m.D.Slice(0, dim, 0, m.classes).T(), &E)
	out := mat.NewDense(m.classes, cols, nil)
	for k := range m.classes {
		row, a, pe, square := out.RawRowView(k), S.RawRowView(k), PE.RawRowView(k), m.G.At(k, k)
		for j := range row {
			row[j] = math.Inf(1)
			if m.has[k] {
				row[j] = max(math.FMA(a[j], math.FMA(square, a[j], -2*pe[j]), ee[j]), 0)
			}
		}
	}
	return out
}

// code returns the codes and R = [P V]^T Y.
func (m *SLRCModel) code(ctx context.Context, Y *mat.Dense) (S, R *mat.Dense, err error) {
	dim, _ := m.D.Dims()
	if err := methods.CheckTest("slrc", Y, dim); err != nil {
		return nil, nil, err
	}
	R = new(mat.Dense)
	R.Mul(m.D.T(), Y)
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("slrc: %w", err)
	}
	if m.setting.Penalty == "l2" {
		S = new(mat.Dense)
		if err := m.ridge.SolveTo(S, R); err != nil {
			return nil, nil, fmt.Errorf("slrc: the ridge system at lambda = %g is too badly conditioned; raise lambda: %w", m.setting.Lambda, err)
		}
		return S, R, nil
	}
	if m.setting.Mode == "reference" {
		S, err := referenceCodes(ctx, m.G, R, linalg.ColumnSquares(Y), m.setting.Lambda, m.trace)
		if err != nil {
			return nil, nil, fmt.Errorf("slrc: %w", err)
		}
		return S, R, nil
	}
	S, report, err := sparse.Lasso{Lambda: m.setting.Lambda, Gap: srcGap}.Solve(ctx, m.G, R, linalg.ColumnSquares(Y))
	if err != nil {
		return nil, nil, fmt.Errorf("slrc: %w", err)
	}
	m.trace.Add("test_gap", 0, report.WorstGap)
	m.trace.Add("test_unconverged", 0, float64(report.Unconverged))
	return S, R, nil
}
