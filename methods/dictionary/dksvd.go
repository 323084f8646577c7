package dictionary

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
	"ssdl/methods/sparse"
)

// DKSVD is discriminative K-SVD (Zhang and Li, CVPR 2010):
//
//	min ||X - D S||^2 + beta ||H - W S||^2,  at most Sparsity entries in a column of S,
//
// solved as K-SVD on the stack [X; sqrt(beta) H] with the dictionary [D; sqrt(beta) W],
// whose columns have unit norm. Afterwards each atom, and its column of W, is divided by the
// norm of its D part. A sample is coded by OMP over D and gets the class of the largest entry
// of W s.
//
// Start and soft targets are as in LCKSVD.
type DKSVD struct {
	K              int     `param:"K" default:"0" min:"0" doc:"atoms, rounded to as many for each class; 0 means that size says it"`
	Size           float64 `param:"size" default:"0.7" min:"1e-6" max:"4" doc:"atoms as a share of what size_of counts"`
	SizeOf         string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the samples, the labelled ones, or the features"`
	Sparsity       int     `param:"sparsity" default:"50" min:"1" doc:"largest number of atoms in a code"`
	Iterations     int     `param:"iterations" default:"100" min:"1" doc:"iterations of K-SVD on the stack"`
	InitIterations int     `param:"init_iterations" default:"20" min:"1" doc:"iterations of each K-SVD of the start"`
	SqrtBeta       float64 `param:"sqrt_beta" default:"2^-4" min:"2^-40" doc:"square root of the weight of the label error"`
}

// OrderDependent names the reason why the order of the samples matters.
func (DKSVD) OrderDependent() string { return ksvdOrder }

const ksvdOrder = "the atoms start as the first samples of each class"

func (m DKSVD) size() size { return size{"dksvd", "K", m.K, m.Size, m.SizeOf} }

// FitTargets learns from all columns of p.X, with the classes to which F (C x N) hardens.
func (m DKSVD) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	rest := func(int) int { return p.Classes }
	return fitStack(ctx, m, p, F, m.size(), m.Sparsity, m.InitIterations, rest, m.Train)
}

// Train learns from p, which has no unlabelled columns, and also returns the training codes
// S (K x N). It traces the root mean square error of the stack as "rmse".
func (m DKSVD) Train(ctx context.Context, p methods.Problem, start KSVDStart) (model *KSVDModel, S *mat.Dense, err error) {
	weights := make([]float64, p.Classes)
	for c := range weights {
		weights[c] = m.SqrtBeta
	}
	return trainStack(ctx, p, start, weights, m.Sparsity, m.Iterations)
}

// KSVDStart is the start of D-KSVD and LC-KSVD.
type KSVDStart struct {
	D     *mat.Dense // dim x K, unit atoms, sorted by class
	W     *mat.Dense // C x K
	Class []int      // the class of each atom
}

// StartKSVD learns round(K/C) atoms, at least one, for each class by K-SVD. C counts the classes that
// have nonzero samples. The atoms start as the first nonzero samples of the class; a class with fewer
// samples gets one atom for each sample. W is the ridge classifier, of weight 1, on the codes of a
// second K-SVD, which goes on from these atoms with all samples; its dictionary is not used. p has no
// unlabelled columns.
func StartKSVD(ctx context.Context, p methods.Problem, K float64, sparsity, iterations int) (KSVDStart, error) {
	dim, _ := p.X.Dims()
	squares := linalg.ColumnSquares(p.X)
	members := make([][]int, p.Classes)
	classes := 0
	for j, c := range p.Labels {
		if squares[j] == 0 {
			continue
		}
		if len(members[c]) == 0 {
			classes++
		}
		members[c] = append(members[c], j)
	}
	if classes == 0 {
		return KSVDStart{}, fmt.Errorf("%w: all samples are zero, but atoms start as samples that are not", methods.ErrInput)
	}
	perClass := max(1, int(math.Round(K/float64(classes))))

	start := KSVDStart{}
	for c, idx := range members {
		for range min(perClass, len(idx)) {
			start.Class = append(start.Class, c)
		}
	}
	start.D = mat.NewDense(dim, len(start.Class), nil)
	at := 0
	for _, idx := range members {
		k := min(perClass, len(idx))
		if k == 0 {
			continue
		}
		X := methods.Columns(p.X, idx)
		D, _, err := KSVD(ctx, X, X.Slice(0, dim, 0, k).(*mat.Dense), sparsity, iterations, nil)
		if err != nil {
			return KSVDStart{}, err
		}
		start.D.Slice(0, dim, at, at+k).(*mat.Dense).Copy(D)
		at += k
	}
	_, S, err := KSVD(ctx, p.X, start.D, sparsity, iterations, nil)
	if err != nil {
		return KSVDStart{}, err
	}
	start.W, err = ridge(S, methods.OneHot(p.Labels, p.Classes, 0))
	return start, err
}

// fitStack is FitTargets of D-KSVD and LC-KSVD: it hardens F, starts and trains, in the span of the
// samples if they are fewer than the features. rest returns the number of rows of the authors'
// stack below the features.
func fitStack(ctx context.Context, m any, p methods.Problem, F *mat.Dense, z size, sparsity, initIterations int,
	rest func(atoms int) int,
	train func(context.Context, methods.Problem, KSVDStart) (*KSVDModel, *mat.Dense, error),
) (methods.Model, error) {
	q, err := hardened(z.method, m, p, F)
	if err != nil {
		return nil, err
	}
	K, err := z.unrounded(p, q)
	if err != nil {
		return nil, err
	}
	dim, n := q.X.Dims()
	var basis span
	if n < dim {
		basis, q.X = coordinates(q.X)
	}
	start, err := StartKSVD(ctx, q, K, sparsity, initIterations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", z.method, err)
	}
	p.Trace.Add("atoms", 0, float64(len(start.Class)))
	if n < dim { // the traced error is a mean over all rows of the stack
		below := rest(len(start.Class))
		fewer := math.Sqrt(float64(n+below) / float64(dim+below))
		q.Trace = func(what string, it int, v float64) { p.Trace.Add(what, it, v*fewer) }
	}
	model, _, err := train(ctx, q, start)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", z.method, err)
	}
	if n < dim {
		model.D = basis.lift(model.D)
	}
	return model, nil
}

// trainStack runs K-SVD on [X; diag(weights) H] and undoes the stacking: see DKSVD.
func trainStack(ctx context.Context, p methods.Problem, start KSVDStart, weights []float64, sparsity, iterations int) (*KSVDModel, *mat.Dense, error) {
	dim, _ := p.X.Dims()
	D, S, err := KSVD(ctx,
		stack(p.X, weights, methods.OneHot(p.Labels, p.Classes, 0)),
		stack(start.D, weights, start.W), sparsity, iterations, p.Trace)
	if err != nil {
		return nil, nil, err
	}
	_, k := D.Dims()
	m := &KSVDModel{
		D: mat.DenseCopyOf(D.Slice(0, dim, 0, k)), W: mat.DenseCopyOf(D.Slice(dim, dim+p.Classes, 0, k)),
		sparsity: sparsity, present: present(p.Labels, p.Classes),
	}
	squares := linalg.ColumnSquares(m.D)
	for j, s := range squares {
		if s <= epsilon {
			s = math.Inf(1) // the atom explains labels only; no code can use it
		}
		norm := math.Sqrt(s + epsilon)
		for i := range dim {
			m.D.Set(i, j, m.D.At(i, j)/norm)
		}
		for c, w := range weights {
			m.W.Set(c, j, m.W.At(c, j)/(norm*w))
		}
	}
	return m, S, nil
}

// stack returns [A; diag(weights) L].
func stack(A *mat.Dense, weights []float64, L *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Stack(A, L)
	dim, _ := A.Dims()
	for c, w := range weights {
		scale(w, out.RawRowView(dim+c))
	}
	return &out
}

// ridge returns W = H S^T (S S^T + I)^-1.
func ridge(S, H *mat.Dense) (*mat.Dense, error) {
	G := linalg.Outer(S)
	k, _ := G.Dims()
	for i := range k {
		G.Set(i, i, G.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(k, G.RawMatrix().Data)) {
		return nil, fmt.Errorf("the codes' second moments cannot be factorised") // cannot happen: S is finite
	}
	var right, W mat.Dense
	right.Mul(S, H.T())
	if err := chol.SolveTo(&W, &right); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(W.T()), nil
}

// KSVDModel classifies by OMP codes.
type KSVDModel struct {
	D *mat.Dense // dim x K, unit or zero atoms
	W *mat.Dense // C x K
	// T is set by LC-KSVD: row c (of C) is the row of T, the K x K transform of the codes,
	// that the atoms of class c have in common.
	T *mat.Dense

	sparsity int
	present  []bool
}

// Scores returns W S (C x M) for the codes S of the columns of X (dim x M).
func (m *KSVDModel) Scores(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	dim, _ := m.D.Dims()
	if err := methods.CheckTest("k-svd classifier", X, dim); err != nil {
		return nil, err
	}
	var R, scores mat.Dense
	R.Mul(m.D.T(), X)
	S, err := sparse.OMP(ctx, linalg.Gram(m.D), &R, m.sparsity)
	if err != nil {
		return nil, fmt.Errorf("k-svd classifier: %w", err)
	}
	scores.Mul(m.W, S)
	return &scores, nil
}

// Predict returns the class with the largest score among the classes that had training
// samples, the first one on ties.
func (m *KSVDModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	scores, err := m.Scores(ctx, X)
	if err != nil {
		return nil, err
	}
	return largest(scores, m.present), nil
}

// Bytes counts what K-SVD holds.
func (m DKSVD) Bytes(dim, n, _, _ int) int64 { return m.size().ksvdBytes(dim, n) }
