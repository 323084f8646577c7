package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The rows of a pursuit and its correlations are chains of fused multiply-adds, the same for every kernel.
func TestPursuit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		k, steps := drawSize(t, "k", 1, 8, 32, 64, 130), rapid.IntRange(1, 12).Draw(t, "steps")
		if k == 0 {
			k = 1
		}
		padded := roundUp(k, PursuitBlock)
		start, rows, a := randoms(r, k), [][]float64{}, make([]float64, padded)
		columns := make([][]float64, steps)
		for i := range columns {
			columns[i] = append(randoms(r, k), make([]float64, padded-k)...)
		}
		chosen, invs, zs := make([]int, steps), randoms(r, steps), randoms(r, steps)
		for i := range chosen {
			chosen[i] = r.IntN(k)
		}
		copy(a, start)
		largest := make([]int, steps+1)
		for s := range largest {
			for i, v := range a {
				if math.Abs(v) > math.Abs(a[largest[s]]) {
					largest[s] = i
				}
			}
			if s == steps {
				break
			}
			row := slices.Clone(columns[s])
			for i := range row {
				for _, p := range rows {
					row[i] = math.FMA(-p[chosen[s]], p[i], row[i])
				}
				row[i] *= invs[s]
				a[i] = math.FMA(-zs[s], row[i], a[i])
			}
			rows = append(rows, row)
		}
		for _, kern := range kernels() {
			u := NewPursuit(k, steps)
			u.kern = kern
			u.Start(randoms(r, k)) // what was before does not matter
			u.Pursue(columns[0], 1, 1)
			u.Start(start)
			for s := range steps {
				if i, v := u.Largest(); i != largest[s] || v != u.a[i] {
					t.Fatalf("%s, step %d: the largest correlation is that of column %d, want %d", kern.name, s, i, largest[s])
				}
				for l, v := range u.Row(chosen[s]) {
					if !same(v, rows[l][chosen[s]]) {
						t.Fatalf("%s, step %d: element %d of the row is %x, want %x", kern.name, s, l, v, rows[l][chosen[s]])
					}
				}
				u.Pursue(columns[s], invs[s], zs[s])
			}
			if d := differ(u.a, a); d != "" {
				t.Fatalf("%s: %s", kern.name, d)
			}
			if i, _ := u.Largest(); i != largest[steps] {
				t.Fatalf("%s: the largest correlation at the end is that of column %d, want %d", kern.name, i, largest[steps])
			}
		}
	})
}
