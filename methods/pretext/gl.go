package pretext

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// GL is learning with local and global consistency (Zhou et al. 2003) on a graph of the
// samples: A_ij = exp(-d_ij^2/(2 sigma^2)), A_ii = 0, S = D^-1/2 A D^-1/2 and
// F = (1-alpha) O (I - alpha S)^-1. With alpha = 1/(1+lambda) that is the minimiser of
// Eq. 10 for Delta = I - S, so lambda means the same here as in HL and pAHL.
//
// The graph "knn" joins a sample with its k nearest neighbours and with the samples whose neighbour
// it is. The graph "rbf" joins all samples, in an N x N matrix.
type GL struct {
	K      int     `param:"k" default:"10" min:"1" doc:"neighbours of a sample in the graph, and of an unseen sample in its score"`
	Graph  string  `param:"graph" default:"knn" choices:"knn,rbf" doc:"symmetrised nearest neighbours, or every pair of samples"`
	Sigma  float64 `param:"sigma" default:"0" min:"0" doc:"width of the heat kernel exp(-d^2/(2 sigma^2)); 0 takes sigma^2 = mean d^2 to the k neighbours"`
	Lambda float64 `param:"lambda" default:"0.1" min:"1e-6" doc:"weight of staying close to the initial labels; alpha = 1/(1+lambda)"`
	Fill   float64 `param:"fill" default:"0.5" min:"0" max:"1" doc:"initial label value of unlabelled samples"`
}

// PseudoLabels implements methods.Pretext. F >= 0; the row of a class without labelled
// samples is 0. A sample without any neighbour (N = 1) keeps lambda/(1+lambda) of its
// column of O.
func (m GL) PseudoLabels(ctx context.Context, p methods.Problem) (methods.Pseudo, error) {
	if err := p.Check("gl", m); err != nil {
		return methods.Pseudo{}, err
	}
	l, err := m.Laplacian(ctx, p)
	if err != nil {
		return methods.Pseudo{}, err
	}
	s, err := l.Solve(ctx, "gl", initialLabels(p, m.Fill), m.Lambda)
	if err != nil {
		return methods.Pseudo{}, err
	}
	traceSolution(p, s)
	return methods.Pseudo{F: s.F, Score: outOfSample("gl", p.X, s.F, m.K, 1)}, nil
}

// Laplacian returns I - S of the graph of p.X.
func (m GL) Laplacian(ctx context.Context, p methods.Problem) (Laplacian, error) {
	nb, err := sharedNeighbours(ctx, p, m.K, false)
	if err != nil {
		return Laplacian{}, err
	}
	sigma2 := m.Sigma * m.Sigma
	if m.Sigma == 0 {
		sigma2 = nb.meanD2()
	}
	_, n := p.X.Dims()
	l := Laplacian{N: n, Top: 2}
	key := m.graphKey()
	if m.Graph == "rbf" {
		S, err := methods.Shared(ctx, p, key, func() (*mat.Dense, int64, error) {
			S, err := fullGraph(ctx, p.X, sigma2)
			return S, int64(8 * n * n), err
		})
		if err != nil {
			return Laplacian{}, err
		}
		l.Apply = func(dst, Y *mat.Dense) { dst.Mul(S, Y); subtractFrom(Y, dst) }
		return l, nil
	}
	S, err := methods.Shared(ctx, p, key, func() (*CSR, int64, error) {
		A := heatGraph(nb, sigma2)
		roots := degreeRoots(A.rowSums())
		S := A.scaled(roots, roots)
		return S, S.bytes(), nil
	})
	if err != nil {
		return Laplacian{}, err
	}
	l.Apply = func(dst, Y *mat.Dense) { S.mul(dst, Y); subtractFrom(Y, dst) }
	return l, nil
}

// HeatGraph returns A, the symmetrised graph of the k nearest neighbours of the columns
// of X (dim x N) with heat kernel weights; sigma is as in GL.
func HeatGraph(ctx context.Context, X *mat.Dense, k int, sigma float64) (*CSR, error) {
	nb, err := selfNeighbours(ctx, X, k, false)
	if err != nil {
		return nil, err
	}
	if sigma > 0 {
		return heatGraph(nb, sigma*sigma), nil
	}
	return heatGraph(nb, nb.meanD2()), nil
}

func heatGraph(nb *neighbours, sigma2 float64) *CSR {
	n := nb.samples()
	rows := make([][]candidate, n)
	for i := range n {
		index, d2 := nb.query(i)
		for r, j := range index {
			rows[i] = append(rows[i], candidate{d2[r], j})
			rows[j] = append(rows[j], candidate{d2[r], int32(i)})
		}
	}
	A := &CSR{Rows: n, Cols: n, Ptr: make([]int, n+1)}
	for i, row := range rows {
		slices.SortFunc(row, candidate.compareIndex)
		for e, c := range row {
			if e > 0 && row[e-1].index == c.index {
				continue // neighbours of each other
			}
			A.Col, A.Val = append(A.Col, c.index), append(A.Val, math.Exp(-c.d2/(2*sigma2)))
		}
		A.Ptr[i+1] = len(A.Col)
	}
	return A
}

// fullGraph returns S = D^-1/2 A D^-1/2 for the graph that joins all columns of X.
func fullGraph(ctx context.Context, X *mat.Dense, sigma2 float64) (*mat.Dense, error) {
	dim, n := X.Dims()
	x := transposed(X)
	x2 := rowSquares(x)
	S := mat.NewDense(n, n, nil)
	s := S.RawMatrix().Data
	degree := make([]float64, n)
	for lo := 0; lo < n; lo += knnPanel {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+knnPanel, n)
		panel := x.Slice(lo, hi, 0, dim).(*mat.Dense).RawMatrix()
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, panel, x.RawMatrix(), 0,
			blas64.General{Rows: hi - lo, Cols: n, Stride: n, Data: s[lo*n:]})
		linalg.Parallel(hi-lo, 4, func(a, b int) {
			for i := lo + a; i < lo+b; i++ {
				row := s[i*n : (i+1)*n]
				for j, g := range row {
					row[j] = math.Exp(-max(x2[i]+x2[j]-2*g, 0) / (2 * sigma2))
				}
				row[i] = 0
				for _, v := range row {
					degree[i] += v
				}
			}
		})
	}
	roots := degreeRoots(degree)
	linalg.Parallel(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, r := range roots {
				s[i*n+j] *= roots[i] * r
			}
		}
	})
	// S is symmetric up to rounding; conjugate gradients need exact symmetry.
	linalg.Mirror(S)
	return S, nil
}

// degreeRoots returns the elements of D^-1/2, 0 for samples without neighbours.
func degreeRoots(degree []float64) []float64 {
	out := make([]float64, len(degree))
	for i, d := range degree {
		if d > 0 {
			out[i] = 1 / math.Sqrt(d)
		}
	}
	return out
}

// subtractFrom sets dst = Y - dst.
func subtractFrom(Y, dst *mat.Dense) {
	d, y := dst.RawMatrix(), Y.RawMatrix()
	linalg.Parallel(d.Rows, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out, in := d.Data[i*d.Stride:i*d.Stride+d.Cols], y.Data[i*y.Stride:i*y.Stride+d.Cols]
			for c, v := range in {
				out[c] = v - out[c]
			}
		}
	})
}
