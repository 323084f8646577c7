package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// Lasso minimises 0.5||y - A s||^2 + Lambda ||s||_1 for many y with one common A, from
// the Gram form.
//
// The pattern of a minimum, the signs of its entries, determines it: on the support T, with
// signs theta, it solves G_TT s_T = (A^T y)_T - Lambda theta. Every code takes three steps:
//
//  1. A method of fixed cost for all samples at once finds all but a few signs (splitting).
//  2. A primal-dual active set solves for the pattern, drops the entries whose sign turned and adds
//     those whose correlation with the residual exceeds Lambda, until nothing changes (settle).
//  3. If that cycles, a monotone active set with line search takes over (descend).
//
// The code depends on y, G and the final pattern alone, not on the other samples of the batch.
//
// Codes of few entries grow from zero instead (grow). With thousands of columns, more than
// features, and a tiny lambda, the supports are as large as the number of features, and a step of the
// active set costs billions of operations for each sample. Beyond a bound on the work (effort) the
// codes of the splitting are the result, and the report counts them as unconverged.
type Lasso struct {
	// Lambda is the weight of the l1 norm, above 0. The objective ||y - A s||^2 + 2 alpha ||s||_1 of
	// the dictionary methods has Lambda = alpha.
	Lambda float64
	// Gap is the duality gap, as a fraction of the objective, up to which a code counts as
	// converged; 0 means 1e-9. A code that settles is solved to rounding for every Gap.
	Gap float64
}

// Report says how well a batch of codes was solved.
type Report struct {
	// WorstGap is the largest duality gap of a code, as a fraction of its objective.
	WorstGap float64
	// Unconverged counts the codes whose gap is above Lasso.Gap.
	Unconverged int
	// Support is the mean number of non-zero entries of a code.
	Support float64
	// Descended counts the codes for which the line search was used.
	Descended int
}

const (
	defaultGap = 1e-9
	// largeK is the number of columns above which a factor is so costly that settle is tried on a
	// few samples first.
	largeK = 1024
	// sampleEffort bounds the multiply-adds of the first stage of the splitting for a sample, effort
	// those of a further stage for all samples, and descendWork K^2 times the number of samples that
	// descend codes.
	sampleEffort, effort, descendWork = 6e8, 2e12, 0x1p28
	// warmPanel samples share the products of the splitting. A goroutine then settles codeGrain
	// codes one after the other. Neither depends on the machine.
	warmPanel, codeGrain = 256, 4
)

// Solve codes M samples y. G = A^T A is K x K, symmetric and positive semi-definite, R =
// A^T Y is K x M and yy holds the squared norms of the M columns of Y. It returns the codes
// S (K x M). G may be singular: of several minima it returns one. The entry of a zero
// column of A (G_kk = 0) is 0. It does not change its arguments.
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
	g := G.RawMatrix()
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
	batch := &lassoBatch{
		Lasso: l, g: g, r: R.RawMatrix(), s: S.RawMatrix(), yy: yy,
		gaps: make([]float64, m), open: make([]int, m),
	}
	inverse := &gramInverse{g: g}
	batch.coders.New = func() any { return newPatternCoder(g, inverse, l.Lambda) }
	for j := range batch.open {
		batch.open[j] = j
	}
	if batch.most(ctx, (*patternCoder).grow) {
		batch.code(ctx, (*patternCoder).grow)
	}
	for i, st := range stages {
		if i == 0 {
			st.passes = min(st.passes, max(minPasses, int(sampleEffort/float64(k)/float64(k))))
		}
		if len(batch.open) == 0 || (i > 0 && batch.splittingWork(st) > effort) {
			break
		}
		warm, ok := newSplitting(g, l.Lambda, column, sample, st)
		if !ok {
			return nil, Report{}, fmt.Errorf("lasso: %w: G is not positive semi-definite; want A^T A", methods.ErrInput)
		}
		batch.warm(ctx, warm)
		if k <= largeK || batch.most(ctx, (*patternCoder).settle) {
			batch.code(ctx, (*patternCoder).settle)
		}
	}
	report := Report{}
	if float64(len(batch.open))*float64(k)*float64(k) <= descendWork {
		report.Descended = len(batch.open)
		batch.code(ctx, (*patternCoder).descend)
	}
	batch.code(ctx, (*patternCoder).keep)
	if err := ctx.Err(); err != nil {
		return nil, Report{}, fmt.Errorf("lasso: %w", err)
	}
	for _, gap := range batch.gaps {
		report.WorstGap = max(report.WorstGap, gap)
		if !(gap <= l.Gap) {
			report.Unconverged++
		}
	}
	for _, v := range S.RawMatrix().Data {
		if v != 0 {
			report.Support++
		}
	}
	report.Support /= float64(m)
	return S, report, nil
}

// lassoBatch is the state of Solve: the codes s (K x M), their gaps, and which samples are
// still open, in ascending order.
type lassoBatch struct {
	Lasso
	g, r, s blas64.General
	yy      []float64
	gaps    []float64
	open    []int
	coders  sync.Pool
}

// most tries solve on a few samples, spread evenly over the open ones, and reports whether it solves
// most of them. It restores their codes.
func (b *lassoBatch) most(ctx context.Context, solve func(*patternCoder, context.Context, float64) float64) bool {
	const probes = 16
	all := b.open
	tried := min(probes, len(all))
	b.open = nil
	for i := range tried {
		b.open = append(b.open, all[i*len(all)/tried])
	}
	start := make([][]float64, tried)
	for i, j := range b.open {
		start[i] = column(b.s, j)
	}
	probed := append([]int(nil), b.open...)
	b.code(ctx, solve)
	missed := len(b.open)
	for i, j := range probed {
		setColumn(b.s, j, start[i])
	}
	b.open = all
	return 4*missed <= tried
}

func column(A blas64.General, j int) []float64 {
	v := make([]float64, A.Rows)
	blas64.Copy(blas64.Vector{N: A.Rows, Inc: A.Stride, Data: A.Data[j:]}, blas64.Vector{N: A.Rows, Inc: 1, Data: v})
	return v
}

func setColumn(A blas64.General, j int, v []float64) {
	blas64.Copy(blas64.Vector{N: A.Rows, Inc: 1, Data: v}, blas64.Vector{N: A.Rows, Inc: A.Stride, Data: A.Data[j:]})
}

// splittingWork counts the multiply-adds of a stage for the open samples.
func (b *lassoBatch) splittingWork(st stage) float64 {
	return float64(st.passes) * float64(b.g.Rows) * float64(b.g.Rows) * float64(len(b.open))
}

// warm sets the open columns of s to the codes of the splitting.
func (b *lassoBatch) warm(ctx context.Context, p splitting) {
	linalg.Parallel(len(b.open), warmPanel, func(lo, hi int) {
		p.run(ctx, b.r, b.s, b.open[lo:hi])
	})
}

// code solves for the open samples one by one, from their codes in s, and closes those whose gap is
// small enough. A solve that returns NaN leaves the code in s as it was.
func (b *lassoBatch) code(ctx context.Context, solve func(*patternCoder, context.Context, float64) float64) {
	linalg.Parallel(len(b.open), codeGrain, func(lo, hi int) {
		c := b.coders.Get().(*patternCoder)
		defer b.coders.Put(c)
		for _, j := range b.open[lo:hi] {
			if ctx.Err() != nil {
				return
			}
			c.load(b.s, b.r, j)
			b.gaps[j] = solve(c, ctx, b.yy[j])
			if !math.IsNaN(b.gaps[j]) {
				c.store(b.s, j)
			}
		}
	})
	b.open = slices.DeleteFunc(b.open, func(j int) bool { return b.gaps[j] <= b.Gap })
}

// dualityGap returns the duality gap of the code s as a fraction of its objective, from
// g = A^T(y - A s), r = A^T y and yy = ||y||^2. With the dual point c(y - A s), which
// c = min(1, lambda/||g||_inf) makes feasible, the gap is
//
//	0.5 (1-c)^2 ||y - A s||^2 + sum_i |s_i| (lambda - c sign(s_i) g_i),
//
// which has no negative term: nothing cancels as the gap goes to zero. The squared residual is
// yy - s.(r + g).
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
