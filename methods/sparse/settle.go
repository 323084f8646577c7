package sparse

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"ssdl/methods/linalg"
)

const (
	// settleSlots samples share the products. It is a multiple of every width of a panel, and bounds the
	// factors that are held at a time. settleGrain samples take turns in them.
	settleSlots, settleGrain = 24, 120
	// settleSteps bounds the steps of a code. 1 to 5 are usual, up to 20 were seen.
	settleSteps = 40
	// products is the cost of the solves with the inverse, in squares of K multiply-adds.
	products = 12
	// restShare of the diagonal is added to a block of the inverse.
	restShare = 1e-13
	// settleSolves bounds the solves for one pattern.
	settleSolves = 8
	// goodEnough is the share of lambda to which the equations of a pattern are solved before its
	// signs are judged at first.
	goodEnough = 1e-4
)

// settler is the primal-dual active set, for some samples at a time. A step takes each sample's
// pattern theta, the signs of a code, and solves for it:
//
//	G_TT s_T = (A^T y)_T - lambda theta_T   on the support T, and s = 0 elsewhere.
//
// Then it drops the entries whose sign turned, and adds those whose correlation with the residual
// exceeds lambda. A pattern that stays is that of the minimum. From a pattern with few wrong entries
// that takes a few steps. From others it may never end, and settler gives up when the changes grow.
//
// The samples share the products with G and with its inverse. Each has a factor of its own, of the smaller of
// two systems: see choose.
type settler struct {
	lambda  float64
	g       blas64.General
	gram    *linalg.Multiplier // by G
	inverse *gramInverse

	norm []float64 // of the columns of A

	slots []slot // of the samples in work
	// One column for each sample: A^T y; its pattern; the code; A^T (y - A s); the residual of the
	// equations on the support, 0 elsewhere; and two for products.
	r, theta, s, c, e, p, q panels
}

// slot is the place of a sample.
type slot struct {
	sample, at    int // a column of S, and its index in the list
	phase         phase
	steps, solves int     // patterns tried; solves for the last one
	least         int     // the fewest entries that a step changed
	worst         float64 // the largest entry of e
	// exact means that the pattern is right or nearly so: its signs are judged when only rounding is left.
	exact bool

	support, rest []int // the entries with theta != 0, and the others
	byRest        bool  // the factor is that of the inverse's block at rest
	factor        blockFactor
	x             []float64
}

// phase is what a sample does next.
type phase int

const (
	idle    phase = iota // has no sample
	next                 // has a new pattern
	solving              // solves for the pattern
	settled
	lost
)

func newSettler(g blas64.General, gram *linalg.Multiplier, inverse *gramInverse, lambda float64) *settler {
	t := &settler{lambda: lambda, g: g, gram: gram, inverse: inverse, norm: make([]float64, g.Rows), slots: make([]slot, settleSlots)}
	for i := range t.norm {
		t.norm[i] = math.Sqrt(max(g.Data[i*g.Stride+i], 0))
	}
	for _, p := range []*panels{&t.r, &t.theta, &t.s, &t.c, &t.e, &t.p, &t.q} {
		*p = newPanels(g.Rows, settleSlots, gram.Width())
	}
	return t
}

// run starts from the signs of the entries of S (K x M) above threshold in magnitude, for the columns
// samples. It stores the codes of those that settle in S, and their duality gaps in gaps, and returns
// which did.
func (t *settler) run(ctx context.Context, R, S blas64.General, yy, gaps []float64, samples []int, threshold float64) []bool {
	out := make([]bool, len(samples))
	for c := range t.slots {
		t.slots[c].phase = idle
	}
	for started := 0; ctx.Err() == nil; {
		busy := false
		for c := range t.slots {
			sl := &t.slots[c]
			if sl.phase == idle && started < len(samples) {
				t.begin(sl, c, R, S, samples[started], threshold)
				sl.at = started
				started++
			}
			if sl.phase == next && ctx.Err() == nil {
				t.choose(sl, c)
			}
			busy = busy || sl.phase == solving
		}
		if !busy {
			break
		}
		t.solve()
		t.gram.Mul(t.q.data, t.s.data)
		for c := range t.slots {
			sl := &t.slots[c]
			if sl.phase != solving {
				continue
			}
			if t.advance(sl, c); sl.phase == settled {
				out[sl.at], gaps[sl.sample] = true, t.gap(c, yy[sl.sample])
				for i, at := range t.s.column(c) {
					S.Data[i*S.Stride+sl.sample] = t.s.data[at]
				}
			}
			if sl.phase == settled || sl.phase == lost {
				sl.phase = idle
			}
		}
	}
	return out
}

// begin gives the slot a sample.
func (t *settler) begin(sl *slot, c int, R, S blas64.General, sample int, threshold float64) {
	sl.sample, sl.phase, sl.steps, sl.least, sl.exact = sample, next, 0, math.MaxInt/2, false
	for i, at := range t.r.column(c) {
		t.r.data[at], t.theta.data[at] = R.Data[i*R.Stride+sample], 0
		if v := S.Data[i*S.Stride+sample]; math.Abs(v) > threshold {
			t.theta.data[at] = sign(v)
		}
	}
}

// advance takes the result of a solve, and decides what the sample does next.
func (t *settler) advance(sl *slot, c int) {
	before := sl.worst
	t.correlate(sl, c)
	sl.solves++
	rounding := t.rounding(c)
	stuck := !(sl.worst <= 0.5*before) || sl.solves == settleSolves
	good := sl.worst <= goodEnough*t.lambda
	switch {
	case sl.worst <= rounding/16 || stuck && good:
		if t.judge(sl, c, rounding) {
			sl.phase = settled
		}
	case !sl.exact && good:
		if t.judge(sl, c, rounding) {
			sl.exact = true // the solves go on
		}
	case stuck:
		sl.phase = lost
	}
}

// choose finds the support of the pattern, factors one of two systems, and starts the solves from
// s = 0. The usual system is that of G_TT. With the inverse P and the rest Z, G d = e - mu with mu on Z
// only such that d_Z = 0, so P_ZZ mu = (P e)_Z and d = P (e - mu). That costs the cube of the entries
// not in the support, and more products.
func (t *settler) choose(sl *slot, c int) {
	sl.support, sl.rest = sl.support[:0], sl.rest[:0]
	for i, at := range t.theta.column(c) {
		if t.theta.data[at] != 0 {
			sl.support = append(sl.support, i)
		} else {
			sl.rest = append(sl.rest, i)
		}
	}
	k := float64(t.g.Rows)
	sl.byRest = cube(sl.rest)+products*k*k < cube(sl.support) && t.inverse.get() &&
		sl.factor.set(t.inverse.p, sl.rest, restShare)
	if !sl.byRest {
		sl.factor.setRaised(t.g, sl.support)
	}
	sl.x = slices.Grow(sl.x[:0], sl.factor.n)[:sl.factor.n]
	sl.phase, sl.solves, sl.worst = solving, 0, math.Inf(1)
	for _, at := range t.s.column(c) {
		t.s.data[at], t.e.data[at] = 0, 0
		if v := t.theta.data[at]; v != 0 {
			t.e.data[at] = math.FMA(-t.lambda, v, t.r.data[at])
		}
	}
}

// cube is the work of a factor of the block at idx, in multiply-adds.
func cube(idx []int) float64 {
	n := float64(len(idx))
	return n * n * n / 6
}

// solve solves for e, and adds the solution to s, for the samples that are solving.
func (t *settler) solve() {
	byRest := false
	for c := range t.slots {
		byRest = byRest || t.slots[c].phase == solving && t.slots[c].byRest
	}
	if byRest {
		t.inverse.multiply.Mul(t.p.data, t.e.data)
		copy(t.q.data, t.e.data)
		for c := range t.slots {
			if sl := &t.slots[c]; sl.phase == solving && sl.byRest {
				at := t.p.at(c)
				for p, i := range sl.rest {
					sl.x[p] = t.p.data[at+i*t.p.width]
				}
				sl.factor.solve(sl.x)
				for p, i := range sl.rest {
					t.q.data[at+i*t.q.width] = -sl.x[p]
				}
			}
		}
		t.inverse.multiply.Mul(t.p.data, t.q.data)
	}
	for c := range t.slots {
		sl, at := &t.slots[c], t.s.at(c)
		if sl.phase != solving {
			continue
		}
		if sl.byRest {
			for _, i := range sl.support {
				t.s.data[at+i*t.s.width] += t.p.data[at+i*t.p.width]
			}
			continue
		}
		for p, i := range sl.support {
			sl.x[p] = t.e.data[at+i*t.e.width]
		}
		sl.factor.solve(sl.x)
		for p, i := range sl.support {
			t.s.data[at+i*t.s.width] += sl.x[p]
		}
	}
}

// correlate sets c, e and worst from s and q = G s.
func (t *settler) correlate(sl *slot, c int) {
	sl.worst = 0
	for _, at := range t.c.column(c) {
		v := t.r.data[at] - t.q.data[at]
		t.c.data[at], t.e.data[at] = v, 0
		if theta := t.theta.data[at]; theta != 0 {
			t.e.data[at] = v - t.lambda*theta
			sl.worst = max(sl.worst, math.Abs(t.e.data[at]))
		}
	}
}

// rounding estimates the error that rounding leaves in c.
func (t *settler) rounding(c int) float64 {
	largest, l1 := 0.0, 0.0
	for i, at := range t.r.column(c) {
		largest = max(largest, math.Abs(t.r.data[at]))
		l1 += math.Abs(t.s.data[at]) * t.norm[i]
	}
	return 64 * epsilon * (largest + l1)
}

// judge corrects the pattern, and reports whether it was right. It gives a sample up whose steps change more
// and more entries.
func (t *settler) judge(sl *slot, c int, rounding float64) bool {
	changes := 0
	for i, at := range t.theta.column(c) {
		switch v := t.theta.data[at]; {
		case v != 0 && t.s.data[at]*v <= 0:
			t.theta.data[at] = 0
			changes++
		case v == 0 && math.Abs(t.c.data[at]) > t.lambda+max(rounding, sl.worst) && t.norm[i] > 0:
			t.theta.data[at] = sign(t.c.data[at])
			changes++
		}
	}
	sl.steps++
	switch {
	case changes == 0:
	case changes > sl.least+sl.least/2+2, sl.steps == settleSteps:
		sl.phase = lost
	default:
		sl.phase, sl.least, sl.exact = next, min(sl.least, changes), changes <= fewChanges
	}
	return changes == 0
}

// gap returns the duality gap of the code.
func (t *settler) gap(c int, yy float64) float64 {
	k := t.g.Rows
	s, g, r := make([]float64, k), make([]float64, k), make([]float64, k)
	for i, at := range t.s.column(c) {
		s[i], g[i], r[i] = t.s.data[at], t.c.data[at], t.r.data[at]
	}
	return dualityGap(s, g, r, t.lambda, yy)
}
