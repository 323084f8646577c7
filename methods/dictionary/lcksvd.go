package dictionary

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

// LCKSVD is label-consistent K-SVD (Jiang, Lin and Davis, TPAMI 2013):
//
//	min ||X - D S||^2 + alpha ||Q - T S||^2 + beta ||H - W S||^2,
//
// with at most Sparsity entries in a column of S. Q (K x N) is 1 where atom and sample have
// the same class, T is K x K and W is C x K. Variant 1 has no beta term: its W is the ridge
// classifier, of weight 1, on the training codes. These codes are for atoms of unit norm in the
// stack, the codes of test samples for atoms of unit norm in D. That is the authors' code, and
// why variant 1 is less accurate.
//
// # Solution
//
// The authors run K-SVD on [X; sqrt(alpha) Q; sqrt(beta) H]. The n_c atoms of a class have equal
// rows of Q, and the start gives them equal rows of T. K-SVD uses only inner products and linear
// combinations of the stack's columns, so the rows stay equal, and with H they act as one row
// with the squared weight alpha n_c + beta. LC-KSVD2 is thus D-KSVD with a weight for each class.
// It is computed that way, with C rows under X in place of K + C. The traced "rmse" is that of the
// authors' stack.
//
// # Start
//
// StartKSVD, as in the authors' code: the atoms of a class start as its first samples,
// so the order of the samples matters.
//
// # Soft targets
//
// Q needs classes, so FitTargets hardens F with methods.Harden and learns from all columns. It
// leaves out a column without an entry above 0, and one whose class has no labelled sample in
// p.Labels. It never predicts a class without samples. With SizeOf "labelled" p.Labels gives the number
// of atoms as well.
type LCKSVD struct {
	Variant        int     `param:"variant" default:"2" min:"1" max:"2" doc:"LC-KSVD1 (classifier afterwards) or LC-KSVD2 (classifier in the stack)"`
	K              int     `param:"K" default:"0" min:"0" doc:"atoms, rounded to as many for each class; 0 means that size says it"`
	Size           float64 `param:"size" default:"0.7" min:"1e-6" max:"4" doc:"atoms as a share of what size_of counts"`
	SizeOf         string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the samples, the labelled ones, or the features"`
	Sparsity       int     `param:"sparsity" default:"50" min:"1" doc:"largest number of atoms in a code"`
	Iterations     int     `param:"iterations" default:"100" min:"1" doc:"iterations of K-SVD on the stack"`
	InitIterations int     `param:"init_iterations" default:"20" min:"1" doc:"iterations of each K-SVD of the start"`
	SqrtAlpha      float64 `param:"sqrt_alpha" default:"2^-3" min:"2^-40" doc:"square root of the weight of the label consistency error"`
	SqrtBeta       float64 `param:"sqrt_beta" default:"2^-4" min:"2^-40" doc:"square root of the weight of the label error (variant 2)"`
}

// OrderDependent names the reason why the order of the samples matters.
func (LCKSVD) OrderDependent() string { return ksvdOrder }

func (m LCKSVD) size() size { return size{"lcksvd", "K", m.K, m.Size, m.SizeOf} }

// FitTargets learns from all columns of p.X, with the classes to which F (C x N) hardens.
func (m LCKSVD) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	rest := func(atoms int) int { return atoms + p.Classes }
	if m.Variant == 1 {
		rest = func(atoms int) int { return atoms }
	}
	return fitStack(ctx, m, p, F, m.size(), m.Sparsity, m.InitIterations, rest, m.Train)
}

// Train learns from p, which has no unlabelled columns, and also returns the training codes
// S (K x N). It traces the root mean square error of the authors' stack as "rmse".
func (m LCKSVD) Train(ctx context.Context, p methods.Problem, start KSVDStart) (model *KSVDModel, S *mat.Dense, err error) {
	dim, k := start.D.Dims()
	beta := m.SqrtBeta * m.SqrtBeta
	rows := dim + k + p.Classes
	if m.Variant == 1 {
		beta = 0
		rows = dim + k
	}
	counts := make([]int, p.Classes)
	for _, c := range start.Class {
		counts[c]++
	}
	weights := make([]float64, p.Classes)
	for c, n := range counts {
		// A class without atoms has no row in Q, but may have one in H.
		weights[c] = math.Sqrt(m.SqrtAlpha*m.SqrtAlpha*float64(max(n, 1)) + beta)
	}
	trace := p.Trace
	shrink := math.Sqrt(float64(dim+p.Classes) / float64(rows))
	p.Trace = func(name string, it int, v float64) { trace.Add(name, it, v*shrink) }

	model, S, err = trainStack(ctx, p, start, weights, m.Sparsity, m.Iterations)
	if err != nil {
		return nil, nil, err
	}
	model.T = model.W
	if m.Variant == 1 {
		model.W, err = ridge(S, methods.OneHot(p.Labels, p.Classes, 0))
	}
	return model, S, err
}

// Bytes counts what K-SVD holds.
func (m LCKSVD) Bytes(dim, n, _, _ int) int64 { return m.size().ksvdBytes(dim, n) }
