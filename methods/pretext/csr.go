package pretext

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"ssdl/methods/linalg"
)

// CSR is a sparse matrix stored by rows: the entries of row i are Val[Ptr[i]:Ptr[i+1]]
// in the columns Col[Ptr[i]:Ptr[i+1]], which ascend. It does not change once built.
type CSR struct {
	Rows, Cols int
	Ptr        []int
	Col        []int32
	Val        []float64
}

// rowGrain is the number of rows of a task in a parallel loop. Each task sums over its rows, and these
// sums are added in order, so rowGrain is part of the result's bits.
const rowGrain = 128

// row returns the columns and values of row i.
func (a *CSR) row(i int) ([]int32, []float64) {
	return a.Col[a.Ptr[i]:a.Ptr[i+1]], a.Val[a.Ptr[i]:a.Ptr[i+1]]
}

// bytes returns the memory of a.
func (a *CSR) bytes() int64 { return int64(8*len(a.Ptr) + 12*len(a.Val)) }

// T returns the transpose: the same matrix stored by columns.
func (a *CSR) T() *CSR {
	t := &CSR{Rows: a.Cols, Cols: a.Rows, Ptr: make([]int, a.Cols+1), Col: make([]int32, len(a.Col)), Val: make([]float64, len(a.Val))}
	for _, j := range a.Col {
		t.Ptr[j+1]++
	}
	for j := range a.Cols {
		t.Ptr[j+1] += t.Ptr[j]
	}
	next := slices.Clone(t.Ptr)
	for i := range a.Rows {
		cols, vals := a.row(i)
		for e, j := range cols {
			t.Col[next[j]], t.Val[next[j]] = int32(i), vals[e]
			next[j]++
		}
	}
	return t
}

// rowSums returns A 1.
func (a *CSR) rowSums() []float64 {
	out := make([]float64, a.Rows)
	for i := range out {
		_, vals := a.row(i)
		for _, v := range vals {
			out[i] += v
		}
	}
	return out
}

// scaled returns diag(left) A diag(right).
func (a *CSR) scaled(left, right []float64) *CSR {
	out := &CSR{Rows: a.Rows, Cols: a.Cols, Ptr: a.Ptr, Col: a.Col, Val: make([]float64, len(a.Val))}
	for i := range a.Rows {
		for e := a.Ptr[i]; e < a.Ptr[i+1]; e++ {
			out.Val[e] = left[i] * a.Val[e] * right[a.Col[e]]
		}
	}
	return out
}

// mul computes dst = A Y for Y with a.Cols rows.
func (a *CSR) mul(dst, Y *mat.Dense) {
	d, y := dst.RawMatrix(), Y.RawMatrix()
	linalg.Parallel(a.Rows, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out := d.Data[i*d.Stride : i*d.Stride+d.Cols]
			clear(out)
			cols, vals := a.row(i)
			for e, j := range cols {
				axpy(out, vals[e], y.Data[int(j)*y.Stride:int(j)*y.Stride+y.Cols])
			}
		}
	})
}

// mulVec computes dst = A y.
func (a *CSR) mulVec(dst, y []float64) {
	linalg.Parallel(a.Rows, 8*rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			cols, vals := a.row(i)
			s := 0.0
			for e, j := range cols {
				s += float64(vals[e] * y[j])
			}
			dst[i] = s
		}
	})
}

// outer returns A A^T, given A and its transpose t. The sums run over the columns of A
// in ascending order, so the result is symmetric to the last bit.
func outer(a, t *CSR) *CSR {
	const grain = 8 * rowGrain
	type part struct {
		count []int
		col   []int32
		val   []float64
	}
	parts := make([]part, (a.Rows+grain-1)/grain)
	linalg.Parallel(a.Rows, grain, func(lo, hi int) {
		p := part{count: make([]int, 0, hi-lo)}
		sum, seen := make([]float64, a.Rows), make([]bool, a.Rows)
		var touched []int32
		for i := lo; i < hi; i++ {
			touched = touched[:0]
			cols, vals := a.row(i)
			for e, k := range cols {
				rows, others := t.row(int(k))
				for f, j := range rows {
					if !seen[j] {
						seen[j], sum[j] = true, 0
						touched = append(touched, j)
					}
					sum[j] += float64(vals[e] * others[f])
				}
			}
			slices.Sort(touched)
			for _, j := range touched {
				p.col, p.val = append(p.col, j), append(p.val, sum[j])
				seen[j] = false
			}
			p.count = append(p.count, len(touched))
		}
		parts[lo/grain] = p
	})
	out := &CSR{Rows: a.Rows, Cols: a.Rows, Ptr: make([]int, 1, a.Rows+1)}
	for _, p := range parts {
		for _, n := range p.count {
			out.Ptr = append(out.Ptr, out.Ptr[len(out.Ptr)-1]+n)
		}
		out.Col, out.Val = append(out.Col, p.col...), append(out.Val, p.val...)
	}
	return out
}

// axpy adds a x to dst.
func axpy(dst []float64, a float64, x []float64) {
	blas64.Axpy(a, blas64.Vector{N: len(dst), Inc: 1, Data: x}, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
}

// dot returns a.b.
func dot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(a), Inc: 1, Data: b})
}
