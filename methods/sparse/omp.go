package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/linalg"
)

// OMP stops below ompStop: the squared correlation, or the squared distance of an atom from the span
// of the chosen ones (the value of Rubinstein's OMP-Box).
const ompStop = 1e-14

// OMP codes each of N samples with at most sparsity atoms by orthogonal matching
// pursuit, from G = D^T D (K x K, of unit or zero atoms) and R = D^T X (K x N); it
// returns S (K x N). An atom enters when its correlation with the residual is the
// largest in magnitude (the first one on ties) and the code is then the least-squares
// fit on the atoms entered. A code ends early when the largest squared correlation is
// below 1e-14, when its atom is in the code already, or when the atom lies in the span of
// the others to within 1e-14; so a zero sample has a zero code and a sparsity above K
// does no harm. A zero atom is never chosen.
//
// It is batch OMP with a progressive Cholesky factor L of G_II. It also keeps P = G_{:,I} L^-T, whose
// row at atom p is the row that L gets when p enters, and z = L^-1 R_I. Then
// D^T(x - D s) = R - P z, and an atom that enters subtracts one more column: a step costs one pass
// over the columns of P and no triangular solve. The code is L^-T z, computed at the end. A sample
// takes about K T^2 flops.
func OMP(ctx context.Context, G, R *mat.Dense, sparsity int) (*mat.Dense, error) {
	k, n := R.Dims()
	S := mat.NewDense(k, n, nil)
	sparsity = min(sparsity, k)
	if sparsity < 1 {
		return S, nil
	}
	g, r, s := G.RawMatrix(), R.RawMatrix(), S.RawMatrix()
	linalg.Parallel(n, 16, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		w := newPursuit(k, sparsity)
		for j := lo; j < hi; j++ {
			for i := range k {
				w.a[i] = r.Data[i*r.Stride+j]
			}
			for i, c := range w.code(g) {
				s.Data[w.atoms[i]*s.Stride+j] = c
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("omp: %w", err)
	}
	return S, nil
}

// pursuit is the working space of one goroutine.
type pursuit struct {
	a     []float64 // correlations of the residual with the K atoms
	p     []float64 // P^T, one row of K values per chosen atom
	l     []float64 // L, T x T, row-major
	w     []float64 // the next row of L
	z     []float64 // L^-1 R_I
	atoms []int     // I, in order of choice
}

func newPursuit(k, t int) *pursuit {
	return &pursuit{
		a: make([]float64, k), p: make([]float64, t*k), l: make([]float64, t*t),
		w: make([]float64, t), z: make([]float64, t), atoms: make([]int, 0, t),
	}
}

// code runs the pursuit of the sample whose correlations are in w.a and returns the
// coefficients of w.atoms.
func (w *pursuit) code(g blas64.General) []float64 {
	k, t := len(w.a), cap(w.atoms)
	w.atoms = w.atoms[:0]
	for len(w.atoms) < t {
		m := len(w.atoms)
		best := linalg.LargestMagnitude(w.a)
		if best < 0 || float64(w.a[best]*w.a[best]) < ompStop || w.chosen(best) {
			break
		}
		rest := 1.0
		for i := range m {
			v := w.p[i*k+best]
			w.w[i] = v
			rest = math.FMA(-v, v, rest)
		}
		if rest <= ompStop {
			break
		}
		diag := math.Sqrt(rest)
		copy(w.l[m*t:], w.w[:m])
		w.l[m*t+m] = diag

		row := w.p[m*k : (m+1)*k]
		copy(row, g.Data[best*g.Stride:best*g.Stride+k])
		if m > 0 {
			blas64.Gemv(blas.Trans, -1, blas64.General{Rows: m, Cols: k, Stride: k, Data: w.p},
				blas64.Vector{N: m, Inc: 1, Data: w.w}, 1, blas64.Vector{N: k, Inc: 1, Data: row})
		}
		column := blas64.Vector{N: k, Inc: 1, Data: row}
		blas64.Scal(1/diag, column)
		w.z[m] = w.a[best] / diag
		blas64.Axpy(-w.z[m], column, blas64.Vector{N: k, Inc: 1, Data: w.a})
		w.atoms = append(w.atoms, best)
	}
	return w.solve(len(w.atoms), t)
}

func (w *pursuit) chosen(p int) bool {
	for _, q := range w.atoms {
		if q == p {
			return true
		}
	}
	return false
}

// solve returns L^-T z in place of z.
func (w *pursuit) solve(m, t int) []float64 {
	for i := m - 1; i >= 0; i-- {
		v := w.z[i]
		for j := i + 1; j < m; j++ {
			v = math.FMA(-w.l[j*t+i], w.z[j], v)
		}
		w.z[i] = v / w.l[i*t+i]
	}
	return w.z[:m]
}
