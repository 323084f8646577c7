package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

const (
	// lanes is the number of interleaved sums of an inner product. It is part of the result.
	lanes = 32
	// vectorBlock is the number of elements that the vector kernels process together.
	vectorBlock = 8
	// serialVector is the number of elements of A (1 MB, read from memory) below which goroutines
	// do not pay for Dgemv.
	serialVector = 1 << 17
)

// Ddot returns the inner product of n elements of x and y. With t_j the sum of x_i y_i over
// i = j, j+32, j+64 .. in order, a chain of fused multiply-adds from +0, it is the sum of the
// 32 t_j, whose upper half is added to the lower half until one is left.
func (l implementation) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	// With alpha = 0 gonum's code checks its arguments and returns.
	l.Implementation.Daxpy(n, 0, x, incX, y, incY)
	if n <= 0 {
		return 0
	}
	bufX, x := contiguous(n, x, incX)
	bufY, y := contiguous(n, y, incY)
	defer release(bufX)
	defer release(bufY)
	return l.kern.dot(x, y)
}

// Daxpy adds alpha x to y, n elements, each by one fused multiply-add. If alpha = 0 it reads
// nothing.
func (l implementation) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	l.Implementation.Daxpy(n, 0, x, incX, y, incY)
	if n <= 0 || alpha == 0 {
		return
	}
	if incX == 1 && incY == 1 {
		l.kern.axpy(alpha, x[:n], y[:n])
		return
	}
	ix, iy := first(n, incX), first(n, incY)
	for range n {
		y[iy] = math.FMA(alpha, x[ix], y[iy])
		ix += incX
		iy += incY
	}
}

// Dgemv computes y = alpha op(A) x + beta y, A of m x n. An element with op(A) = A is
// alpha t + beta y, t the inner product of Ddot, the product beta y rounded and the rest one
// fused multiply-add, or alpha t alone if beta = 0. With op(A) = A^T it has the bits of Dgemm.
// The panics are those of gonum's.
func (l implementation) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	l.Implementation.Dgemv(tA, m, n, 0, a, lda, x, incX, 1, y, incY)
	if m == 0 || n == 0 {
		return
	}
	lenX, lenY := m, n
	if tA == blas.NoTrans {
		lenX, lenY = n, m
	}
	bufX, vx := contiguous(lenX, x, incX)
	bufY, vy := contiguous(lenY, y, incY)
	defer release(bufX)
	defer release(bufY)
	if beta != 1 {
		scale(beta, full, 1, lenY, vy, lenY)
	}
	if alpha != 0 {
		part, grain := l.gemvRows, 64
		if tA != blas.NoTrans {
			part, grain = l.gemvColumns, 512
		}
		if m*n < serialVector {
			part(0, lenY, lenX, alpha, a, lda, vx, beta, vy)
		} else {
			Parallel(lenY, grain, func(lo, hi int) { part(lo, hi, lenX, alpha, a, lda, vx, beta, vy) })
		}
	}
	if incY != 1 {
		for i, at := 0, first(lenY, incY); i < lenY; i, at = i+1, at+incY {
			y[at] = vy[i]
		}
	}
}

// gemvRows computes the elements lo .. hi-1 of y = alpha A x + beta y, for y already scaled.
func (l implementation) gemvRows(lo, hi, n int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	for i := lo; i < hi; i++ {
		t := l.kern.dot(a[i*lda:i*lda+n], x)
		if beta == 0 {
			y[i] = alpha * t
		} else {
			y[i] = math.FMA(alpha, t, y[i])
		}
	}
}

// gemvColumns does the same with A^T, of m columns.
func (l implementation) gemvColumns(lo, hi, m int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	for q := 0; q < m; q += kBlock {
		l.kern.row(min(m-q, kBlock), x[q:], a[q*lda+lo:], lda, y[lo:hi], alpha, q > 0 || beta != 0)
	}
}

// first returns the index of the first of n elements inc apart, as the BLAS counts them.
func first(n, inc int) int {
	if inc < 0 {
		return (1 - n) * inc
	}
	return 0
}

// contiguous returns n elements of x side by side. If they are not, it copies them to a buffer, which
// it also returns.
func contiguous(n int, x []float64, inc int) (buf *[]float64, v []float64) {
	if inc == 1 {
		return nil, x[:n]
	}
	buf = takeBuffer(n)
	v = (*buf)[:n]
	for i, at := 0, first(n, inc); i < n; i, at = i+1, at+inc {
		v[i] = x[at]
	}
	return buf, v
}

func release(buf *[]float64) {
	if buf != nil {
		buffers.Put(buf)
	}
}

// dot is Ddot of two slices of one length.
func (k *kernel) dot(x, y []float64) float64 {
	var t [lanes]float64
	n := len(x) / lanes * lanes
	y = y[:len(x)]
	if n > 0 {
		k.inner(x[:n], y[:n], &t)
	}
	for j, v := range x[n:] {
		t[j] = math.FMA(v, y[n+j], t[j])
	}
	for j := range 16 {
		t[j] += t[16+j]
	}
	for j := range 8 {
		t[j] += t[8+j]
	}
	return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]))
}

// innerPortable is what the assembly of the other kernels does: it adds x_i y_i to the sum
// of its lane. The length is a multiple of lanes.
func innerPortable(x, y []float64, t *[lanes]float64) {
	for ; len(x) > 0; x, y = x[lanes:], y[lanes:] {
		u, v := (*[lanes]float64)(x), (*[lanes]float64)(y)
		for j := range t {
			t[j] = math.FMA(u[j], v[j], t[j])
		}
	}
}

func axpyPortable(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = math.FMA(alpha, v, y[i])
	}
}

// rowPortable multiplies the kc elements of a by the rows of b, ldb apart. It sets c to alpha times
// the sums, or adds that if add.
func rowPortable(kc int, a, b []float64, ldb int, c []float64, alpha float64, add bool) {
	for j := 0; j < len(c); j += 4 {
		var t [4]float64
		part := c[j:min(j+4, len(c))]
		for l, v := range a[:kc] {
			for q, w := range b[l*ldb+j:][:len(part)] {
				t[q] = math.FMA(v, w, t[q])
			}
		}
		combine(part, t[:], alpha, add)
	}
}
