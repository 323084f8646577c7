package dictionary

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

// CSDL is class specific dictionary learning as in the public code of the SSDL authors, the
// first stage of CDLF. It solves for each class c separately
//
//	min (1+tau) ||X_c - D_c S_c||^2 + 2 alpha |S_c|_1,   unit atoms,
//
// and a sample is coded over all D = [D_1 .. D_C] at once:
//
//	s = argmin ||x - D s||^2 + tau sum_c ||x - D_c s_c||^2 + 2 alpha |s|_1,
//	class = argmin_c ||x - D_c s_c||.
//
// An iteration makes one cyclic pass of coordinate descent over the rows of S_c, then one over
// the atoms. An atom that no sample uses takes the direction of the mean residual: the authors
// put codes of 1e-16 in place of its zeros. The atoms of D_c start as combinations of the samples
// of the class, with weights uniform on [-0.5, 0.5) that are the same for every class.
//
// FitTargets hardens F as LCKSVD does.
type CSDL struct {
	Atoms      int     `param:"atoms" default:"0" min:"0" doc:"atoms of a class; 0 means that size says it"`
	Size       float64 `param:"size" default:"0.5" min:"1e-6" max:"4" doc:"atoms of a class as a share of what size_of counts"`
	SizeOf     string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the samples of the class, its labelled ones, or an equal part of the features"`
	Alpha      float64 `param:"alpha" default:"2^-6" min:"2^-40" doc:"weight of the l1 norm of a code"`
	Tau        float64 `param:"tau" default:"2^-6" min:"0" doc:"weight of the reconstruction by the class alone"`
	Iterations int     `param:"iterations" default:"30" min:"1" doc:"iterations"`
	Mode       string  `param:"mode" default:"paper" choices:"paper,reference" doc:"exact codes of test samples, or coordinate descent stopped as in the authors' code"`
}

const (
	// zeroCode replaces a zero in the pass over the atoms.
	zeroCode = 1e-16
	// The stop of the authors' coordinate descent for test samples.
	csdlSweeps, csdlDecrease = 300, 1e-6
)

const csdlOrder = "the atoms start as combinations of the samples of a class in their order"

// OrderDependent names the reason why the order of the samples matters.
func (CSDL) OrderDependent() string { return csdlOrder }

func (m CSDL) size() size { return size{"csdl", "atoms", m.Atoms, m.Size, m.SizeOf} }

// FitTargets learns one dictionary for each class to which columns of F (C x N) harden. It
// traces "objective", the sum over the classes of ||X_c - D_c S_c||^2 + 2 alpha/(1+tau) |S_c|_1
// after the codes of each iteration.
func (m CSDL) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	q, err := hardened("csdl", m, p, F)
	if err != nil {
		return nil, err
	}
	atoms, err := m.size().perClass(p, q)
	if err != nil {
		return nil, err
	}
	model, err := m.fit(ctx, q, atoms)
	if err != nil {
		return nil, fmt.Errorf("csdl: %w", err)
	}
	return model, nil
}

// fit learns from p, which has no unlabelled columns. It traces the number of atoms; atoms holds that
// of each class.
func (m CSDL) fit(ctx context.Context, p methods.Problem, atoms []int) (*CSDLModel, error) {
	members := byClass(p.Labels, p.Classes)
	largest := 0
	for _, idx := range members {
		largest = max(largest, len(idx))
	}
	combine := mat.NewDense(largest, slices.Max(atoms), nil)
	for i := range combine.RawMatrix().Data {
		combine.RawMatrix().Data[i] = p.Rand.Float64() - 0.5
	}
	X, start := make([]*mat.Dense, p.Classes), make([]*mat.Dense, p.Classes)
	for c, idx := range members {
		if n := len(idx); n > 0 {
			X[c], start[c] = methods.Columns(p.X, idx), new(mat.Dense)
			start[c].Mul(X[c], combine.Slice(0, n, 0, atoms[c]))
			linalg.NormalizeColumns(start[c])
		}
	}
	traceAtoms(p.Trace, atoms)
	D, _, err := m.Train(ctx, X, start, p.Trace)
	if err != nil {
		return nil, err
	}
	return m.Model(D, p.Trace), nil
}

// Train learns D_c from X_c (dim x n_c) and its start (dim x K_c, unit or zero columns) for each
// class with an X_c. It also returns the codes S_c (K_c x n_c).
func (m CSDL) Train(ctx context.Context, X, start []*mat.Dense, trace methods.Trace) (D, S []*mat.Dense, err error) {
	D, S = make([]*mat.Dense, len(X)), make([]*mat.Dense, len(X))
	objective := make([][]float64, len(X))
	linalg.Parallel(len(X), 1, func(c, _ int) {
		if X[c] != nil {
			D[c], S[c], objective[c] = m.class(ctx, X[c], start[c])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for it := range m.Iterations {
		f := 0.0
		for c := range X {
			if X[c] != nil {
				f += objective[c][it]
			}
		}
		trace.Add("objective", it+1, f)
	}
	return D, S, nil
}

// class learns the dictionary of one class.
func (m CSDL) class(ctx context.Context, X, start *mat.Dense) (D, S *mat.Dense, objective []float64) {
	dim, k := start.Dims()
	_, n := X.Dims()
	d := mat.DenseCopyOf(start.T()) // atoms are rows
	S = mat.NewDense(k, n, nil)
	touched, A, V, R := mat.NewDense(k, n, nil), mat.NewDense(k, k, nil), mat.NewDense(k, dim, nil), mat.NewDense(k, n, nil)
	sweep := atomSweep{sphere: true}
	threshold := m.Alpha / (1 + m.Tau)
	constant := squareSum(X)
	for range m.Iterations {
		if ctx.Err() != nil {
			return nil, nil, nil
		}
		G := linalg.Outer(d)
		R.Mul(d, X)
		linalg.Sweep(S, G, R, threshold)
		outer(A, S)
		objective = append(objective, constant-2*inner(R, S)+inner(G, A)+float64(2*threshold*absSum(S)))
		to := touched.RawMatrix().Data
		for i, v := range S.RawMatrix().Data {
			if v == 0 {
				v = zeroCode
			}
			to[i] = v
		}
		outer(A, touched)
		V.Mul(touched, X.T())
		sweep.run(d, V, A)
	}
	return mat.DenseCopyOf(d.T()), S, objective
}

// Model returns the classifier with the dictionaries D_c (dim x K_c). It never predicts a class
// whose D_c is nil.
func (m CSDL) Model(D []*mat.Dense, trace methods.Trace) *CSDLModel {
	model := &CSDLModel{setting: m, trace: trace, from: make([]int, len(D)+1), known: make([]bool, len(D))}
	for c, d := range D {
		model.from[c+1] = model.from[c]
		if d != nil {
			_, k := d.Dims()
			model.from[c+1] += k
			model.known[c] = true
			if model.d == nil {
				model.d = mat.DenseCopyOf(d.T())
			} else {
				var all mat.Dense
				all.Stack(model.d, d.T())
				model.d = &all
			}
		}
	}
	model.gram = linalg.Outer(model.d)
	model.g = mat.DenseCopyOf(model.gram)
	for c := range D {
		for i := model.from[c]; i < model.from[c+1]; i++ {
			row := model.g.RawRowView(i)[model.from[c]:model.from[c+1]]
			for j, v := range row {
				row[j] = math.FMA(m.Tau, v, v)
			}
		}
	}
	return model
}

// CSDLModel classifies by the codes of CSDL.
type CSDLModel struct {
	setting CSDL
	d       *mat.Dense // D^T, K x dim
	from    []int      // the atoms of class c are from[c] .. from[c+1]-1
	gram, g *mat.Dense // D^T D, and the same with its diagonal blocks times 1+tau
	known   []bool
	trace   methods.Trace
}

// Codes returns the codes (K x M) of the columns of X (dim x M). In mode "paper" it traces the worst
// relative duality gap ("test_gap") and the number of codes above the solver's tolerance
// ("test_unconverged"), in mode "reference" the number of passes ("test_sweeps").
func (m *CSDLModel) Codes(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	_, dim := m.d.Dims()
	if err := methods.CheckTest("csdl", X, dim); err != nil {
		return nil, err
	}
	var R mat.Dense
	R.Mul(m.d, X)
	R.Scale(1+m.setting.Tau, &R)
	squares := linalg.ColumnSquares(X)
	blocks := 0.0
	for _, ok := range m.known {
		if ok {
			blocks++
		}
	}
	for j, v := range squares { // the targets are x, and sqrt(tau) x for each class
		squares[j] = v * (1 + m.setting.Tau*blocks)
	}
	if m.setting.Mode == "reference" {
		return m.referenceCodes(ctx, &R, squares)
	}
	S, report, err := sparse.Lasso{Lambda: m.setting.Alpha}.Solve(ctx, m.g, &R, squares)
	if err != nil {
		return nil, fmt.Errorf("csdl: test codes: %w", err)
	}
	m.trace.Add("test_gap", 0, report.WorstGap)
	m.trace.Add("test_unconverged", 0, float64(report.Unconverged))
	return S, nil
}

// referenceCodes sweeps for all samples at once until the objective hardly falls any more.
func (m *CSDLModel) referenceCodes(ctx context.Context, R *mat.Dense, squares []float64) (*mat.Dense, error) {
	k, n := R.Dims()
	S, A := mat.NewDense(k, n, nil), mat.NewDense(k, k, nil)
	constant := 0.0
	for _, v := range squares {
		constant += v
	}
	last := 999999.0 // the authors' stand-in for infinity
	for sweep := 1; ; sweep++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("csdl: test codes: %w", err)
		}
		linalg.Sweep(S, m.g, R, m.setting.Alpha)
		outer(A, S)
		f := constant - 2*inner(R, S) + inner(m.g, A) + float64(2*m.setting.Alpha*absSum(S))
		if sweep == csdlSweeps || last-f <= csdlDecrease*last {
			m.trace.Add("test_sweeps", 0, float64(sweep))
			return S, nil
		}
		last = f
	}
}

// Residuals returns ||x - D_c s_c||^2 (C x M); the row of a class without a dictionary is +Inf.
func (m *CSDLModel) Residuals(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	S, err := m.Codes(ctx, X)
	if err != nil {
		return nil, err
	}
	_, n := X.Dims()
	var R mat.Dense
	R.Mul(m.d, X)
	squares := linalg.ColumnSquares(X)
	out := mat.NewDense(len(m.known), n, nil)
	for c, ok := range m.known {
		e := out.RawRowView(c)
		if !ok {
			for j := range e {
				e[j] = math.Inf(1)
			}
			continue
		}
		lo, hi := m.from[c], m.from[c+1]
		var GS mat.Dense
		GS.Mul(m.gram.Slice(lo, hi, lo, hi), S.Slice(lo, hi, 0, n))
		copy(e, squares)
		for i := lo; i < hi; i++ {
			s, gs, r := S.RawRowView(i), GS.RawRowView(i-lo), R.RawRowView(i)
			for j := range e {
				e[j] = math.FMA(s[j], gs[j]-2*r[j], e[j])
			}
		}
		for j, v := range e {
			e[j] = max(v, 0)
		}
	}
	return out, nil
}

// Predict returns the class with the smallest residual, the first one on ties.
func (m *CSDLModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	E, err := m.Residuals(ctx, X)
	if err != nil {
		return nil, err
	}
	E.Scale(-1, E)
	return largest(E, m.known), nil
}

// Bytes counts the samples, the dictionaries, the codes of the classes, the Gram matrices of all atoms
// with the solver's, and the codes of the test samples.
func (m CSDL) Bytes(dim, n, test, classes int) int64 {
	k := m.size().atMost(dim, n, classes)
	return int64(8 * (2*dim*n + 3*k*dim + 3*k*n/classes + 4*k*k + 3*k*test))
}
