package dictionary

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// span is an orthonormal basis of the span of some columns, as the Householder vectors of
// a QR factorisation. K-SVD and OMP use only inner products of samples and atoms, and all
// atoms lie in the span of the samples. With fewer samples than features they can therefore run on
// N x N coordinates instead of dim x N features, and give the same dictionary.
type span struct {
	vectors blas64.General // dim x N, below the diagonal
	tau     []float64
}

// coordinates factorises X (dim x N, N < dim) and returns its coordinates, an upper
// triangular N x N matrix.
func coordinates(X *mat.Dense) (span, *mat.Dense) {
	_, n := X.Dims()
	s := span{mat.DenseCopyOf(X).RawMatrix(), make([]float64, n)}
	work := make([]float64, 1)
	lapack64.Geqrf(s.vectors, s.tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqrf(s.vectors, s.tau, work, len(work))
	R := mat.NewDense(n, n, nil)
	for i := range n {
		copy(R.RawRowView(i)[i:], s.vectors.Data[i*s.vectors.Stride+i:i*s.vectors.Stride+n])
	}
	return s, R
}

// lift turns coordinates (N x K) back into features (dim x K).
func (s span) lift(A *mat.Dense) *mat.Dense {
	n, k := A.Dims()
	D := mat.NewDense(s.vectors.Rows, k, nil)
	D.Slice(0, n, 0, k).(*mat.Dense).Copy(A)
	work := make([]float64, 1)
	lapack64.Ormqr(blas.Left, blas.NoTrans, s.vectors, s.tau, D.RawMatrix(), work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Ormqr(blas.Left, blas.NoTrans, s.vectors, s.tau, D.RawMatrix(), work, len(work))
	return D
}
