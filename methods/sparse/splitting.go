package sparse

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/linalg"
)

// The splitting makes at least minPasses passes. It ends when a pass changes the support of fewer than
// one entry per settledShare samples.
const (
	minPasses    = 20
	settledShare = 8
	// relaxation is the over-relaxation of the splitting, between 1 and 2.
	relaxation = 1.7
)

// stage is one attempt at the pattern: the penalty, as a multiple of the value in newSplitting, and
// the largest number of passes.
type stage struct {
	penalty float64
	passes  int
}

// stages are tried in this order: the large penalty is faster on most problems, the small one works
// for very small lambda with more columns than features.
var stages = [...]stage{{2, 150}, {0.25, 600}}

// splitting is the alternating direction method of multipliers for the Lasso. A pass costs one
// K x K product for all samples. A few dozen passes find the pattern of a code; full convergence
// would be too slow.
type splitting struct {
	W         blas64.General // (G + rho I)^-1
	rho       float64
	threshold float64 // lambda/rho
	passes    int
}

// newSplitting chooses the penalty rho and inverts G + rho I; column is the mean squared norm
// of the columns of A, sample that of the samples, both above 0. For unit columns and samples of
// ResNet features and lambda from 2^-14 to 2^-3, the best penalties were within a factor of 4 of
// lambda^0.6; other scales reduce to that one. It reports false if G is not positive semi-definite.
func newSplitting(G blas64.General, lambda, column, sample float64, s stage) (splitting, bool) {
	rho := column * max(s.penalty*math.Pow(lambda/math.Sqrt(column*sample), 0.6), 1e-6)
	W, ok := inverse(G, func(float64) float64 { return rho })
	return splitting{W: W, rho: rho, threshold: lambda / rho, passes: s.passes}, ok
}

// run computes codes of the samples idx, columns of R (K x M), and stores them in the same columns of
// S (K x M). From V = 0 (K x w):
//
//	Z = soft(V, lambda/rho)
//	X = W (R + rho (2Z - V))
//	V <- V + a (X - Z)
//
// with the relaxation a: the usual form with the scaled multiplier U = V - Z.
func (p splitting) run(ctx context.Context, R, S blas64.General, idx []int) {
	k, w := R.Rows, len(idx)
	part := func() blas64.General {
		return blas64.General{Rows: k, Cols: w, Stride: w, Data: make([]float64, k*w)}
	}
	C, V, B, X, Z := part(), part(), part(), part(), part()
	for i := range k {
		for c, j := range idx {
			C.Data[i*w+c] = R.Data[i*R.Stride+j]
		}
	}
	for pass := range p.passes {
		changes := 0
		for i, v := range V.Data {
			soft := math.Copysign(max(math.Abs(v)-p.threshold, 0), v)
			if (soft != 0) != (Z.Data[i] != 0) {
				changes++
			}
			Z.Data[i] = soft
			B.Data[i] = math.FMA(p.rho, 2*soft-v, C.Data[i])
		}
		if pass >= minPasses && settledShare*changes < w || ctx.Err() != nil {
			break
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, p.W, B, 0, X)
		for i, x := range X.Data {
			V.Data[i] = math.FMA(relaxation, x-Z.Data[i], V.Data[i])
		}
	}
	for i := range k {
		for c, j := range idx {
			S.Data[i*S.Stride+j] = Z.Data[i*w+c]
		}
	}
}

// inverse returns (G + diag(shift(G_ii)))^-1, both triangles filled, and whether the matrix
// was positive definite.
func inverse(G blas64.General, shift func(gii float64) float64) (blas64.General, bool) {
	n := G.Rows
	L := blas64.Symmetric{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Lower}
	P := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for i := range n {
		copy(L.Data[i*n:(i+1)*n], G.Data[i*G.Stride:])
		L.Data[i*n+i] += shift(L.Data[i*n+i])
		P.Data[i*n+i] = 1
	}
	t, ok := lapack64.Potrf(L)
	if ok {
		lapack64.Potrs(t, P)
		linalg.Mirror(mat.NewDense(n, n, P.Data))
	}
	return P, ok
}
