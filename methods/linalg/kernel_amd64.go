package linalg

import "golang.org/x/sys/cpu"

//go:generate go run ../internal/asm linalg .

var (
	avx512 = &kernel{name: "go-avx512", mr: 8, nr: 24}
	avx2   = &kernel{name: "go-avx2", mr: 4, nr: 12}
)

// kernels returns the kernels that this machine can run, the fastest first.
func kernels() []*kernel {
	k := []*kernel{portable}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = append([]*kernel{avx2}, k...)
		if cpu.X86.HasAVX512F {
			k = append([]*kernel{avx512}, k...)
		}
	}
	return k
}

// product computes one full tile; see productPortable. The kernel has no function values: with
// direct calls the arguments stay on the stack.
func (k *kernel) product(kc int, a, b, c []float64, ldc int, alpha float64, add bool) {
	switch k {
	case avx512:
		productAVX512(kc, &a[0], &b[0], &c[0], ldc, alpha, add)
	case avx2:
		productAVX2(kc, &a[0], &b[0], &c[0], ldc, alpha, add)
	default:
		productPortable(kc, a, b, c, ldc, alpha, add)
	}
}

// solve solves with one panel; see solvePortable.
func (k *kernel) solve(n int, l, x []float64) {
	switch k {
	case avx512:
		solveAVX512(n, &l[0], &x[0])
	case avx2:
		solveAVX2(n, &l[0], &x[0])
	default:
		solvePortable(n, l, x)
	}
}

// sweep sweeps eight rows of one panel; see sweepPortable.
func (k *kernel) sweep(lo, rows int, g, inv, s, r []float64, ldr int, alpha float64) {
	switch k {
	case avx512:
		sweepAVX512(lo, rows, &g[0], &inv[0], &s[0], &r[0], ldr, alpha)
	case avx2:
		sweepAVX2(lo, rows, &g[0], &inv[0], &s[0], &r[0], ldr, alpha)
	default:
		sweepPortable(lo, rows, g, inv, s, r, ldr, alpha)
	}
}

// axpy adds alpha x to y, both of the same length.
func (k *kernel) axpy(alpha float64, x, y []float64) {
	if n := len(x) / vectorBlock * vectorBlock; n > 0 && k != portable {
		if k == avx512 {
			axpyAVX512(n, alpha, &x[0], &y[0])
		} else {
			axpyAVX2(n, alpha, &x[0], &y[0])
		}
		x, y = x[n:], y[n:]
	}
	axpyPortable(alpha, x, y)
}

// inner computes the sums of an inner product; t must be 0. See innerPortable.
func (k *kernel) inner(x, y []float64, t *[lanes]float64) {
	switch k {
	case avx512:
		innerAVX512(len(x), &x[0], &y[0], &t[0])
	case avx2:
		innerAVX2(len(x), &x[0], &y[0], &t[0])
	default:
		innerPortable(x, y, t)
	}
}

// row computes a part of a row of a product; see rowPortable.
func (k *kernel) row(kc int, a, b []float64, ldb int, c []float64, alpha float64, add bool) {
	if n := len(c) / vectorBlock * vectorBlock; n > 0 && k != portable {
		if k == avx512 {
			rowAVX512(n, kc, &a[0], &b[0], ldb, &c[0], alpha, add)
		} else {
			rowAVX2(n, kc, &a[0], &b[0], ldb, &c[0], alpha, add)
		}
		if n == len(c) {
			return
		}
		b, c = b[n:], c[n:]
	}
	rowPortable(kc, a, b, ldb, c, alpha, add)
}

// pursue computes one step of a pursuit; see pursuePortable.
func (k *kernel) pursue(m, t int, w, p, g, a, top []float64, inv, z float64) {
	blocks := len(a) / PursuitBlock
	switch k {
	case avx512:
		pursueAVX512(blocks, m, t, &w[0], &p[0], &g[0], &a[0], &top[0], inv, z)
	case avx2:
		pursueAVX2(blocks, m, t, &w[0], &p[0], &g[0], &a[0], &top[0], inv, z)
	default:
		pursuePortable(m, t, w, p, g, a, top, inv, z)
	}
}
