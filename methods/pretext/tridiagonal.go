package pretext

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods/linalg"
)

var errTridiagonal = errors.New("the QL iteration for the eigenvalues of a tridiagonal matrix did not converge")

// ritz returns the eigenvalues of the tridiagonal matrix, ascending, and the last entry of
// each unit eigenvector.
func ritz(diag, off []float64) (theta, bottom []float64, err error) {
	n := len(diag)
	if n == 0 {
		return nil, nil, nil
	}
	values, last := slices.Clone(diag), mat.NewDense(n, 1, nil)
	last.Set(n-1, 0, 1)
	if !tridiagonalEigen(values, off, last) {
		return nil, nil, errTridiagonal
	}
	for _, o := range ascending(values) {
		theta, bottom = append(theta, values[o]), append(bottom, last.At(o, 0))
	}
	return theta, bottom, nil
}

// ascending returns the order that sorts v.
func ascending(v []float64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	return order
}

// tridiagonalEigen replaces diag, the diagonal of a symmetric tridiagonal matrix with the
// off-diagonal off (one shorter, unchanged), by its eigenvalues in no order. It rotates the rows of
// carry, unless that is nil: the identity becomes the unit eigenvectors, its last column their last
// entries. It reports whether the implicit QL iteration converged.
func tridiagonalEigen(diag, off []float64, carry *mat.Dense) bool {
	n := len(diag)
	e := make([]float64, n)
	copy(e, off)
	norm := 0.0
	for i, d := range diag {
		norm = max(norm, math.Abs(d)+math.Abs(e[i]))
	}
	negligible := norm * 0x1p-53
	sweep := make([]rotation, 0, n)
	for l := range n {
		for tries := 0; ; tries++ {
			// l..m is the unreduced block of l.
			m := l
			for m < n-1 && math.Abs(e[m]) > negligible {
				m++
			}
			if m == l {
				break
			}
			if tries == 50 {
				return false
			}
			// Wilkinson's shift, from the leading 2 x 2 of the block.
			g := (diag[l+1] - diag[l]) / (2 * e[l])
			g = diag[m] - diag[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
			s, c, p := 1.0, 1.0, 0.0
			sweep = sweep[:0]
			i := m - 1
			for ; i >= l; i-- {
				f, b := s*e[i], c*e[i]
				r := math.Hypot(f, g)
				e[i+1] = r
				if r == 0 {
					break // the block splits here
				}
				s, c = f/r, g/r
				g = diag[i+1] - p
				r = float64((diag[i]-g)*s) + float64(2*c*b)
				p = s * r
				diag[i+1] = g + p
				g = float64(c*r) - b
				sweep = append(sweep, rotation{i, c, s})
			}
			if i >= l {
				diag[i+1] -= p
			} else {
				diag[l] -= p
				e[l] = g
			}
			e[m] = 0
			if carry != nil {
				rotate(carry, sweep)
			}
		}
	}
	return true
}

// rotation turns rows i and i+1 by the angle with cosine c and sine s.
type rotation struct {
	i    int
	c, s float64
}

// rotate applies a sweep to the rows of A, some columns at a time.
func rotate(A *mat.Dense, sweep []rotation) {
	raw := A.RawMatrix()
	linalg.Parallel(raw.Cols, 128, func(lo, hi int) {
		for _, r := range sweep {
			x := raw.Data[r.i*raw.Stride+lo : r.i*raw.Stride+hi]
			y := raw.Data[(r.i+1)*raw.Stride+lo:][:len(x)]
			for k, v := range x {
				w := y[k]
				y[k] = float64(r.s*v) + float64(r.c*w)
				x[k] = float64(r.c*v) - float64(r.s*w)
			}
		}
	})
}
