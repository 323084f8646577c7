package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/gonum"
)

// factorBlock is the order up to which a matrix is factored element by element. It is
// part of the result.
const factorBlock = 64

// lapackImplementation is gonum's LAPACK with Dpotrf replaced: gonum's works in strips of
// 64 columns, too thin for a product to be fast.
type lapackImplementation struct{ gonum.Implementation }

// Dpotrf overwrites one triangle of the symmetric matrix A (n x n) by its Cholesky factor,
// A = U^T U (Upper) or L L^T (Lower), and reports whether A is positive definite; if not, the
// triangle holds a part of the factor. It does not touch the other triangle. It panics on arguments
// that LAPACK forbids, with the words of gonum's.
//
// An order of more than 64 is split in the middle, rounded up to a multiple of 64: factor
// the first diagonal block, solve for the block beside it (Dtrsm), subtract its square from the
// second diagonal block (Dsyrk), factor that.
func (l lapackImplementation) Dpotrf(ul blas.Uplo, n int, a []float64, lda int) bool {
	if (ul != blas.Upper && ul != blas.Lower) || n <= 0 || lda < n || len(a) < (n-1)*lda+n {
		return l.Implementation.Dpotrf(ul, n, a, lda) // panics, or n = 0
	}
	return factor(blas64.Implementation(), ul, n, a, lda)
}

func factor(bl blas.Float64, ul blas.Uplo, n int, a []float64, lda int) bool {
	if n <= factorBlock {
		return factorSmall(ul, n, a, lda)
	}
	h := roundUp(n/2, factorBlock)
	if !factor(bl, ul, h, a, lda) {
		return false
	}
	rest := a[h*lda+h:]
	if ul == blas.Upper {
		bl.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, h, n-h, 1, a, lda, a[h:], lda)
		bl.Dsyrk(blas.Upper, blas.Trans, n-h, h, -1, a[h:], lda, 1, rest, lda)
	} else {
		bl.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, n-h, h, 1, a, lda, a[h*lda:], lda)
		bl.Dsyrk(blas.Lower, blas.NoTrans, n-h, h, -1, a[h*lda:], lda, 1, rest, lda)
	}
	return factor(bl, ul, n-h, rest, lda)
}

// factorSmall factors a matrix of order n <= factorBlock, row after row of U:
//
//	u_jj = sqrt(a_jj), u_ji = a_ji / u_jj, a_ik = fma(-u_ji, u_jk, a_ik) for k >= i > j.
func factorSmall(ul blas.Uplo, n int, a []float64, lda int) bool {
	var u [factorBlock][factorBlock]float64
	down, right := lda, 1 // steps in a between the rows and the columns of U
	if ul == blas.Lower {
		down, right = 1, lda
	}
	for i := range n {
		for k := i; k < n; k++ {
			u[i][k] = a[i*down+k*right]
		}
	}
	ok := true
	for j := 0; j < n && ok; j++ {
		row := u[j][:n]
		if ok = row[j] > 0; !ok {
			break
		}
		row[j] = math.Sqrt(row[j])
		for i := j + 1; i < n; i++ {
			row[i] /= row[j]
		}
		for i := j + 1; i < n; i++ {
			f, from, to := -row[i], row[i:], u[i][i:n]
			for k, v := range from[:len(to)] {
				to[k] = math.FMA(f, v, to[k])
			}
		}
	}
	for i := range n {
		for k := i; k < n; k++ {
			a[i*down+k*right] = u[i][k]
		}
	}
	return ok
}
