package linalg

import "math"

const (
	// PursuitBlock is the number of columns of a block in Pursue.
	PursuitBlock = 64
	// pursuitTops is the number of maxima that Pursue keeps of a block.
	pursuitTops = 8
)

// Pursuit is what one sample's orthogonal matching pursuit keeps of K columns: the correlations a of its
// residual with them, and the rows p_0 .. p_m-1 of the columns chosen so far. It computes for whole blocks
// of PursuitBlock columns, so K is rounded up, and the columns beyond K are 0.
type Pursuit struct {
	kern *kernel
	t, m int
	a    []float64
	p    []float64 // for each block t rows, the rows of a block side by side
	w    []float64
	top  []float64 // of each block the largest |a_i| for each remainder of i by pursuitTops
}

// NewPursuit makes room for t steps on k columns.
func NewPursuit(k, t int) *Pursuit {
	k = roundUp(k, PursuitBlock)
	return &Pursuit{
		kern: active.kern, t: t,
		a: make([]float64, k), p: make([]float64, t*k), w: make([]float64, t), top: make([]float64, k/PursuitBlock*pursuitTops),
	}
}

// Start begins with the correlations a.
func (u *Pursuit) Start(a []float64) {
	u.m = 0
	clear(u.a[copy(u.a, a):])
	for i := range u.top {
		u.top[i] = 0
		for j := i/pursuitTops*PursuitBlock + i%pursuitTops; j < (i/pursuitTops+1)*PursuitBlock; j += pursuitTops {
			if v := math.Abs(u.a[j]); v > u.top[i] {
				u.top[i] = v
			}
		}
	}
}

// Largest returns the first index of the largest |a_i|, and a_i. With all of them 0 that is index 0.
func (u *Pursuit) Largest() (i int, a float64) {
	best := 0
	for j, v := range u.top {
		if v > u.top[best] {
			best = j
		}
	}
	lo := best / pursuitTops * PursuitBlock
	for i := lo; i < lo+PursuitBlock; i++ {
		if math.Abs(u.a[i]) == u.top[best] {
			return i, u.a[i]
		}
	}
	return 0, u.a[0]
}

// Row returns (p_0, .. p_m-1) at column i, valid until the next call.
func (u *Pursuit) Row(i int) []float64 {
	at := i/PursuitBlock*PursuitBlock*u.t + i%PursuitBlock
	for l := range u.m {
		u.w[l] = u.p[at+l*PursuitBlock]
	}
	return u.w[:u.m]
}

// Pursue appends the row
//
//	p_m = (g - sum_l w_l p_l) inv,
//
// with w the last result of Row, and subtracts z p_m from a. g has as many elements as the columns are,
// rounded up. Each element is a chain of fused multiply-adds in the order of the rows, from g, and one
// product; its bits are the same on every machine.
func (u *Pursuit) Pursue(g []float64, inv, z float64) {
	u.kern.pursue(u.m, u.t, u.w, u.p, g[:len(u.a)], u.a, u.top, inv, z)
	u.m++
}

// pursuePortable is what the assembly of the other kernels does.
func pursuePortable(m, t int, w, p, g, a, top []float64, inv, z float64) {
	clear(top)
	for b := 0; b < len(a); b += PursuitBlock {
		rows := p[b*t:]
		to := rows[m*PursuitBlock:][:PursuitBlock]
		copy(to, g[b:])
		for l, c := range w[:m] {
			axpyPortable(-c, rows[l*PursuitBlock:][:PursuitBlock], to)
		}
		tops := top[b/PursuitBlock*pursuitTops:][:pursuitTops]
		for i := range to {
			to[i] *= inv
			v := math.FMA(-z, to[i], a[b+i])
			a[b+i] = v
			if v = math.Abs(v); v > tops[i%pursuitTops] {
				tops[i%pursuitTops] = v
			}
		}
	}
}
