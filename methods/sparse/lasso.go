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
// signs theta, it solves G_TT s_T = (A^T y)_T - Lambda theta. Codes of few entries grow from zero,
// one sample at a time (grow). For the others
//
//  1. a method of fixed cost for each pass finds most signs, for all samples at once (splitting);
//  2. a primal-dual active set solves for the pattern, and corrects it until it stays (settler);
//  3. the samples that it gives up get more passes, up to a bound, and then, if they are few, a monotone
//     active set with line search (descend).
//
// A code that settles depends on y, G and its final pattern alone, not on the other samples of the batch.
//
// With thousands of columns, more than features, and a tiny lambda, the supports are as large as the number
// of features, and the systems nearly singular. There the passes have to find all but a few in a thousand
// signs, which takes some 400 of them.
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
	// maxPasses bounds the passes of a sample. The first round has firstRound of them; every round has as
	// many as all before it, at most longestRound.
	maxPasses, firstRound, longestRound = 2000, 25, 160
	// After a round a sample may settle if few of its signs still change. Where one factor costs less
	// than cheapSettle passes, every sample may.
	fewChanges, cheapSettle = 3, 20
	// descendWork bounds K^2 times the number of samples that descend codes.
	descendWork = 0x1p28
	// A goroutine searches for codeGrain codes one after the other.
	codeGrain = 4
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
	gram, inverse := linalg.NewMultiplier(G), &gramInverse{g: g}
	batch.coders.New = func() any { return newPatternCoder(g, l.Lambda) }
	batch.settlers.New = func() any { return newSettler(g, gram, inverse, l.Lambda) }
	for j := range batch.open {
		batch.open[j], batch.gaps[j] = j, math.Inf(1)
	}
	batch.growMost(ctx)
	if len(batch.open) > 0 {
		split, ok := newSplitting(g, l.Lambda, column, sample)
		if !ok {
			return nil, Report{}, fmt.Errorf("lasso: %w: G is not positive semi-definite; want A^T A", methods.ErrInput)
		}
		batch.split(ctx, split)
	}
	report := Report{}
	if float64(len(batch.open))*float64(k)*float64(k) <= descendWork {
		report.Descended = len(batch.open)
		batch.settle(ctx, batch.search(ctx, (*patternCoder).descend), 0)
	}
	batch.search(ctx, (*patternCoder).keep)
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

// lassoBatch is the state of Solve. A column of s (K x M) is a code, or in a round the state of the
// splitting.
type lassoBatch struct {
	Lasso
	g, r, s  blas64.General
	yy       []float64
	gaps     []float64 // of the codes; +Inf where there is none
	open     []int     // the samples that still need a code, in ascending order
	coders   sync.Pool
	settlers sync.Pool
}

// close takes the samples with a small gap, and those of the list, from the open ones.
func (b *lassoBatch) close(done []int) {
	slices.Sort(done)
	b.open = slices.DeleteFunc(b.open, func(j int) bool {
		_, listed := slices.BinarySearch(done, j)
		return listed || b.gaps[j] <= b.Gap
	})
}

// growMost tries to grow a few codes, spread evenly over the samples, and if most succeed grows all.
func (b *lassoBatch) growMost(ctx context.Context) {
	const probes = 16
	all := b.open
	tried := min(probes, len(all))
	b.open = nil
	for i := range tried {
		b.open = append(b.open, all[i*len(all)/tried])
	}
	found := b.search(ctx, (*patternCoder).grow)
	b.open = all
	if 4*len(found) >= 3*tried {
		b.settle(ctx, b.search(ctx, (*patternCoder).grow), 0)
	}
	for _, j := range b.open { // grown in part, or not at all
		b.gaps[j] = math.Inf(1)
		for i := range b.s.Rows {
			b.s.Data[i*b.s.Stride+j] = 0
		}
	}
}

// split makes rounds of passes for the open samples, and settles those whose signs hardly change.
func (b *lassoBatch) split(ctx context.Context, p splitting) {
	square := float64(b.g.Rows) * float64(b.g.Rows)
	for done, round := 0, firstRound; done < maxPasses && len(b.open) > 0 && ctx.Err() == nil; round = min(done, longestRound) {
		ready := make([]bool, len(b.open))
		linalg.Parallel(len(b.open), splitGroup, func(lo, hi int) {
			for i, f := range p.run(ctx, b.r, b.s, b.open[lo:hi], round) {
				smaller := float64(min(f.support, b.g.Rows-f.support))
				ready[lo+i] = f.changes <= fewChanges || smaller*smaller*smaller/6 <= cheapSettle*square
			}
		})
		done += round
		var try []int
		for i, j := range b.open {
			if ready[i] {
				try = append(try, j)
			}
		}
		b.settle(ctx, try, p.threshold)
	}
	p.soft(b.s, b.open)
}

// search solves for the open samples one by one, from their codes in s, and returns those that it
// found a code for. A solve that returns NaN leaves the code in s as it was.
func (b *lassoBatch) search(ctx context.Context, solve func(*patternCoder, context.Context, float64) float64) (found []int) {
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
	for _, j := range b.open {
		if !math.IsNaN(b.gaps[j]) {
			found = append(found, j)
		}
	}
	return found
}

// settle solves for the patterns of the samples, the signs of the entries of s above threshold in
// magnitude, and closes those that settle or have a small gap.
func (b *lassoBatch) settle(ctx context.Context, samples []int, threshold float64) {
	settled := make([]bool, len(samples))
	linalg.Parallel(len(samples), settleGrain, func(lo, hi int) {
		t := b.settlers.Get().(*settler)
		defer b.settlers.Put(t)
		copy(settled[lo:hi], t.run(ctx, b.r, b.s, b.yy, b.gaps, samples[lo:hi], threshold))
	})
	var done []int
	for i, j := range samples {
		if settled[i] {
			done = append(done, j)
		}
	}
	b.close(done)
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
