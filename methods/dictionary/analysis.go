package dictionary

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// Pairs are the synthesis and analysis dictionaries of the classes in DPL, ADDL and LC-PDL:
// class c has D_c (dim x m_c), which reconstructs its samples from codes, and P_c (m_c x dim),
// which computes the codes from the samples. A class without samples has nil.
type Pairs struct {
	D, P []*mat.Dense
}

// analysis is the state of the iterations of DPL, ADDL and LC-PDL. Atoms are rows.
type analysis struct {
	all    *mat.Dense // X, dim x N
	labels []int
	x      []*mat.Dense // X_c, dim x n_c
	d, p   []*mat.Dense // D_c^T and P_c, m_c x dim
	s      []*mat.Dense // the codes S_c, m_c x n_c
	// right_c (n_c x dim) gives P_c = S_c right_c. It does not change.
	right []*mat.Dense
	sweep []atomSweep
}

// hardenedPairs hardens F for the method m, see hardened, and starts its pairs. It traces "atoms".
func hardenedPairs(m any, p methods.Problem, F *mat.Dense, z size) (methods.Problem, Pairs, error) {
	q, err := hardened(z.method, m, p, F)
	if err != nil {
		return q, Pairs{}, err
	}
	atoms, err := z.perClass(p, q)
	if err != nil {
		return q, Pairs{}, err
	}
	traceAtoms(p.Trace, atoms)
	return q, pairStart(q, atoms), nil
}

// pairStart draws normal dictionaries and scales the columns of D_c and the rows of P_c to norm 1.
// They are the same for all classes, so the names of the classes and the order of the samples do
// not matter. atoms holds m_c, 0 for a class without samples.
func pairStart(p methods.Problem, atoms []int) Pairs {
	dim, _ := p.X.Dims()
	most := slices.Max(atoms)
	D, P := gaussianAtoms(p, dim, most), gaussianAtoms(p, dim, most)
	out := Pairs{make([]*mat.Dense, len(atoms)), make([]*mat.Dense, len(atoms))}
	for c, k := range atoms {
		if k > 0 {
			out.D[c] = mat.DenseCopyOf(D.Slice(0, dim, 0, k))
			out.P[c] = mat.DenseCopyOf(P.Slice(0, dim, 0, k).T())
		}
	}
	return out
}

// byClass returns the columns of each class.
func byClass(labels []int, classes int) [][]int {
	members := make([][]int, classes)
	for j, c := range labels {
		members[c] = append(members[c], j)
	}
	return members
}

// newAnalysis starts from p, which has no unlabelled columns.
func newAnalysis(p methods.Problem, members [][]int, start Pairs) *analysis {
	a := &analysis{
		all: p.X, labels: p.Labels,
		x: make([]*mat.Dense, len(members)), d: make([]*mat.Dense, len(members)), p: make([]*mat.Dense, len(members)),
		s: make([]*mat.Dense, len(members)), right: make([]*mat.Dense, len(members)), sweep: make([]atomSweep, len(members)),
	}
	for c, idx := range members {
		if len(idx) > 0 {
			a.x[c] = methods.Columns(p.X, idx)
			a.d[c], a.p[c] = mat.DenseCopyOf(start.D[c].T()), mat.DenseCopyOf(start.P[c])
			a.sweep[c].dead = deadAtom
		}
	}
	return a
}

// each runs f in parallel for every class that has samples.
func (a *analysis) each(ctx context.Context, f func(c int) error) error {
	errs := make([]error, len(a.x))
	linalg.Parallel(len(a.x), 1, func(c, _ int) {
		if a.x[c] != nil && ctx.Err() == nil {
			errs[c] = f(c)
		}
	})
	for c, err := range errs {
		if err != nil {
			return fmt.Errorf("class %d: %w", c, err)
		}
	}
	return ctx.Err()
}

// shared sets right_c to the rows of the class's samples in (X^T X + ridge I)^-1 X^T. Then P_c
// minimises sum_c ||P_c X_c - S_c||^2 + ||P_c Xbar_c||^2 + ridge ||P_c||^2, where Xbar_c are the
// samples of the other classes.
func (a *analysis) shared(ctx context.Context, p methods.Problem, members [][]int, ridge float64) error {
	Z, err := ridgeColumns(p.X, ridge)
	if err != nil {
		return err
	}
	return a.each(ctx, func(c int) error {
		a.right[c] = mat.DenseCopyOf(methods.Columns(Z, members[c]).T())
		return nil
	})
}

// own sets right_c such that P_c minimises
//
//	tau ||P_c X_c - S_c||^2 + lambda ||P_c Xbar_c||^2 + gamma ||P_c||^2,
//
// P_c = tau S_c X_c^T (tau X_c X_c^T + lambda Xbar_c Xbar_c^T + gamma I)^-1. With M = lambda X X^T +
// gamma I, the same for all classes, Z = M^-1 X and T_c = X_c^T Z_c, that is
// P_c = tau S_c (I + (tau - lambda) T_c)^-1 Z_c^T: one large factor, and a small one for each class.
func (a *analysis) own(ctx context.Context, p methods.Problem, members [][]int, tau, lambda, gamma float64) error {
	Z, err := ridgeColumns(p.X, gamma/lambda)
	if err != nil {
		return err
	}
	Z.Scale(1/lambda, Z)
	return a.each(ctx, func(c int) error {
		Zc := methods.Columns(Z, members[c])
		var T mat.Dense
		T.Mul(a.x[c].T(), Zc)
		n, _ := T.Dims()
		A := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ { // T is symmetric up to rounding
				A.SetSym(i, j, (tau-lambda)*0.5*(T.At(i, j)+T.At(j, i)))
			}
			A.SetSym(i, i, 1+A.At(i, i))
		}
		var chol mat.Cholesky
		if !chol.Factorize(A) {
			return fmt.Errorf("%w: tau = %g, lambda = %g and gamma = %g give a singular system; raise gamma", methods.ErrInput, tau, lambda, gamma)
		}
		a.right[c] = new(mat.Dense)
		if err := chol.SolveTo(a.right[c], Zc.T()); err != nil {
			return fmt.Errorf("%w: the system of P is too badly conditioned (%w); raise gamma", methods.ErrInput, err)
		}
		a.right[c].Scale(tau, a.right[c])
		return nil
	})
}

// ridgeColumns returns (X X^T + ridge I)^-1 X (dim x N), from the smaller of the two systems.
func ridgeColumns(X *mat.Dense, ridge float64) (*mat.Dense, error) {
	dim, n := X.Dims()
	var chol mat.Cholesky
	var out mat.Dense
	singular := func(err error) error {
		return fmt.Errorf("%w: gamma is lost in the rounding of the samples' Gram matrix (%v); raise it", methods.ErrInput, err)
	}
	if n <= dim {
		if !chol.Factorize(plusDiagonal(linalg.Gram(X), ridge)) {
			return nil, singular(nil)
		}
		var Zt mat.Dense
		if err := chol.SolveTo(&Zt, X.T()); err != nil {
			return nil, singular(err)
		}
		return mat.DenseCopyOf(Zt.T()), nil
	}
	if !chol.Factorize(plusDiagonal(linalg.Outer(X), ridge)) {
		return nil, singular(nil)
	}
	if err := chol.SolveTo(&out, X); err != nil {
		return nil, singular(err)
	}
	return &out, nil
}

// codes sets S_c = (D_c^T D_c + tau I + extra)^-1 (D_c^T X_c + tau P_c X_c); extra may be nil.
func (a *analysis) codes(c int, tau float64, extra *mat.Dense) error {
	G := linalg.Outer(a.d[c])
	if extra != nil {
		G.Add(G, extra)
	}
	var chol mat.Cholesky
	if !chol.Factorize(plusDiagonal(G, tau)) {
		return fmt.Errorf("%w: tau = %g is lost in the rounding of the atoms' Gram matrix; raise it", methods.ErrInput, tau)
	}
	var right, both mat.Dense
	both.Scale(tau, a.p[c])
	both.Add(&both, a.d[c])
	right.Mul(&both, a.x[c])
	a.s[c] = new(mat.Dense)
	if err := chol.SolveTo(a.s[c], &right); err != nil {
		return fmt.Errorf("%w: the system of the codes is too badly conditioned (%w); raise tau = %g", methods.ErrInput, err, tau)
	}
	return nil
}

// project sets P_c = S_c right_c.
func (a *analysis) project(c int) { a.p[c].Mul(a.s[c], a.right[c]) }

// atoms makes one pass over the atoms of class c in the unit ball.
func (a *analysis) atoms(c int) {
	var V mat.Dense
	V.Mul(a.s[c], a.x[c].T())
	a.sweep[c].run(a.d[c], &V, linalg.Outer(a.s[c]))
}

// fit returns ||X_c - D_c S_c||^2 and ||P_c X_c - S_c||^2.
func (a *analysis) fit(c int) (reconstructed, projected float64) {
	var E, Q mat.Dense
	E.Mul(a.d[c].T(), a.s[c])
	E.Sub(a.x[c], &E)
	Q.Mul(a.p[c], a.x[c])
	Q.Sub(&Q, a.s[c])
	return squareSum(&E), squareSum(&Q)
}

// leaks returns ||P_c Xbar_c||^2 for every class: the energy that P_c leaves in the samples of the
// other classes.
func (a *analysis) leaks() []float64 {
	P, from := stackedPairs(a.p)
	var Z mat.Dense
	Z.Mul(P, a.all)
	out := make([]float64, len(a.x))
	linalg.Parallel(len(a.x), 1, func(c, _ int) {
		for i := from[c]; i < from[c+1]; i++ {
			for j, v := range Z.RawRowView(i) {
				if a.labels[j] != c {
					out[c] = math.FMA(v, v, out[c])
				}
			}
		}
	})
	return out
}

// pairs copies the dictionaries out.
func (a *analysis) pairs() Pairs {
	out := Pairs{make([]*mat.Dense, len(a.d)), make([]*mat.Dense, len(a.d))}
	for c := range a.d {
		if a.d[c] != nil {
			out.D[c], out.P[c] = mat.DenseCopyOf(a.d[c].T()), mat.DenseCopyOf(a.p[c])
		}
	}
	return out
}

// PairModel classifies by pairs of dictionaries.
type PairModel struct {
	Pairs
	// W (C x K) is nil if the class is that of the smallest ||x - D_c P_c x||. Otherwise the class is
	// the largest entry of W P x, where P stacks all P_c.
	W     *mat.Dense
	known []bool
	name  string
}

// NewPairModel returns the classifier with these dictionaries and with W (C x K) or nil. It never
// predicts a class without a pair. name is the method's, for errors.
func NewPairModel(name string, pairs Pairs, W *mat.Dense) *PairModel {
	m := &PairModel{Pairs: pairs, W: W, known: make([]bool, len(pairs.D)), name: name}
	for c, D := range pairs.D {
		m.known[c] = D != nil
	}
	return m
}

// projected returns P X (K x M) and the first row of each class.
func (m *PairModel) projected(X *mat.Dense) (Z *mat.Dense, from []int, err error) {
	var dim int
	for _, D := range m.D {
		if D != nil {
			dim, _ = D.Dims()
		}
	}
	if err := methods.CheckTest(m.name, X, dim); err != nil {
		return nil, nil, err
	}
	P, from := stackedPairs(m.P)
	Z = new(mat.Dense)
	Z.Mul(P, X)
	return Z, from, nil
}

// stackedPairs stacks the P_c; class c has the rows from[c] .. from[c+1]-1.
func stackedPairs(P []*mat.Dense) (all *mat.Dense, from []int) {
	from = make([]int, len(P)+1)
	dim := 0
	for c, p := range P {
		from[c+1] = from[c]
		if p != nil {
			rows, cols := p.Dims()
			from[c+1] += rows
			dim = cols
		}
	}
	all = mat.NewDense(from[len(P)], dim, nil)
	for c, p := range P {
		if p != nil {
			all.Slice(from[c], from[c+1], 0, dim).(*mat.Dense).Copy(p)
		}
	}
	return all, from
}

// Residuals returns ||x - D_c P_c x||^2 (C x M). A class without a pair has P_c x = 0.
func (m *PairModel) Residuals(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	Z, from, err := m.projected(X)
	if err != nil {
		return nil, err
	}
	_, n := X.Dims()
	out := mat.NewDense(len(m.D), n, nil)
	for c, D := range m.D {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if D == nil {
			out.SetRow(c, linalg.ColumnSquares(X))
			continue
		}
		var E mat.Dense
		E.Mul(D, Z.Slice(from[c], from[c+1], 0, n))
		E.Sub(X, &E)
		out.SetRow(c, linalg.ColumnSquares(&E))
	}
	return out, nil
}

// Scores returns W P X (C x M).
func (m *PairModel) Scores(X *mat.Dense) (*mat.Dense, error) {
	Z, _, err := m.projected(X)
	if err != nil {
		return nil, err
	}
	var scores mat.Dense
	scores.Mul(m.W, Z)
	return &scores, nil
}

// Predict applies the model's rule to the classes that had training samples. The first class
// wins ties.
func (m *PairModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	if m.W != nil {
		scores, err := m.Scores(X)
		if err != nil {
			return nil, err
		}
		return largest(scores, m.known), nil
	}
	E, err := m.Residuals(ctx, X)
	if err != nil {
		return nil, err
	}
	E.Scale(-1, E)
	return largest(E, m.known), nil
}

// pairBytes estimates the memory of pairs with k atoms: the samples and the factors of the projections
// (dim x N), both dictionaries and their starts (K x dim), the codes, also over all classes (K x N), and
// the Gram matrices of the classes.
func pairBytes(dim, n, k, classes int) int64 {
	return int64(8 * (4*dim*n + 4*k*dim + 3*k*n/2 + 2*k*k/classes))
}
