package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// panelsOf puts the columns of B in panels of width columns, the last one padded with zeros.
func panelsOf(B *mat.Dense, width int) []float64 {
	n, cols := B.Dims()
	out := make([]float64, roundUp(cols, width)*n)
	for i := range n {
		for j := range cols {
			out[j/width*width*n+i*width+j%width] = B.At(i, j)
		}
	}
	return out
}

// Every element is one chain of fused multiply-adds, whatever the kernel and the other columns are.
func TestMultiplierIsOneChain(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 5}, {8, 24}, {9, 25}, {40, 24}, {121, 60}, {403, 13}} {
		n, cols := size[0], size[1]
		r := rand.New(rand.NewPCG(uint64(n), uint64(cols)))
		A, B := gaussian(r, n, n), gaussian(r, n, cols)
		for _, kern := range kernels() {
			m := newMultiplier(kern, A)
			src := panelsOf(B, m.Width())
			dst := slices.Repeat([]float64{math.NaN()}, len(src))
			m.Mul(dst, src)
			for i := range n {
				for j := range cols {
					want := 0.0
					for l := range n {
						want = math.FMA(A.At(i, l), B.At(l, j), want)
					}
					if got := dst[j/kern.nr*kern.nr*n+i*kern.nr+j%kern.nr]; got != want {
						t.Fatalf("%s, n=%d: element (%d, %d) is %g, want %g", kern.name, n, i, j, got, want)
					}
				}
			}
		}
	}
}

// BenchmarkMultiplier is beside the product of the same flops, one of whose factors is packed each time.
func BenchmarkMultiplier(b *testing.B) {
	for _, n := range []int{552, 1334, 3336} {
		const cols = 48
		r := rand.New(rand.NewPCG(1, uint64(n)))
		A, B := gaussian(r, n, n), gaussian(r, n, cols)
		flops := 2 * float64(n) * float64(n) * cols
		for _, kern := range kernels() {
			b.Run(fmt.Sprintf("n=%d/%s", n, kern.name), func(b *testing.B) {
				m := newMultiplier(kern, A)
				src := panelsOf(B, m.Width())
				dst := make([]float64, len(src))
				for b.Loop() {
					m.Mul(dst, src)
				}
				report(b, flops)
			})
		}
		b.Run(fmt.Sprintf("n=%d/product", n), func(b *testing.B) {
			C := mat.NewDense(n, cols, nil)
			for b.Loop() {
				C.Mul(A, B)
			}
			report(b, flops)
		})
	}
}
