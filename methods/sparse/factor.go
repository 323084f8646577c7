package sparse

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/linalg"
)

const (
	// ridgeShare of G_kk is added to each diagonal entry of the systems of an active set: it gives
	// dependent columns a factor. Further solves for what it leaves of the equations undo its effect.
	ridgeShare = 1e-11
	// singularShare takes its place where the whole of a singular G is inverted. From 1e-8 to 1e-6 three
	// solves leave 1e-6 of lambda or less of the equations on learned atoms; below, rounding prevails.
	singularShare = 1e-7
	// epsilon is the rounding unit of a float64.
	epsilon = 0x1p-53
)

// blockFactor is the Cholesky factor of a diagonal block of a symmetric matrix.
type blockFactor struct {
	n    int
	data []float64 // lower triangle, n x n
}

// set factors the block of A at idx, its diagonal raised by a share of itself, and reports whether it
// is positive definite.
func (f *blockFactor) set(A blas64.General, idx []int, share float64) bool {
	f.n = len(idx)
	if f.n == 0 {
		return true
	}
	if size := f.n * f.n; cap(f.data) < size {
		f.data = make([]float64, size+size/16)
	}
	data := f.data[:f.n*f.n]
	for p, i := range idx {
		row, to := A.Data[i*A.Stride:], data[p*f.n:(p+1)*f.n]
		for q, j := range idx[:p+1] {
			to[q] = row[j]
		}
		to[p] *= 1 + share
	}
	_, ok := lapack64.Potrf(blas64.Symmetric{N: f.n, Stride: f.n, Data: data, Uplo: blas.Lower})
	return ok
}

// setRaised is set with the least share, from ridgeShare on in steps of 1000, that makes the block of a
// Gram matrix positive definite. With a share of 1 every such block is.
func (f *blockFactor) setRaised(G blas64.General, idx []int) {
	for share := ridgeShare; !f.set(G, idx, share) && share < 1; {
		share = min(1e3*share, 1)
	}
}

// solve overwrites x by the solution of the factored system.
func (f *blockFactor) solve(x []float64) {
	if f.n == 0 {
		return
	}
	t := blas64.Triangular{N: f.n, Stride: f.n, Data: f.data[:f.n*f.n], Uplo: blas.Lower, Diag: blas.NonUnit}
	v := blas64.Vector{N: f.n, Inc: 1, Data: x}
	blas64.Trsv(blas.NoTrans, t, v)
	blas64.Trsv(blas.Trans, t, v)
}

// gramInverse is P = (G + ridge)^-1, computed when the first code needs it. The ridge is ridgeShare of
// the diagonal, or singularShare if that leaves P too large.
type gramInverse struct {
	g        blas64.General
	once     sync.Once
	p        blas64.General
	multiply *linalg.Multiplier // by P
	ok       bool
}

// inverseLimit bounds the diagonal entries of P relative to 1/G_ii with the small ridge: that is
// 1/(1 - the squared multiple correlation of column i with the others).
const inverseLimit = 1e7

// get computes P at the first call, and reports whether there is one.
func (v *gramInverse) get() bool {
	v.once.Do(func() {
		for _, share := range []float64{ridgeShare, singularShare} {
			limit := inverseLimit
			if share == singularShare {
				limit = 2 / share
			}
			shift := func(gii float64) float64 {
				if gii > 0 {
					return share * gii
				}
				return 1 // a zero column: any number keeps it apart from the others
			}
			if v.p, v.ok = inverse(v.g, shift, limit); v.ok {
				v.multiply = linalg.NewMultiplier(dense(v.p))
				return
			}
		}
	})
	return v.ok
}

// inverse returns (G + diag(shift(G_ii)))^-1, both triangles filled. It reports false if the matrix is
// not positive definite, or if a diagonal entry of the inverse is above limit/G_ii.
func inverse(G blas64.General, shift func(gii float64) float64, limit float64) (blas64.General, bool) {
	n := G.Rows
	L := blas64.Symmetric{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Lower}
	for i := range n {
		copy(L.Data[i*n:(i+1)*n], G.Data[i*G.Stride:])
		L.Data[i*n+i] += shift(L.Data[i*n+i])
	}
	t, ok := lapack64.Potrf(L)
	// 1/L_ii^2 is at most entry i of the inverse, and known before the inverse is.
	for i := 0; ok && i < n; i++ {
		l := L.Data[i*n+i]
		ok = G.Data[i*G.Stride+i] <= limit*l*l
	}
	if !ok {
		return blas64.General{}, false
	}
	P := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for i := range n {
		P.Data[i*n+i] = 1
	}
	lapack64.Potrs(t, P)
	for i := 0; ok && i < n; i++ {
		ok = P.Data[i*n+i]*G.Data[i*G.Stride+i] <= limit
	}
	linalg.Mirror(dense(P))
	return P, ok
}

// dense is A as a matrix of gonum/mat, with the same memory.
func dense(A blas64.General) *mat.Dense {
	var m mat.Dense
	m.SetRawMatrix(A)
	return &m
}
