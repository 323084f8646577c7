package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/dense"
)

// Lasso minimises 0.5||y - A s||^2 + Lambda ||s||_1 for many y with one common A, from
// the Gram form.
//
// A minimum is known by its pattern, the signs of its entries: on the support T, with
// signs theta, it solves G_TT s_T = (A^T y)_T - Lambda theta. So every code is found in
// three steps. A fixed-cost method for all samples at once (splitting, see warmPattern)
// brings the pattern to within a few signs. A primal-dual active set settles it (settle):
// solve for the pattern, drop the entries whose sign turned, add those whose correlation
// with the residual exceeds Lambda, until nothing changes. If that cycles, a monotone
// active set with line search takes over (descend). The answer is a function of y, G and
// the settled pattern alone: which samples are coded together does not touch it.
type Lasso struct {
	// Lambda weighs the l1 norm; above 0. The objective ||y - A s||^2 + 2 alpha ||s||_1 of
	// the dictionary methods has Lambda = alpha.
	Lambda float64
	// Gap is the duality gap, as a fraction of the objective, up to which a code counts as
	// converged; 0 means 1e-9. Codes are solved to rounding whatever it is.
	Gap float64
}

// Report says how well a batch of codes was solved.
type Report struct {
	// WorstGap is the largest duality gap of a code, as a fraction of its objective.
	WorstGap float64
	// Unconverged counts the codes whose gap is above the one asked for.
	Unconverged int
	// Support is the mean number of non-zero entries of a code.
	Support float64
	// Descended counts the codes that needed the line search.
	Descended int
}

const (
	defaultGap = 1e-9
	// warmPanel samples share the products of the splitting; codeGrain codes are then settled
	// one after the other by a goroutine. Both are fixed, as panelWidth is.
	warmPanel, codeGrain = 256, 4
)

// Solve codes M samples y. G = A^T A is K x K, symmetric and positive semi-definite, R =
// A^T Y is K x M and yy holds the squared norms of the M columns of Y. It returns the codes
// S (K x M). G may be singular: of several minima it returns one. The entry of a zero
// column of A (G_kk = 0) is 0. The arguments are not changed.
func (l Lasso) Solve(ctx context.Context, G, R *mat.Dense, yy []float64) (*mat.Dense, Report, error) {
	k, m := R.Dims()
	if gr, gc := G.Dims(); gr != k || gc != k || len(yy) != m {
		return nil, Report{}, fmt.Errorf("lasso: %w: G is %d x %d, R is %d x %d and there are %d squared norms; want K x K, K x M and M",
			methods.ErrInput, gr, gc, k, m, len(yy))
	}
	if !(l.Lambda > 0) || math.IsInf(l.Lambda, 0) {
		return nil, Report{}, fmt.Errorf("lasso: %w: the weight of the l1 norm is %v, want a positive number", methods.ErrInput, l.Lambda)
	}
	if l.Gap == 0 {
		l.Gap = defaultGap
	}
	if err := errors.Join(methods.CheckFinite("lasso", "G", G), methods.CheckFinite("lasso", "R", R)); err != nil {
		return nil, Report{}, err
	}
	S := mat.NewDense(k, m, nil)
	g, r, s := G.RawMatrix(), R.RawMatrix(), S.RawMatrix()
	column, sample := 0.0, 0.0
	for i := range k {
		column += G.At(i, i) / float64(k)
	}
	for _, v := range yy {
		sample += v / float64(m)
	}
	if column == 0 || sample == 0 {
		return S, Report{}, nil
	}
	warm, ok := newSplitting(g, l.Lambda, column, sample)
	if !ok {
		return nil, Report{}, fmt.Errorf("lasso: %w: G is not positive semi-definite, so it is no A^T A", methods.ErrInput)
	}
	inverse := &gramInverse{g: g}
	gaps := make([]float64, m)
	descended := make([]bool, m)
	dense.Parallel(m, warmPanel, func(lo, hi int) {
		warm.run(ctx, block(r, 0, k, lo, hi), block(s, 0, k, lo, hi))
	})
	coders := sync.Pool{New: func() any { return newPatternCoder(g, inverse, l.Lambda) }}
	dense.Parallel(m, codeGrain, func(lo, hi int) {
		c := coders.Get().(*patternCoder)
		defer coders.Put(c)
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			c.load(s, r, j)
			gaps[j] = c.settle(ctx, yy[j])
			if !(gaps[j] <= l.Gap) {
				descended[j] = true
				gaps[j] = c.descend(ctx, yy[j])
			}
			c.store(s, j)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, Report{}, fmt.Errorf("lasso: %w", err)
	}
	var report Report
	for j, gap := range gaps {
		report.WorstGap = max(report.WorstGap, gap)
		if !(gap <= l.Gap) {
			report.Unconverged++
		}
		if descended[j] {
			report.Descended++
		}
	}
	for _, v := range s.Data {
		if v != 0 {
			report.Support++
		}
	}
	report.Support /= float64(m)
	return S, report, nil
}

// dualityGap returns the duality gap of the code s as a fraction of its objective, from
// g = A^T(y - A s), r = A^T y and yy = ||y||^2. With the dual point c(y - A s), which
// c = min(1, lambda/||g||_inf) makes feasible, the gap is
//
//	0.5 (1-c)^2 ||y - A s||^2 + sum_i |s_i| (lambda - c sign(s_i) g_i),
//
// in which no term is negative, so that nothing cancels as the gap goes to zero. The
// squared residual is yy - s.(r + g).
func dualityGap(s, g, r []float64, lambda, yy float64) float64 {
	largest := 0.0
	for _, v := range g {
		largest = max(largest, math.Abs(v))
	}
	c := min(1, lambda/largest)
	residual, l1, slack := yy, 0.0, 0.0
	for i, v := range s {
		if v == 0 {
			continue
		}
		residual -= v * (r[i] + g[i])
		l1 += math.Abs(v)
		slack += max(lambda*math.Abs(v)-c*v*g[i], 0)
	}
	residual = max(residual, 0)
	objective := 0.5*residual + lambda*l1
	if objective == 0 {
		return 0
	}
	return (0.5*(1-c)*(1-c)*residual + slack) / objective
}
