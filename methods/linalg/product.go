package linalg

import "math"

// Sizes of the blocks. Only kBlock is part of the result (see implementation); the
// others may change freely.
const (
	// kBlock is the length of a chain of fused multiply-adds. A panel of A of this
	// length (24 KB) stays in the L1 cache.
	kBlock = 384
	// rowBlock and colBlock are the rows and columns of C of one task, multiples of
	// every mr and nr. The panels of B of a task (590 KB) stay in the L2 cache.
	rowBlock = 96
	colBlock = 192
	// maxRows and maxCols bound the packed parts of A (7 MB) and B (14 MB), multiples
	// of rowBlock and colBlock.
	maxRows = 24 * rowBlock
	maxCols = 24 * colBlock

	// serialWork is the number of multiply-adds (some 20 microseconds) below which
	// goroutines cost more than they save.
	serialWork = 1 << 20
	// directWork is the number of multiply-adds below which packing costs more than it
	// saves.
	directWork = 1 << 8
)

// triangle tells which elements of C a product writes.
type triangle int

const (
	full  triangle = iota
	upper          // j >= i
	lower          // j <= i
)

// inside reports whether all of the tile of rows [i, i+m) and columns [j, j+n) belong to
// the triangle, outside whether none does.
func (t triangle) inside(i, j, m, n int) bool {
	return t == full || t == upper && j >= i+m-1 || t == lower && j+n-1 <= i
}

func (t triangle) outside(i, j, m, n int) bool {
	return t == upper && j+n-1 < i || t == lower && j > i+m-1
}

// span returns the columns [lo, hi) among j, j+1 .. j+n-1 that belong to the triangle in row i.
func (t triangle) span(i, j, n int) (lo, hi int) {
	switch t {
	case upper:
		return max(j, i), j + n
	case lower:
		return j, min(j+n, i+1)
	}
	return j, j + n
}

// product is C = alpha A B + beta C on a part of C (m x n), with sums of k terms. A is
// given by its rows and B by its columns.
type product struct {
	m, n, k     int
	alpha, beta float64
	a, b        operand
	c           []float64
	ldc         int
	part        triangle
}

// run computes the product with kernel kern, as implementation defines it.
func (p *product) run(kern *kernel) {
	if p.m == 0 || p.n == 0 {
		return
	}
	nothing := p.alpha == 0 || p.k == 0
	if p.beta != 0 || nothing {
		scale(p.beta, p.part, p.m, p.n, p.c, p.ldc)
	}
	if nothing {
		return
	}
	work := float64(p.m) * float64(p.n) * float64(p.k)
	if work < directWork {
		p.direct()
		return
	}
	each := Parallel
	if work < serialWork {
		each = func(n, _ int, f func(lo, hi int)) { f(0, n) }
	}
	kc, rows, cols := min(p.k, kBlock), min(p.m, maxRows), min(p.n, maxCols)
	sizeA, sizeB := roundUp(rows, kern.mr)*kc, roundUp(cols, kern.nr)*kc
	buf := takeBuffer(sizeA + sizeB)
	defer buffers.Put(buf)
	packedA, packedB := (*buf)[:sizeA], (*buf)[sizeA:sizeA+sizeB]

	for j := 0; j < p.n; j += maxCols {
		cols := min(p.n-j, maxCols)
		for l := 0; l < p.k; l += kBlock {
			kc := min(p.k-l, kBlock)
			each((cols+colBlock-1)/colBlock, 1, func(lo, hi int) {
				p.b.pack(packedB, kern.nr, j, cols, lo*colBlock, hi*colBlock, l, kc)
			})
			for i := 0; i < p.m; i += maxRows {
				rows := min(p.m-i, maxRows)
				each((rows+rowBlock-1)/rowBlock, 1, func(lo, hi int) {
					p.a.pack(packedA, kern.mr, i, rows, lo*rowBlock, hi*rowBlock, l, kc)
				})
				s := slab{product: p, kern: kern, i: i, j: j, rows: rows, cols: cols, kc: kc, a: packedA, b: packedB, add: l > 0 || p.beta != 0}
				// Neighbouring tasks share their panels of B.
				downs := (rows + rowBlock - 1) / rowBlock
				each(downs*((cols+colBlock-1)/colBlock), 1, func(lo, hi int) {
					for t := lo; t < hi; t++ {
						s.block(t%downs*rowBlock, t/downs*colBlock)
					}
				})
			}
		}
	}
}

// slab is a part of a product whose operands are packed: rows x cols elements of C from
// (i, j) on, kc terms of their sums.
type slab struct {
	*product
	kern       *kernel
	i, j       int
	rows, cols int
	kc         int
	a, b       []float64
	add        bool
}

// block computes the tiles of rows [r0, r0+rowBlock) and columns [c0, c0+colBlock) of the slab.
func (s *slab) block(r0, c0 int) {
	mr, nr := s.kern.mr, s.kern.nr
	var tile [maxMR * maxNR]float64
	for r := r0; r < min(r0+rowBlock, s.rows); r += mr {
		a := s.a[r*s.kc:]
		m := min(mr, s.rows-r)
		for c := c0; c < min(c0+colBlock, s.cols); c += nr {
			n := min(nr, s.cols-c)
			i, j := s.i+r, s.j+c
			if s.part.outside(i, j, m, n) {
				continue
			}
			b := s.b[c*s.kc:]
			if m == mr && n == nr && s.part.inside(i, j, m, n) {
				s.kern.product(s.kc, a, b, s.c[i*s.ldc+j:], s.ldc, s.alpha, s.add)
				continue
			}
			// A tile across the edge: compute the sums (1 t = t), then combine the part inside.
			s.kern.product(s.kc, a, b, tile[:], nr, 1, false)
			for q := range m {
				lo, hi := s.part.span(i+q, j, n)
				if lo < hi {
					combine(s.c[(i+q)*s.ldc+lo:(i+q)*s.ldc+hi], tile[q*nr+lo-j:], s.alpha, s.add)
				}
			}
		}
	}
}

// direct computes a small product without packing, by the same chains.
func (p *product) direct() {
	for l := 0; l < p.k; l += kBlock {
		kc := min(p.k-l, kBlock)
		add := l > 0 || p.beta != 0
		for i := range p.m {
			lo, hi := p.part.span(i, 0, p.n)
			a := p.a.data[i*p.a.outer+l*p.a.inner:]
			for j := lo; j < hi; j += 4 {
				// Four chains at once hide the latency of one; chains past the end repeat the last.
				n := min(4, hi-j)
				b0 := p.b.data[j*p.b.outer+l*p.b.inner:]
				b1 := p.b.data[(j+min(1, n-1))*p.b.outer+l*p.b.inner:]
				b2 := p.b.data[(j+min(2, n-1))*p.b.outer+l*p.b.inner:]
				b3 := p.b.data[(j+n-1)*p.b.outer+l*p.b.inner:]
				var t0, t1, t2, t3 float64
				for q := range kc {
					v := a[q*p.a.inner]
					t0 = math.FMA(v, b0[q*p.b.inner], t0)
					t1 = math.FMA(v, b1[q*p.b.inner], t1)
					t2 = math.FMA(v, b2[q*p.b.inner], t2)
					t3 = math.FMA(v, b3[q*p.b.inner], t3)
				}
				t := [4]float64{t0, t1, t2, t3}
				combine(p.c[i*p.ldc+j:i*p.ldc+j+n], t[:], p.alpha, add)
			}
		}
	}
}

// scale multiplies a part of C by beta; 0 overwrites it, even a NaN.
func scale(beta float64, part triangle, m, n int, c []float64, ldc int) {
	if beta == 1 {
		return
	}
	for i := range m {
		lo, hi := part.span(i, 0, n)
		row := c[i*ldc+lo : i*ldc+hi]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

// roundUp returns the least multiple of step that is at least n.
func roundUp(n, step int) int { return (n + step - 1) / step * step }
