package dictionary

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// deadAtom is the ||s_k||^2 up to which SSDL and LEDL do not change atom k: the objective does not
// depend on it, and Eq. 15 is 0/0.
const deadAtom = 1e-12

const (
	// atomBlock atoms share one product with the whole dictionary, leafAtoms atoms are updated one
	// by one.
	atomBlock, leafAtoms = 192, 16
)

// atomSweep minimises ||X - D S||^2 over one atom after the other, in the unit ball or on
// the unit sphere.
type atomSweep struct {
	sphere bool
	dead   float64   // atoms with ||s_k||^2 up to this do not change
	t      []float64 // workspace, atomBlock x the length of an atom
}

// run makes one cyclic pass over the rows d_k of D (K x m, an atom each), given V = S X^T (K x m)
// and A = S S^T (K x K):
//
//	v_k = (X - D S + d_k s_k) s_k^T = V_k - sum_{l != k} A_kl d_l,  c = A_kk = ||s_k||^2,
//	d_k <- v_k / max(c, ||v_k||)  in the ball,  v_k / ||v_k||  on the sphere,
//
// since f = c ||d_k - v_k/c||^2 + const. The atoms of a block share the product with D before the
// block; smaller products add the changes within the block.
func (w *atomSweep) run(D, V, A *mat.Dense) {
	k, m := D.Dims()
	d, v, a := D.RawMatrix(), V.RawMatrix(), A.RawMatrix()
	if need := min(k, atomBlock) * m; len(w.t) < need {
		w.t = make([]float64, need)
	}
	for lo := 0; lo < k; lo += atomBlock {
		hi := min(lo+atomBlock, k)
		t := blas64.General{Rows: hi - lo, Cols: m, Stride: m, Data: w.t[:(hi-lo)*m]}
		for i := range t.Rows {
			copy(t.Data[i*m:(i+1)*m], v.Data[(lo+i)*v.Stride:])
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, rows(a, lo, hi), d, 1, t)
		own := a // the part of A that belongs to the block
		own.Rows, own.Cols, own.Data = t.Rows, t.Rows, a.Data[lo*a.Stride+lo:]
		w.atoms(rows(d, lo, hi), t, own, 0, t.Rows)
	}
}

// atoms updates the atoms lo..hi of a block d, given the block's part of A and t = V - A D, which has
// the changes of the atoms before lo. It leaves the changes of lo..hi in t.
func (w *atomSweep) atoms(d, t, a blas64.General, lo, hi int) {
	if hi-lo > leafAtoms {
		mid := lo + (hi-lo)/2
		w.atoms(d, t, a, lo, mid)
		below := blas64.General{Rows: hi - mid, Cols: mid - lo, Stride: a.Stride, Data: a.Data[mid*a.Stride+lo:]}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, below, rows(t, lo, mid), 1, rows(t, mid, hi))
		w.atoms(d, t, a, mid, hi)
		return
	}
	for i := lo; i < hi; i++ {
		row := t.Data[i*t.Stride : i*t.Stride+t.Cols]
		weights := a.Data[i*a.Stride:]
		if i > lo {
			blas64.Gemv(blas.Trans, -1, rows(t, lo, i),
				blas64.Vector{N: i - lo, Inc: 1, Data: weights[lo:]}, 1, blas64.Vector{N: t.Cols, Inc: 1, Data: row})
		}
		w.update(d.Data[i*d.Stride:i*d.Stride+d.Cols], row, weights[i])
	}
}

// rows is the view of the rows lo..hi of A.
func rows(A blas64.General, lo, hi int) blas64.General {
	return blas64.General{Rows: hi - lo, Cols: A.Cols, Stride: A.Stride, Data: A.Data[lo*A.Stride:]}
}

// update replaces atom d, given row = v - c d, and leaves its change in row.
func (w *atomSweep) update(d, row []float64, c float64) {
	if c <= w.dead {
		clear(row)
		return
	}
	axpy(c, d, row)
	norm := math.Sqrt(dot(row, row))
	if !w.sphere {
		norm = max(norm, c)
	}
	if norm == 0 { // on the sphere, where all directions are equally good
		clear(row)
		return
	}
	inv := 1 / norm
	for i, v := range row {
		v *= inv
		row[i] = v - d[i]
		d[i] = v
	}
}
