package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

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
// over the columns of P (linalg.Pursuit) and no triangular solve. The code is L^-T z, computed at the
// end. A sample takes about K T^2 flops.
func OMP(ctx context.Context, G, R *mat.Dense, sparsity int) (*mat.Dense, error) {
	k, n := R.Dims()
	S := mat.NewDense(k, n, nil)
	sparsity = min(sparsity, k)
	if sparsity < 1 {
		return S, nil
	}
	// The rows of G, with zeros up to whole blocks.
	g := mat.NewDense(k, (k+linalg.PursuitBlock-1)/linalg.PursuitBlock*linalg.PursuitBlock, nil)
	g.Slice(0, k, 0, k).(*mat.Dense).Copy(G)
	s := S.RawMatrix()
	linalg.Parallel(n, ompGrain, func(lo, hi int) {
		w := newPursuit(g, k, sparsity)
		correlations := mat.DenseCopyOf(R.Slice(0, k, lo, hi).T())
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			for i, c := range w.code(correlations.RawRowView(j - lo)) {
				s.Data[w.atoms[i]*s.Stride+j] = c
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("omp: %w", err)
	}
	return S, nil
}

// ompGrain samples are coded in one goroutine, one after the other.
const ompGrain = 16

// pursuit is the working space of one goroutine.
type pursuit struct {
	g     *mat.Dense // the rows of G, padded
	p     *linalg.Pursuit
	l     []float64 // L, T x T, row-major
	z     []float64 // L^-1 R_I
	atoms []int     // I, in order of choice
}

func newPursuit(g *mat.Dense, k, t int) *pursuit {
	return &pursuit{g: g, p: linalg.NewPursuit(k, t), l: make([]float64, t*t), z: make([]float64, t), atoms: make([]int, 0, t)}
}

// code runs the pursuit of the sample with the correlations a and returns the coefficients of w.atoms.
func (w *pursuit) code(a []float64) []float64 {
	t := cap(w.atoms)
	w.atoms = w.atoms[:0]
	w.p.Start(a)
	for len(w.atoms) < t {
		m := len(w.atoms)
		best, c := w.p.Largest()
		if !(float64(c*c) >= ompStop) || slices.Contains(w.atoms, best) {
			break
		}
		row := w.p.Row(best)
		rest := 1.0
		for _, v := range row {
			rest = math.FMA(-v, v, rest)
		}
		if rest <= ompStop {
			break
		}
		diag := math.Sqrt(rest)
		copy(w.l[m*t:], row)
		w.l[m*t+m] = diag
		w.z[m] = c / diag
		w.p.Pursue(w.g.RawRowView(best), 1/diag, w.z[m])
		w.atoms = append(w.atoms, best)
	}
	return w.solve(len(w.atoms), t)
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
