package linalg

import "gonum.org/v1/gonum/blas"

// Dtrsv overwrites x by the solution of op(A) x = b, A triangular of order n, with b the old x. It reads
// the rows of A. For op(A) = A,
//
//	x_i = (x_i - t) / a_ii,   t the inner product of Ddot with the known x,
//
// and for op(A) = A^T, once x_i = x_i / a_ii is known, every unknown x_k becomes fma(-x_i, a_ik, x_k). As
// everywhere in the BLAS a zero on the diagonal gives infinities or NaN. The panics are those of gonum's.
func (l implementation) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	checkTrsv(ul, tA, d, n, a, lda, x, incX)
	if n == 0 {
		return
	}
	buf, v := contiguous(n, x, incX)
	defer release(buf)
	trans := tA != blas.NoTrans
	ascending := (ul == blas.Lower) != trans
	for q := range n {
		i := q
		if !ascending {
			i = n - 1 - q
		}
		row := a[i*lda : i*lda+n]
		lo, hi := 0, i // of the elements of the row beside the diagonal
		if ul == blas.Upper {
			lo, hi = i+1, n
		}
		if !trans {
			v[i] -= l.kern.dot(row[lo:hi], v[lo:hi])
		}
		if d == blas.NonUnit {
			v[i] /= row[i]
		}
		if trans {
			l.kern.axpy(-v[i], row[lo:hi], v[lo:hi])
		}
	}
	if incX != 1 {
		for i, at := 0, first(n, incX); i < n; i, at = i+1, at+incX {
			x[at] = v[i]
		}
	}
}
