package pretext

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The assembly gives the bits of the Go code, for every exponent and special differences.
func TestFlowBits(t *testing.T) {
	was512, was2 := hasAVX512, hasAVX2
	defer func() { hasAVX512, hasAVX2 = was512, was2 }()
	const n, edges = 60, 31
	r := rand.New(rand.NewPCG(41, 1))
	q, w := make([]float64, n*panel), make([]float64, edges)
	to := make([]int32, edges)
	for i := range q {
		q[i] = math.Ldexp(2*r.Float64()-1, -r.IntN(1100))
	}
	copy(q[panel:2*panel], q[:panel]) // a difference of 0
	q[5*panel], q[6*panel] = 1e-320, 1e300
	for e, j := range r.Perm(n - 1)[:edges] {
		to[e], w[e] = int32(j+1), r.Float64()
	}
	to[3] = 1
	if at := slices.Index(to, 1); at != 3 {
		to[at] = to[4] // twice the same vertex
	}
	for _, p := range []float64{1.1, 1.8, 2, 2.2, 3} {
		pow := newPower(p)
		want := make([]float64, n*panel)
		for i := range want {
			want[i] = r.Float64()
		}
		start := slices.Clone(want)
		pow.flowPortable(q, want, 0, to, w)
		if slices.Equal(want, start) {
			t.Fatal("nothing was added")
		}
		for _, c := range []struct {
			name        string
			wide, small bool
		}{{"AVX-512", true, true}, {"AVX2", false, true}, {"Go", false, false}} {
			if c.wide && !was512 || c.small && !was2 {
				t.Logf("this machine has no %s", c.name)
				continue
			}
			hasAVX512, hasAVX2 = c.wide, c.small
			got := slices.Clone(start)
			pow.flow(q, got, 0, to, w)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("%s, p = %g: element %d is %x, want %x", c.name, p, i, got[i], want[i])
				}
			}
		}
	}
}
