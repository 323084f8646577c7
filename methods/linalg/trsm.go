package linalg

// solveBlock is the number of unknowns that are solved one by one; more are split. It is
// part of the result.
const solveBlock = 64

// system is a triangular system that is being solved: op(A) X = B if left, otherwise X op(A) = B, with
// sides right-hand sides. X replaces B. Forward means that the unknowns are found in ascending order.
//
// A range of more than 64 unknowns is split in the middle, rounded up to a multiple of 64
// from its start. One part is solved, a product (alpha = -1, beta = 1) subtracts its terms from the
// other part, and the other part is solved. In a range of up to 64 the unknowns are found one after
// the other by
//
//	x_i = b_i; x_i = fma(-a_ik, x_k, x_i) for the known x_k of the range in order; x_i = x_i / a_ii
type system struct {
	kern                       *kernel
	left, forward, trans, unit bool
	a                          []float64
	lda                        int
	b                          []float64
	ldb                        int
	sides                      int
}

// solve finds the unknowns lo .. hi-1. B already has the terms of the unknowns outside the range that
// they depend on.
func (s *system) solve(lo, hi int) {
	if hi-lo <= solveBlock {
		s.substitute(lo, hi)
		return
	}
	mid := lo + roundUp((hi-lo)/2, solveBlock)
	if s.forward {
		s.solve(lo, mid)
		s.eliminate(lo, mid, mid, hi)
		s.solve(mid, hi)
	} else {
		s.solve(mid, hi)
		s.eliminate(mid, hi, lo, mid)
		s.solve(lo, mid)
	}
}

// eliminate subtracts the terms of the solved unknowns x0 .. x1-1 from the equations y0 .. y1-1.
func (s *system) eliminate(x0, x1, y0, y1 int) {
	p := product{k: x1 - x0, alpha: -1, beta: 1, ldc: s.ldb}
	if s.left { // B[y,:] -= op(A)[y,x] X[x,:]
		p.m, p.n = y1-y0, s.sides
		p.a = rowsOf(s.a[s.at(y0, x0):], s.lda, s.trans)
		p.b = rowsOf(s.b[x0*s.ldb:], s.ldb, true)
		p.c = s.b[y0*s.ldb:]
	} else { // B[:,y] -= X[:,x] op(A)[x,y]
		p.m, p.n = s.sides, y1-y0
		p.a = rowsOf(s.b[x0:], s.ldb, false)
		p.b = rowsOf(s.a[s.at(x0, y0):], s.lda, !s.trans)
		p.c = s.b[y0:]
	}
	p.run(s.kern)
}

// at returns the index in a of element (i, j) of op(A).
func (s *system) at(i, j int) int {
	if s.trans {
		i, j = j, i
	}
	return i*s.lda + j
}

// substitute finds the unknowns lo .. hi-1, at most solveBlock of them, in panels of
// right-hand sides. The panels and the triangle are packed in the order of solution.
func (s *system) substitute(lo, hi int) {
	n, nr := hi-lo, s.kern.nr
	place := func(i int) int { // of the unknown that is found as the i-th
		if s.forward {
			return lo + i
		}
		return hi - 1 - i
	}
	buf := takeBuffer(n * n)
	defer buffers.Put(buf)
	l := (*buf)[:n*n]
	for i := range n {
		row := l[i*n : i*n+i+1]
		for k := range row {
			if s.left {
				row[k] = s.a[s.at(place(i), place(k))]
			} else {
				row[k] = s.a[s.at(place(k), place(i))]
			}
		}
		if s.unit {
			row[i] = 1
		}
	}

	step, across := s.ldb, 1 // in b, from an unknown and from a right-hand side to the next
	if !s.left {
		step, across = 1, s.ldb
	}
	each := Parallel
	if n*n*s.sides < serialWork {
		each = func(n, _ int, f func(lo, hi int)) { f(0, n) }
	}
	const grain = 8
	each((s.sides+nr-1)/nr, grain, func(p, last int) {
		var panel [solveBlock * maxNR]float64
		for ; p < last; p++ {
			width := min(nr, s.sides-p*nr)
			b := s.b[p*nr*across:]
			for i := range n {
				load(panel[i*nr:i*nr+width], b[place(i)*step:], across)
			}
			s.kern.solve(n, l, panel[:])
			for i := range n {
				store(b[place(i)*step:], across, panel[i*nr:i*nr+width])
			}
		}
	})
}

// load fills dst with elements of src inc apart; store is its inverse.
func load(dst, src []float64, inc int) {
	if inc == 1 {
		copy(dst, src)
		return
	}
	for q := range dst {
		dst[q] = src[q*inc]
	}
}

func store(dst []float64, inc int, src []float64) {
	if inc == 1 {
		copy(dst, src)
		return
	}
	for q, v := range src {
		dst[q*inc] = v
	}
}
