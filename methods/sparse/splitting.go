package sparse

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/dense"
)

// The passes of the splitting: at least minPasses, at most maxPasses, and no more once a
// pass changes the sign of fewer entries than the panel has samples.
const (
	minPasses = 20
	maxPasses = 150
	// relaxation is the over-relaxation of the splitting, between 1 and 2.
	relaxation = 1.7
)

// splitting is the alternating direction method of multipliers for the Lasso, which costs
// one K x K product per pass for all samples. It is there to find the pattern of a code,
// for which a few dozen passes do; it converges too slowly for more.
type splitting struct {
	W         blas64.General // (G + rho I)^-1
	rho       float64
	threshold float64 // lambda/rho
}

// newSplitting chooses the penalty rho and inverts G + rho I; column is the mean squared norm
// of the columns of A, sample that of the samples, both above 0. For unit columns and
// samples, 4 lambda^0.6 was the best power law in trials on ResNet features with lambda from
// 2^-14 to 2^-3; other scales are reduced to that one. It reports false if G is not
// positive semi-definite.
func newSplitting(G blas64.General, lambda, column, sample float64) (splitting, bool) {
	rho := column * max(4*math.Pow(lambda/math.Sqrt(column*sample), 0.6), 1e-6)
	W, ok := inverse(G, func(float64) float64 { return rho })
	return splitting{W: W, rho: rho, threshold: lambda / rho}, ok
}

// run leaves codes of the samples with correlations R (K x w) in Z (K x w). From V = 0:
//
//	Z = soft(V, lambda/rho)
//	S = W (R + rho (2Z - V))
//	V <- V + a (S - Z),   a the relaxation,
//
// which is the usual form with the scaled multiplier U = V - Z.
func (p splitting) run(ctx context.Context, R, Z blas64.General) {
	k, w := R.Rows, R.Cols
	part := func() blas64.General {
		return blas64.General{Rows: k, Cols: w, Stride: w, Data: make([]float64, k*w)}
	}
	V, B, S, T := part(), part(), part(), part()
	for pass := range maxPasses {
		changes := 0
		for i := range k {
			v, b, z, r := V.Data[i*w:(i+1)*w], B.Data[i*w:(i+1)*w], T.Data[i*w:(i+1)*w], R.Data[i*R.Stride:]
			for c, x := range v {
				soft := math.Copysign(max(math.Abs(x)-p.threshold, 0), x)
				if (soft != 0) != (z[c] != 0) {
					changes++
				}
				z[c] = soft
				b[c] = math.FMA(p.rho, 2*soft-x, r[c])
			}
		}
		if pass >= minPasses && changes < w || ctx.Err() != nil {
			break
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, p.W, B, 0, S)
		for i, s := range S.Data {
			V.Data[i] = math.FMA(relaxation, s-T.Data[i], V.Data[i])
		}
	}
	for i := range k {
		copy(Z.Data[i*Z.Stride:i*Z.Stride+w], T.Data[i*w:(i+1)*w])
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
		dense.Mirror(mat.NewDense(n, n, P.Data))
	}
	return P, ok
}
