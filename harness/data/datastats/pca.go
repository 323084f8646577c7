package datastats

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/linalg"
)

// PCA holds the first two principal components of the normalised samples.
type PCA struct {
	// Share is the share of the variance along each.
	Share [2]float64 `json:"share"`
	// points are the coordinates of the samples on the two components.
	points [][2]float64
}

const (
	// subspace is the number of iterated directions. The first two converge at the ratio of their
	// variances to that of direction subspace+1: more directions, fewer iterations.
	subspace   = 12
	iterations = 100
	// tolerance is the relative change of the two variances that ends the iteration. The directions
	// are then exact to about its root, finer than a picture shows.
	tolerance = 1e-9
)

// components computes the principal components of the columns of X (dim x N) by orthogonal
// iteration with a Rayleigh-Ritz step (Golub and Van Loan, Matrix Computations, section 8.2), from
// a random start with a fixed seed. If all variance is along one direction, the second component is
// 0.
func components(ctx context.Context, X *mat.Dense) (PCA, error) {
	dim, n := X.Dims()
	mean := make([]float64, dim)
	total := 0.0
	for i := range dim {
		row := X.RawRowView(i)
		for _, v := range row {
			mean[i] += v
		}
		mean[i] /= float64(n)
		for _, v := range row {
			total += (v - mean[i]) * (v - mean[i])
		}
	}
	k := min(subspace, dim)
	r := rand.New(rand.NewPCG(seed, 0))
	Q := mat.NewDense(dim, k, nil)
	for i := range dim {
		for j := range k {
			Q.Set(i, j, linalg.Gaussian(r))
		}
	}
	Q = orthonormal(Q)
	mu := mat.NewVecDense(dim, mean)
	var Z mat.Dense // N x k: the centred samples in the directions
	var values, before []float64
	for range iterations {
		if err := ctx.Err(); err != nil {
			return PCA{}, err
		}
		var shift mat.VecDense
		shift.MulVec(Q.T(), mu)
		Z.Reset()
		Z.Mul(X.T(), Q)
		for i := range n {
			for j, row := 0, Z.RawRowView(i); j < k; j++ {
				row[j] -= shift.AtVec(j)
			}
		}
		// Rayleigh-Ritz: rotate the directions so that the samples are uncorrelated along them.
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(k, linalg.Gram(&Z).RawMatrix().Data), true) {
			return PCA{}, errors.New("principal components: the eigenvalues of the samples do not converge")
		}
		var V, turned mat.Dense
		eigen.VectorsTo(&V)
		turned.Mul(&Z, &V) // ascending: the last columns are the first components
		Z.Copy(&turned)
		values = eigen.Values(nil)
		if before != nil && change(values, before) <= tolerance {
			break
		}
		before = values
		var next mat.Dense
		next.Mul(X, &Z) // the columns of Z sum to 0: X need not be centred
		Q = orthonormal(&next)
	}
	p := PCA{points: make([][2]float64, n)}
	for c := range min(2, k) {
		if total > 0 {
			p.Share[c] = max(0, values[k-1-c]) / total
		}
		sign := signOf(&Z, k-1-c)
		for i := range n {
			p.points[i][c] = sign * Z.At(i, k-1-c)
		}
	}
	return p, nil
}

// change returns the largest relative change of the two largest values, the last two.
func change(values, before []float64) float64 {
	largest := 0.0
	for c := len(values) - 1; c >= max(0, len(values)-2); c-- {
		if values[c] != before[c] {
			largest = math.Max(largest, math.Abs(values[c]-before[c])/math.Abs(values[len(values)-1]))
		}
	}
	return largest
}

// signOf returns the sign that makes the farthest sample of a component positive.
func signOf(Z *mat.Dense, column int) float64 {
	n, _ := Z.Dims()
	far := 0.0
	for i := range n {
		if v := Z.At(i, column); math.Abs(v) > math.Abs(far) {
			far = v
		}
	}
	if far < 0 {
		return -1
	}
	return 1
}

// orthonormal applies Gram-Schmidt to the columns of A (dim x k), twice, so that nearly dependent
// columns become orthogonal too. A column that depends on earlier ones becomes zero.
func orthonormal(A *mat.Dense) *mat.Dense {
	T := mat.DenseCopyOf(A.T())
	k, _ := T.Dims()
	for j := range k {
		v := T.RawRowView(j)
		size := floats.Norm(v, 2)
		for range 2 {
			for i := range j {
				w := T.RawRowView(i)
				floats.AddScaled(v, -floats.Dot(w, v), w)
			}
		}
		left := floats.Norm(v, 2)
		if left <= 1e-12*size {
			clear(v)
			continue
		}
		floats.Scale(1/left, v)
	}
	return mat.DenseCopyOf(T.T())
}
