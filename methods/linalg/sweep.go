package linalg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// sweepRows is the number of rows of S that a kernel updates at once.
	sweepRows = 8
	// sweepGroup samples share each pass over G; it is a multiple of every nr.
	sweepGroup = 48
)

// Sweep makes one cyclic pass of coordinate descent over the rows k = 1..K of S (K x N),
// the codes of N samples, in place:
//
//	S_kn <- soft(J_kn, alpha) / G_kk,   J_kn = R_kn - sum_{i != k} G_ki S_in,
//
// always with the newest values. G is K x K and symmetric, R is K x N, alpha >= 0; a
// row with G_kk = 0 becomes 0. It never raises 0.5 tr(S^T G S) - tr(R^T S) + alpha |S|_1.
//
// Samples form panels that fit the caches. For a block of eight rows, J starts as in the
// micro-kernel of a matrix product and is finished and shrunk in the same registers. The arithmetic
// of an element is fixed, as in a product: with k in a block of eight rows, and from t = R_kn,
//
//	t = fma(-G_ki, S_in, t)   for i before the block, after it, in it after k, in it before k
//	S_kn = (t - min(max(t, -alpha), alpha)) (1/G_kk)
//
// So the codes of a sample have the same bits on every machine and in every batch.
func Sweep(S, G, R *mat.Dense, alpha float64) { sweep(active.kern, S, G, R, alpha) }

func sweep(kern *kernel, S, G, R *mat.Dense, alpha float64) {
	k, n := S.Dims()
	s, g, r := S.RawMatrix(), G.RawMatrix(), R.RawMatrix()
	padded, nr := roundUp(k, sweepRows), kern.nr
	size := sweepRows * padded // of eight packed rows of G
	shared := takeBuffer(padded/sweepRows*size + padded)
	defer buffers.Put(shared)
	packed, inv := (*shared)[:padded/sweepRows*size], (*shared)[padded/sweepRows*size:][:padded]
	Parallel(padded/sweepRows, 8, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			dst := packed[b*size : (b+1)*size]
			rowsOf(g.Data, g.Stride, false).pack(dst, sweepRows, b*sweepRows, min(sweepRows, k-b*sweepRows), 0, sweepRows, 0, k)
			clear(dst[sweepRows*k:])
		}
	})
	clear(inv)
	for i := range k {
		if d := g.Data[i*g.Stride+i]; d > 0 {
			inv[i] = 1 / d
		}
	}
	Parallel(n, sweepGroup, func(first, end int) {
		// The codes of the panels of a group, then R of a block across the edge.
		count := (end - first + nr - 1) / nr
		own := takeBuffer((count*padded + sweepRows) * nr)
		defer buffers.Put(own)
		panels, edge := (*own)[:count*padded*nr], (*own)[count*padded*nr:][:sweepRows*nr]
		for i := range k {
			from := s.Data[i*s.Stride+first:][:end-first]
			for p := i * nr; len(from) > 0; p += padded * nr {
				from = from[copyTerm(panels[p:][:nr], from):]
			}
		}
		for p := range count {
			clear(panels[p*padded*nr:][k*nr : padded*nr])
		}
		for lo := 0; lo < k; lo += sweepRows {
			for p := range count {
				c := first + p*nr
				from, ldr := r.Data[lo*r.Stride+c:], r.Stride
				if rows, w := min(sweepRows, k-lo), min(nr, end-c); rows < sweepRows || w < nr {
					clear(edge)
					for i := range rows {
						copy(edge[i*nr:], from[i*ldr:][:w])
					}
					from, ldr = edge, nr
				}
				kern.sweep(lo, padded, packed[lo*padded:][:size], inv[lo:][:sweepRows], panels[p*padded*nr:], from, ldr, alpha)
			}
		}
		for i := range k {
			to := s.Data[i*s.Stride+first:][:end-first]
			for p := i * nr; len(to) > 0; p += padded * nr {
				to = to[copyTerm(to[:min(nr, len(to))], panels[p:][:nr]):]
			}
		}
	})
}

// sweepPortable is what the assembly of the other kernels does, for a panel of four samples:
// the rows lo .. lo+7 of s (k x 4, k a multiple of 8) are swept, with g the packed panel of
// these rows of G, inv the inverses of its diagonal, and r the first of the eight rows of R.
func sweepPortable(lo, k int, g, inv, s, r []float64, ldr int, alpha float64) {
	for i := range sweepRows {
		t := [4]float64(r[i*ldr:])
		subtract := func(from, to int) {
			t0, t1, t2, t3 := t[0], t[1], t[2], t[3]
			for q := from; q < to; q++ {
				v, row := -g[q*sweepRows+i], s[4*q:4*q+4:4*q+4]
				t0 = math.FMA(v, row[0], t0)
				t1 = math.FMA(v, row[1], t1)
				t2 = math.FMA(v, row[2], t2)
				t3 = math.FMA(v, row[3], t3)
			}
			t = [4]float64{t0, t1, t2, t3}
		}
		subtract(0, lo)
		subtract(lo+sweepRows, k)
		subtract(lo+i+1, lo+sweepRows)
		subtract(lo, lo+i)
		for c, v := range t {
			s[4*(lo+i)+c] = (v - min(max(v, -alpha), alpha)) * inv[i]
		}
	}
}
