//go:build !amd64

package linalg

// kernels returns the kernels that this machine can run, the fastest first.
func kernels() []*kernel { return []*kernel{portable} }

// product computes one full tile; see productPortable.
func (*kernel) product(kc int, a, b, c []float64, ldc int, alpha float64, add bool) {
	productPortable(kc, a, b, c, ldc, alpha, add)
}

// solve solves with one panel; see solvePortable.
func (*kernel) solve(n int, l, x []float64) { solvePortable(n, l, x) }

// sweep sweeps eight rows of one panel; see sweepPortable.
func (*kernel) sweep(lo, rows int, g, inv, s, r []float64, ldr int, alpha float64) {
	sweepPortable(lo, rows, g, inv, s, r, ldr, alpha)
}

func (*kernel) axpy(alpha float64, x, y []float64) { axpyPortable(alpha, x, y) }

func (*kernel) inner(x, y []float64, t *[lanes]float64) { innerPortable(x, y, t) }

func (*kernel) row(kc int, a, b []float64, ldb int, c []float64, alpha float64, add bool) {
	rowPortable(kc, a, b, ldb, c, alpha, add)
}

func (*kernel) pursue(m, t int, w, p, g, a, top []float64, inv, z float64) {
	pursuePortable(m, t, w, p, g, a, top, inv, z)
}
