package dictionary

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// LEDL is label embedded dictionary learning (Shao et al., Neurocomputing 2020):
//
//	min ||X - D S||^2 + lambda ||H - W S||^2 + omega ||Q - A S||^2 + 2 epsilon |S|_1
//
// with unit columns of D, W and A. Row k of Q (K x N) is the row of H of the class of atom k: 1
// where atom and sample have the same class. See LEDLSteps for the algorithm.
//
// A test sample is coded with D alone, by TestIterations passes of the same kind. As in the
// authors' code they use a leaky dual variable and return the dense copy of the code. The class is
// the largest entry of W s.
//
// # Start
//
// The entries of D, W and A are uniform on [-0.5, 0.5), each column centred and scaled to
// norm 1. The classes with labelled samples get equally many atoms, in the order of the first
// sample of each class.
//
// # Soft targets
//
// F (C x N), its columns scaled to norm 1 (zero columns stay zero), replaces H, and its rows replace
// those of Q. F is not hardened. p.Labels says how many columns are labelled (SizeOf "labelled", the
// default), and which classes are: others are never predicted.
//
// # The published code
//
// In the authors' file the line that updates D lacks its first term and the normalisation, and the
// objective explodes. Here D is updated like W and A.
type LEDL struct {
	K              int     `param:"K" default:"0" min:"0" doc:"atoms; 0 means that size says it"`
	Size           float64 `param:"size" default:"1" min:"1e-6" max:"4" doc:"atoms as a share of what size_of counts"`
	SizeOf         string  `param:"size_of" default:"labelled" choices:"all,labelled,dim" doc:"the samples, the labelled ones, or the features"`
	Lambda         float64 `param:"lambda" default:"2^-6" min:"0" doc:"weight of the label error"`
	Omega          float64 `param:"omega" default:"2^-6" min:"0" doc:"weight of the label consistency error"`
	Epsilon        float64 `param:"epsilon" default:"2^-12" min:"0" doc:"weight of the l1 norm of the codes in training"`
	TestEpsilon    float64 `param:"test_epsilon" default:"2^-12" min:"0" doc:"weight of the l1 norm of the codes of test samples"`
	Rho            float64 `param:"rho" default:"1" min:"1e-9" doc:"penalty of the splitting"`
	Iterations     int     `param:"iterations" default:"10" min:"1" doc:"iterations, of one pass over codes and atoms each"`
	TestIterations int     `param:"test_iterations" default:"10" min:"1" doc:"passes of the splitting for test samples"`
}

// The step of the dual variable in the authors' code: it starts at dualStep and shrinks by
// dualDecay each pass down to dualLeast.
const (
	dualStep  = 0.5
	dualDecay = 0.99
	dualLeast = 1e-4
)

const ledlOrder = "random atoms are given to the classes in the order of their first samples"

// OrderDependent names the reason why the order of the samples matters.
func (LEDL) OrderDependent() string { return ledlOrder }

func (m LEDL) size() size { return size{"ledl", "K", m.K, m.Size, m.SizeOf} }

// FitTargets learns D, W and A from X and F (C x N). It traces "objective" after each
// iteration.
func (m LEDL) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	if err := checkTargets("ledl", m, p, F); err != nil {
		return nil, err
	}
	k, err := m.size().total(p, p)
	if err != nil {
		return nil, err
	}
	model, err := m.fit(ctx, p, p.X, F, k)
	if err != nil {
		return nil, fmt.Errorf("ledl: %w", err)
	}
	return model, nil
}

// fit learns k atoms from X and F. It takes labels, classes, random numbers and trace from p.
func (m LEDL) fit(ctx context.Context, p methods.Problem, X, F *mat.Dense, k int) (*LEDLModel, error) {
	dim, _ := X.Dims()
	p.Trace.Add("atoms", 0, float64(k))
	known := present(p.Labels, p.Classes)
	order := byFirstSample(p.Labels, p.Classes)
	start := LEDLStart{D: uniformColumns(p, dim, k), A: uniformColumns(p, k, k), Class: shareOut(order, known, k)}
	drawn := uniformColumns(p, p.Classes, k)
	start.W = mat.NewDense(p.Classes, k, nil)
	for i, c := range order { // the names of the classes do not matter
		copy(start.W.RawRowView(c), drawn.RawRowView(i))
	}
	H := mat.DenseCopyOf(F)
	linalg.NormalizeColumns(H)
	steps := m.Steps(X, H, start)
	for it := 1; it <= m.Iterations; it++ {
		if err := steps.Iterate(ctx); err != nil {
			return nil, fmt.Errorf("iteration %d: %w", it, err)
		}
		p.Trace.Add("objective", it, steps.Objective())
	}
	return m.Model(steps, known)
}

// uniformColumns draws uniform columns, centred and of norm 1.
func uniformColumns(p methods.Problem, rows, cols int) *mat.Dense {
	A := mat.NewDense(rows, cols, nil)
	raw := A.RawMatrix().Data
	for i := range raw {
		raw[i] = p.Rand.Float64() - 0.5
	}
	if rows > 1 { // centring a single row would make it zero
		mean := make([]float64, cols)
		for i := range rows {
			axpy(1/float64(rows), A.RawRowView(i), mean)
		}
		for i := range rows {
			axpy(-1, mean, A.RawRowView(i))
		}
	}
	linalg.NormalizeColumns(A)
	return A
}

// byFirstSample returns the classes in the order of their first labelled samples, those without
// labelled samples at the end.
func byFirstSample(labels []int, classes int) []int {
	order, seen := make([]int, 0, classes), make([]bool, classes)
	for _, c := range labels {
		if c != methods.Unlabeled && !seen[c] {
			order, seen[c] = append(order, c), true
		}
	}
	for c, s := range seen {
		if !s {
			order = append(order, c)
		}
	}
	return order
}

// shareOut returns the class of each of k atoms: the known classes in the given order, in blocks
// whose sizes differ by at most one.
func shareOut(order []int, known []bool, k int) []int {
	var classes []int
	for _, c := range order {
		if known[c] {
			classes = append(classes, c)
		}
	}
	out := make([]int, k)
	for i := range out {
		out[i] = classes[i*len(classes)/k]
	}
	return out
}

// LEDLStart is the start of LEDL.
type LEDLStart struct {
	D, W, A *mat.Dense // dim x K, C x K and K x K, unit columns
	Class   []int      // the class of each atom
}

// LEDLSteps is the state of LEDL's iterations. Each makes one pass of the alternating direction
// method of multipliers over the codes,
//
//	S = (D^T D + lambda W^T W + omega A^T A + rho I)^-1 (D^T X + lambda W^T H + omega A^T Q + rho Z - delta)
//	Z = soft(S + delta/rho, epsilon/rho)
//	delta = delta + g (S - Z),   g = 0.5, shrinking by 1 % a pass,
//
// and then one pass over the columns of D, W and A, each the best on the unit sphere for the dense
// codes S and the other columns.
type LEDLSteps struct {
	LEDL
	x, h  *mat.Dense
	class []int
	// Atoms are rows here: D^T, W^T and A^T.
	d, w, a *mat.Dense
	// S, Z and Delta are the dense and the sparse copy of the codes, and the dual variable
	// (K x N).
	S, Z, Delta *mat.Dense

	sweep    atomSweep
	step     float64
	g, p     *mat.Dense // the sum of the three Gram matrices; S S^T
	v, u, va *mat.Dense // S X^T, S H^T, S Q^T
	constant float64
}

// Steps starts from X (dim x N), targets H (C x N) and the start, with Z = delta = 0.
func (m LEDL) Steps(X, H *mat.Dense, start LEDLStart) *LEDLSteps {
	dim, n := X.Dims()
	classes, k := start.W.Dims()
	s := &LEDLSteps{
		LEDL: m, x: X, h: H, class: start.Class, step: dualStep, sweep: atomSweep{sphere: true, dead: deadAtom},
		d: mat.DenseCopyOf(start.D.T()), w: mat.DenseCopyOf(start.W.T()), a: mat.DenseCopyOf(start.A.T()),
		S: mat.NewDense(k, n, nil), Z: mat.NewDense(k, n, nil), Delta: mat.NewDense(k, n, nil),
		g: mat.NewDense(k, k, nil), p: mat.NewDense(k, k, nil),
		v: mat.NewDense(k, dim, nil), u: mat.NewDense(k, classes, nil), va: mat.NewDense(k, k, nil),
	}
	s.constant = squareSum(X) + float64(m.Lambda*squareSum(H))
	for _, c := range s.class {
		row := H.RawRowView(c)
		s.constant += float64(m.Omega * dot(row, row))
	}
	s.gram()
	return s
}

// gram sets g = D^T D + lambda W^T W + omega A^T A.
func (s *LEDLSteps) gram() {
	s.g.Mul(s.d, s.d.T())
	addOuter(s.g, s.Lambda, s.w)
	addOuter(s.g, s.Omega, s.a)
}

// addOuter adds f B B^T to G.
func addOuter(G *mat.Dense, f float64, B *mat.Dense) {
	if f != 0 {
		gemm(blas.Trans, f, B, B, 1, G)
	}
}

// Iterate updates the codes, then the atoms.
func (s *LEDLSteps) Iterate(ctx context.Context) error {
	k, n := s.S.Dims()
	// The rows of Q are rows of H, so A^T Q takes the sums of A over the atoms of a class.
	embed := mat.NewDense(k, s.h.RawMatrix().Rows, nil)
	for i := range k {
		to := embed.RawRowView(i)
		for c, v := range s.w.RawRowView(i) {
			to[c] = s.Lambda * v
		}
		for j, v := range s.a.RawRowView(i) {
			to[s.class[j]] = math.FMA(s.Omega, v, to[s.class[j]])
		}
	}
	B := mat.NewDense(k, n, nil)
	gemm(blas.NoTrans, 1, s.d, s.x, 0, B)
	gemm(blas.NoTrans, 1, embed, s.h, 1, B)
	if err := ctx.Err(); err != nil {
		return err
	}
	var chol mat.Cholesky
	if !chol.Factorize(plusDiagonal(s.g, s.Rho)) {
		return fmt.Errorf("%w: rho = %g is lost in the rounding of the Gram matrix; raise it", methods.ErrInput, s.Rho)
	}
	if err := split(&chol, B, s.S, s.Z, s.Delta, s.Rho, s.Epsilon, s.step, false); err != nil {
		return err
	}
	s.step = max(dualLeast, dualDecay*s.step)
	if err := ctx.Err(); err != nil {
		return err
	}
	outer(s.p, s.S)
	gemm(blas.Trans, 1, s.S, s.x, 0, s.v)
	gemm(blas.Trans, 1, s.S, s.h, 0, s.u)
	for i := range k {
		u, va := s.u.RawRowView(i), s.va.RawRowView(i)
		for j, c := range s.class {
			va[j] = u[c]
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.sweep.run(s.d, s.v, s.p)
	s.sweep.run(s.w, s.u, s.p)
	if s.Omega > 0 {
		s.sweep.run(s.a, s.va, s.p)
	}
	s.gram()
	return ctx.Err()
}

// plusDiagonal returns G + rho I.
func plusDiagonal(G *mat.Dense, rho float64) *mat.SymDense {
	k, _ := G.Dims()
	out := mat.NewSymDense(k, nil)
	for i := range k {
		copy(out.RawSymmetric().Data[i*k+i:(i+1)*k], G.RawRowView(i)[i:])
		out.SetSym(i, i, out.At(i, i)+rho)
	}
	return out
}

// split makes one pass of the splitting: see LEDLSteps. B holds the constant right-hand side and is
// overwritten. With leaky the dual variable becomes (1-step) delta + step (S-Z), as in the authors'
// code for test samples.
func split(chol *mat.Cholesky, B, S, Z, Delta *mat.Dense, rho, epsilon, step float64, leaky bool) error {
	b, z, delta := B.RawMatrix().Data, Z.RawMatrix().Data, Delta.RawMatrix().Data
	for i, v := range b {
		b[i] = math.FMA(rho, z[i], v-delta[i])
	}
	if err := chol.SolveTo(S, B); err != nil {
		return fmt.Errorf("%w: the system of the codes is too badly conditioned (%w); raise rho = %g", methods.ErrInput, err, rho)
	}
	keep := 1.0
	if leaky {
		keep = 1 - step
	}
	for i, v := range S.RawMatrix().Data {
		t := v + delta[i]/rho
		z[i] = math.Copysign(max(math.Abs(t)-epsilon/rho, 0), t)
		delta[i] = math.FMA(step, v-z[i], keep*delta[i])
	}
	return nil
}

// Objective returns ||X - D S||^2 + lambda ||H - W S||^2 + omega ||Q - A S||^2 + 2 epsilon |Z|_1.
func (s *LEDLSteps) Objective() float64 {
	fit := inner(s.d, s.v) + float64(s.Lambda*inner(s.w, s.u)) + float64(s.Omega*inner(s.a, s.va))
	return s.constant - 2*fit + inner(s.g, s.p) + float64(2*s.Epsilon*absSum(s.Z))
}

// D returns a copy of the dictionary, dim x K.
func (s *LEDLSteps) D() *mat.Dense { return mat.DenseCopyOf(s.d.T()) }

// W returns a copy of the classifier, C x K.
func (s *LEDLSteps) W() *mat.Dense { return mat.DenseCopyOf(s.w.T()) }

// A returns a copy of the label consistency transform, K x K.
func (s *LEDLSteps) A() *mat.Dense { return mat.DenseCopyOf(s.a.T()) }

// Model returns the classifier of the state s. It predicts only the classes that known marks.
func (m LEDL) Model(s *LEDLSteps, known []bool) (*LEDLModel, error) {
	model := &LEDLModel{setting: m, d: s.d, w: s.w, known: known}
	if !model.chol.Factorize(plusDiagonal(linalg.Outer(s.d), m.Rho)) {
		return nil, fmt.Errorf("%w: rho = %g is lost in the rounding of the Gram matrix; raise it", methods.ErrInput, m.Rho)
	}
	return model, nil
}

// LEDLModel classifies by LEDL's codes.
type LEDLModel struct {
	setting LEDL
	d, w    *mat.Dense // D^T, K x dim; W^T, K x C
	chol    mat.Cholesky
	known   []bool
}

// Codes returns the dense and the sparse copy of the codes (K x M) of the columns of X (dim x M).
func (m *LEDLModel) Codes(ctx context.Context, X *mat.Dense) (S, Z *mat.Dense, err error) {
	k, dim := m.d.Dims()
	if err := methods.CheckTest("ledl", X, dim); err != nil {
		return nil, nil, err
	}
	_, n := X.Dims()
	R, B := mat.NewDense(k, n, nil), mat.NewDense(k, n, nil)
	R.Mul(m.d, X)
	S, Z = mat.NewDense(k, n, nil), mat.NewDense(k, n, nil)
	delta, step := mat.NewDense(k, n, nil), dualStep
	for range m.setting.TestIterations {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("ledl: test codes: %w", err)
		}
		B.Copy(R)
		if err := split(&m.chol, B, S, Z, delta, m.setting.Rho, m.setting.TestEpsilon, step, true); err != nil {
			return nil, nil, fmt.Errorf("ledl: test codes: %w", err)
		}
		step = max(dualLeast, dualDecay*step)
	}
	return S, Z, nil
}

// Scores returns W S (C x M) for the dense codes S of the columns of X.
func (m *LEDLModel) Scores(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	S, _, err := m.Codes(ctx, X)
	if err != nil {
		return nil, err
	}
	var scores mat.Dense
	scores.Mul(m.w.T(), S)
	return &scores, nil
}

// Predict returns the class with the largest score among the classes with a labelled sample.
func (m *LEDLModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	scores, err := m.Scores(ctx, X)
	if err != nil {
		return nil, err
	}
	return largest(scores, m.known), nil
}

// Bytes counts the codes and their workspace (K x N), the Gram matrices and A (K x K), the
// dictionary and its workspace, and the codes of the test samples.
func (m LEDL) Bytes(dim, n, test, _ int) int64 {
	k := m.size().atMost(dim, n, 1)
	return int64(8 * (6*k*n + 7*k*k + 3*k*dim + 6*k*test))
}
