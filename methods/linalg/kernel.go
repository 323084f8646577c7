package linalg

import "math"

// A kernel computes the tiles of a product and of a triangular solve. All kernels give
// the same bits: each element is one chain of fused multiply-adds (see implementation).
type kernel struct {
	name   string
	mr, nr int // rows and columns of a tile
}

// The largest mr and nr of a kernel.
const maxMR, maxNR = 8, 24

// portable runs on every machine, at the speed of math.FMA.
var portable = &kernel{name: "go-fma", mr: 4, nr: 4}

// productPortable is what the assembly of the other kernels does, for a 4 x 4 tile: c,
// of rows ldc elements apart, becomes alpha A B, or alpha A B + c if add, with A a packed
// 4 x kc panel (column by column) and B a packed kc x 4 panel (row by row).
func productPortable(kc int, a, b, c []float64, ldc int, alpha float64, add bool) {
	var t [16]float64
	// Two columns at a time: eight chains fit the registers of every machine.
	for j := 0; j < 4; j += 2 {
		var t00, t01, t10, t11, t20, t21, t30, t31 float64
		for l := range kc {
			av := a[4*l : 4*l+4 : 4*l+4]
			bv := b[4*l+j : 4*l+j+2 : 4*l+j+2]
			t00 = math.FMA(av[0], bv[0], t00)
			t01 = math.FMA(av[0], bv[1], t01)
			t10 = math.FMA(av[1], bv[0], t10)
			t11 = math.FMA(av[1], bv[1], t11)
			t20 = math.FMA(av[2], bv[0], t20)
			t21 = math.FMA(av[2], bv[1], t21)
			t30 = math.FMA(av[3], bv[0], t30)
			t31 = math.FMA(av[3], bv[1], t31)
		}
		t[j], t[j+1] = t00, t01
		t[4+j], t[4+j+1] = t10, t11
		t[8+j], t[8+j+1] = t20, t21
		t[12+j], t[12+j+1] = t30, t31
	}
	for i := range 4 {
		combine(c[i*ldc:i*ldc+4], t[4*i:4*i+4], alpha, add)
	}
}

// combine puts a row of sums of one k-block into a row of C, as the kernels do with
// whole tiles: c = alpha t, or c = fma(alpha, t, c) if add.
func combine(c, t []float64, alpha float64, add bool) {
	t = t[:len(c)]
	if !add {
		for j, v := range t {
			c[j] = alpha * v
		}
		return
	}
	for j, v := range t {
		c[j] = math.FMA(alpha, v, c[j])
	}
}

// solvePortable overwrites the packed n x 4 panel x by L^-1 x, L lower triangular, packed
// in n rows of n elements.
func solvePortable(n int, l, x []float64) {
	for i := range n {
		row := l[i*n : i*n+i+1]
		out := x[4*i : 4*i+4 : 4*i+4]
		t0, t1, t2, t3 := out[0], out[1], out[2], out[3]
		for k, v := range row[:i] {
			xk := x[4*k : 4*k+4 : 4*k+4]
			t0 = math.FMA(-v, xk[0], t0)
			t1 = math.FMA(-v, xk[1], t1)
			t2 = math.FMA(-v, xk[2], t2)
			t3 = math.FMA(-v, xk[3], t3)
		}
		d := row[i]
		out[0], out[1], out[2], out[3] = t0/d, t1/d, t2/d, t3/d
	}
}
