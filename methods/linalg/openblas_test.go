//go:build openblas

package linalg

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

func TestOpenBLASAgreesUpToRounding(t *testing.T) {
	if !strings.HasPrefix(BLAS(), "openblas (not bit-reproducible)") {
		t.Errorf("BLAS() is %q", BLAS())
	}
	theirs := blas64.Implementation()
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		m, n, k := r.IntN(80), r.IntN(80), r.IntN(80)
		tA, tB := transposes[r.IntN(3)], transposes[r.IntN(3)]
		ul := []blas.Uplo{blas.Upper, blas.Lower}[r.IntN(2)]
		a, b, c := shaped(r, tA, m, k), shaped(r, tB, k, n), newMatrix(r, m, n, 1)
		s, tri := newMatrix(r, m, m, 1), triangular(r, ul, blas.NonUnit, m)
		if m*n > 0 {
			c.data[0] = math.NaN() // beta = 0 overwrites it
		}
		run := func(l blas.Float64) []float64 {
			c, s := c.clone(), s.clone()
			l.Dgemm(tA, tB, m, n, k, 1.5, a.data, a.ld, b.data, b.ld, 0, c.data, c.ld)
			l.Dsyrk(ul, tA, m, k, -1, a.data, a.ld, 0.5, s.data, s.ld)
			l.Dtrsm(blas.Left, ul, tA, blas.NonUnit, m, n, 2, tri.data, tri.ld, c.data, c.ld)
			return append(c.data, s.data...)
		}
		want := run(active)
		for i, v := range run(theirs) {
			if !(math.Abs(v-want[i]) <= 1e-11*max(1, math.Abs(want[i]))) {
				t.Fatalf("m=%d n=%d k=%d: element %d is %g, want %g", m, n, k, i, v, want[i])
			}
		}
	}
}
