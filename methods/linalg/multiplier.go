package linalg

import "gonum.org/v1/gonum/mat"

// Multiplier is a square matrix A (n x n) that multiplies many thin ones. It is packed once, where
// Dgemm would pack it in every product: with a few dozen columns that takes longer than the product.
//
// The columns stand in panels of Width() columns: a panel is n rows of Width() numbers, row after row.
// Each element of a product is one chain of fused multiply-adds over the n terms in order, from +0. It
// has the same bits on every machine and in every company.
type Multiplier struct {
	kern   *kernel
	n      int
	packed []float64 // panels of mr rows of A, the last one padded with zeros
}

// NewMultiplier packs a copy of A.
func NewMultiplier(A *mat.Dense) *Multiplier { return newMultiplier(active.kern, A) }

func newMultiplier(kern *kernel, A *mat.Dense) *Multiplier {
	n, _ := A.Dims()
	m := &Multiplier{kern: kern, n: n, packed: make([]float64, roundUp(n, kern.mr)*n)}
	rows := rowsOf(A.RawMatrix().Data, A.RawMatrix().Stride, false)
	const grain = 8
	blocks := roundUp(n, kern.mr) / kern.mr
	Parallel(blocks, grain, func(lo, hi int) {
		rows.pack(m.packed, kern.mr, 0, n, lo*kern.mr, hi*kern.mr, 0, n)
	})
	return m
}

// Width returns the number of columns of a panel: 24, 12 or 4, as the machine is. Every one of them
// divides 24.
func (m *Multiplier) Width() int { return m.kern.nr }

// Mul sets the panels of dst to A times the panels of src, as many as src has. It runs in the caller's
// goroutine. dst and src do not overlap.
func (m *Multiplier) Mul(dst, src []float64) {
	mr, nr, n := m.kern.mr, m.kern.nr, m.n
	var tile [maxMR * maxNR]float64
	for lo := 0; lo < n; lo += mr {
		a := m.packed[lo*n:]
		rows := min(mr, n-lo)
		for p := 0; p < len(src); p += n * nr {
			if rows == mr {
				m.kern.product(n, a, src[p:], dst[p+lo*nr:], nr, 1, false)
				continue
			}
			m.kern.product(n, a, src[p:], tile[:], nr, 1, false)
			copy(dst[p+lo*nr:p+n*nr], tile[:rows*nr])
		}
	}
}
