package dictionary

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// SSDL is the dictionary step of the paper (Eq. 12-16): see Steps for the objective and
// its minimisation. It learns from all columns of p.X, labelled or not, with the targets F.
//
// # What is printed, and what is meant
//
// The paper's formulas do not solve the problem that it states. On real features the two differ by
// many points if the columns of F are short. Three parameters choose between them:
//
//   - Norm: the problem has the atoms of D and B in the unit ball; the updates as printed,
//     v/||v||, put them on the sphere.
//   - Targets: unit scales the columns of F to norm 1 (zero columns stay zero), raw does not, as
//     printed. The ball of Eq. 12 bounds B, so codes that fit short columns are small too.
//   - Test: exact solves test codes to a duality gap. sweeps is cyclic coordinate descent from 0
//     until a sweep lowers the objective of the whole batch by at most 1e-6 of it, with at most
//     300 sweeps.
//
// The defaults are the problem as intended; sphere and raw are the formulas as printed. The paper
// prints no rule for test codes. The row "as printed" uses sweeps, with the two limits of the first
// author's code for other methods.
//
// The soft threshold is max(J, a) + min(J, -a). Eq. 13 prints max(J, a) + min(J, a), which is J + a
// for every J and thresholds nothing.
//
// # How many atoms
//
// "Half the number of training samples" can count all of them or the labelled ones: SizeOf "all" or
// "labelled", with Size 0.5. Behind a pretext these differ; p.Labels says which columns are labelled.
//
// # Start and end
//
// The paper names no start. With Init "gaussian" D starts with Gaussian atoms of unit norm, and B at
// 0. With "columns" both start with nonzero training columns, drawn at random: D with the samples, B
// with their targets; further atoms are Gaussian. The draw depends on the features of a column and
// not on its place. So with either start the result does not depend on the order of the samples or
// on the names of the classes. S starts at 0.
//
// Iterations end when the objective falls by less than Tolerance of its value. The start B = 0 is
// inside the sphere, so with Norm sphere the first iteration may raise the objective. It is
// therefore never the last.
//
// # Classification
//
// The paper names no test rule. Here a sample's code minimises ||x - D s||^2 + 2 alpha |s|_1: a test
// sample has no label to embed. Its class is the largest entry of B s among the classes with a
// labelled sample in p.Labels. Beside that p.Labels gives only the number of atoms, with SizeOf
// "labelled", and the accuracies below.
//
// With Gamma = 0 the classifier B is fitted but does not influence D and S.
//
// # What codes know of labels
//
// The code of a training sample sees its target, the code of a test sample does not. With more atoms
// than features many codes reproduce a sample; training can then choose one that reproduces the
// target as well, and B learns a code that no test sample has. Two facts show it, both shares of the
// labelled training samples, classified by B s: with the codes of training, and with codes of the
// same samples by the rule for test samples. The second takes as long as as many test samples, so
// the parameter leak switches it on. Neither changes a result.
type SSDL struct {
	Norm       string  `param:"norm" default:"ball" choices:"ball,sphere" doc:"where the atoms of D and B are: in the unit ball, or on the sphere as Eq. 15 and 16 are printed"`
	Targets    string  `param:"targets" default:"unit" choices:"unit,raw" doc:"columns of F scaled to norm 1, or not scaled, as printed"`
	Test       string  `param:"test" default:"exact" choices:"exact,sweeps" doc:"test codes solved to a duality gap, or by at most 300 sweeps"`
	Alpha      float64 `param:"alpha" default:"2^-12" min:"2^-60" doc:"weight of the l1 norm of the codes"`
	Gamma      float64 `param:"gamma" default:"2^-12" min:"0" doc:"weight of the label error"`
	K          int     `param:"K" default:"0" min:"0" doc:"atoms; 0 means that size says it"`
	Size       float64 `param:"size" default:"0.5" min:"1e-6" max:"4" doc:"atoms as a share of what size_of counts"`
	SizeOf     string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the training samples, the labelled ones, or the features"`
	Init       string  `param:"init" default:"gaussian" choices:"gaussian,columns" doc:"start of D: random atoms, or training columns, with their targets for B"`
	Iterations int     `param:"iterations" default:"30" min:"1" doc:"largest number of outer iterations"`
	Tolerance  float64 `param:"tolerance" default:"1e-6" min:"0" doc:"relative decrease of the objective at which to stop"`
	Leak       bool    `param:"leak" default:"false" doc:"also code the labelled training samples as test samples, and trace the share that is right"`
}

func (m SSDL) size() size { return size{"ssdl", "K", m.K, m.Size, m.SizeOf} }

// FitTargets learns D and B from X and F (C x N). It traces "atoms", "objective" after each
// iteration, 0 being the start, "train_accuracy_with_labels" and, with Leak,
// "train_accuracy_without_labels".
func (m SSDL) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	if err := checkTargets("ssdl", m, p, F); err != nil {
		return nil, err
	}
	k, err := m.size().total(p, p)
	if err != nil {
		return nil, err
	}
	p.Trace.Add("atoms", 0, float64(k))
	if m.Targets != "raw" {
		F = mat.DenseCopyOf(F)
		linalg.NormalizeColumns(F)
	}
	D, B := m.start(p, F, k)
	steps := NewSteps(p.X, F, D, B, m.Alpha, m.Gamma, m.Norm == "sphere")
	if err := m.run(ctx, steps, p.Trace); err != nil {
		return nil, fmt.Errorf("ssdl: %w", err)
	}
	model := m.model(steps, p)
	if err := m.traceTraining(ctx, p, steps, model); err != nil {
		return nil, fmt.Errorf("ssdl: %w", err)
	}
	return model, nil
}

// traceTraining traces the share of the labelled training samples that B classifies right.
func (m SSDL) traceTraining(ctx context.Context, p methods.Problem, s *Steps, model *ssdlModel) error {
	if p.Trace == nil {
		return nil
	}
	right := func(predicted, labels []int) float64 {
		hits := 0
		for j, c := range labels {
			if c == predicted[j] { // never Unlabeled
				hits++
			}
		}
		return float64(hits) / float64(countLabelled(labels))
	}
	p.Trace("train_accuracy_with_labels", 0, right(model.classify(s.s), p.Labels))
	if !m.Leak {
		return nil
	}
	silent, labelled := *model, p.Labelled()
	silent.trace = nil
	predicted, err := silent.Predict(ctx, labelled.X)
	if err != nil {
		return fmt.Errorf("labelled training samples: %w", err)
	}
	p.Trace("train_accuracy_without_labels", 0, right(predicted, labelled.Labels))
	return nil
}

// run iterates until the objective hardly falls any more, at most Iterations times.
func (m SSDL) run(ctx context.Context, s *Steps, trace methods.Trace) error {
	last := s.Objective()
	trace.Add("objective", 0, last)
	for it := 1; it <= m.Iterations; it++ {
		if err := s.Iterate(ctx); err != nil {
			return fmt.Errorf("iteration %d: %w", it, err)
		}
		f := s.Objective()
		trace.Add("objective", it, f)
		if it > 1 && last-f <= m.Tolerance*last {
			break
		}
		last = f
	}
	return nil
}

// Model returns the classifier of the state s. It uses Labels, Classes and Trace of p.
func (m SSDL) Model(s *Steps, p methods.Problem) methods.Model { return m.model(s, p) }

func (m SSDL) model(s *Steps, p methods.Problem) *ssdlModel {
	return &ssdlModel{
		d: s.d, b: s.b, alpha: m.Alpha, sweeps: m.Test == "sweeps",
		present: present(p.Labels, p.Classes), trace: p.Trace,
	}
}

type ssdlModel struct {
	d, b    *mat.Dense // D^T, K x dim; B^T, K x C
	alpha   float64
	sweeps  bool
	present []bool
	trace   methods.Trace
}

// Predict codes the columns of X (dim x M) and classifies the codes. It traces the facts of
// exactCodes (exact), or the number of sweeps as "test_sweeps" and the facts of traceSupport
// (sweeps).
func (m *ssdlModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	_, dim := m.d.Dims()
	if err := methods.CheckTest("ssdl", X, dim); err != nil {
		return nil, err
	}
	var R mat.Dense
	G := linalg.Outer(m.d)
	R.Mul(m.d, X)
	S, err := m.code(ctx, G, &R, linalg.ColumnSquares(X))
	if err != nil {
		return nil, fmt.Errorf("ssdl: test codes: %w", err)
	}
	return m.classify(S), nil
}

// classify returns the class of each code, a column of S (K x M).
func (m *ssdlModel) classify(S *mat.Dense) []int {
	var scores mat.Dense
	scores.Mul(m.b.T(), S)
	return largest(&scores, m.present)
}

func (m *ssdlModel) code(ctx context.Context, G, R *mat.Dense, squares []float64) (*mat.Dense, error) {
	_, dim := m.d.Dims()
	if !m.sweeps {
		return exactCodes(ctx, G, R, squares, m.alpha, dim, m.trace)
	}
	const (
		maxSweeps = 300
		tolerance = 1e-6
	)
	k, n := R.Dims()
	S, A := mat.NewDense(k, n, nil), mat.NewDense(k, k, nil)
	constant := 0.0
	for _, v := range squares {
		constant += v
	}
	sweeps := 0
	for last := constant; sweeps < maxSweeps; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		linalg.Sweep(S, G, R, m.alpha)
		sweeps++
		outer(A, S)
		f := constant - 2*inner(R, S) + inner(G, A) + float64(2*m.alpha*absSum(S))
		if last-f <= tolerance*last {
			break
		}
		last = f
	}
	m.trace.Add("test_sweeps", 0, float64(sweeps))
	traceSupport(m.trace, S, dim)
	return S, nil
}

// Bytes counts S and R (K x N) with their workspace, G and A (K x K), D, V and T (K x dim),
// and then the codes of the test samples, or of the labelled ones if they are more.
func (m SSDL) Bytes(dim, n, test, _ int) int64 {
	k := m.size().atMost(dim, n, 1)
	if m.Leak {
		test = max(test, n)
	}
	return int64(8 * (4*k*n + 3*k*k + 3*k*dim + 4*k*test))
}
