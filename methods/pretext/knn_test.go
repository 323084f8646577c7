package pretext

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
	"ssdl/methods"
)

// Whatever the samples, the search finds what sorting all distances finds: also with
// copies, with equal distances by the dozen and with zero columns.
func TestNeighboursAreThoseOfASort(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, dim := rapid.IntRange(1, 60).Draw(r, "n"), rapid.IntRange(1, 5).Draw(r, "dim")
		k := rapid.IntRange(1, 12).Draw(r, "k")
		levels := rapid.SampledFrom([]int{1, 2, 1000}).Draw(r, "levels") // few levels: ties
		X := mat.NewDense(dim, n, nil)
		for j := range n {
			for i := range dim {
				X.Set(i, j, float64(rapid.IntRange(0, levels).Draw(r, "x"))/float64(levels))
			}
		}
		nb, err := selfNeighbours(t.Context(), X, k, false)
		if err != nil {
			r.Fatal(err)
		}
		cross, err := crossNeighbours(t.Context(), X, X, k)
		if err != nil {
			r.Fatal(err)
		}
		if nb.K != min(k, n-1) || cross.K != min(k, n) || nb.samples() != n {
			r.Fatalf("%d and %d neighbours of %d samples, k = %d", nb.K, cross.K, n, k)
		}
		x := transposed(X)
		for i := range n {
			var all, others []candidate
			for j := range n {
				c := candidate{squaredDistance(x.RawRowView(i), x.RawRowView(j)), int32(j)}
				if all = append(all, c); j != i {
					others = append(others, c)
				}
			}
			slices.SortFunc(all, candidate.compare)
			slices.SortFunc(others, candidate.compare)
			index, d2 := nb.query(i)
			for r0, c := range others[:nb.K] {
				if index[r0] != c.index || d2[r0] != c.d2 {
					r.Fatalf("neighbour %d of sample %d is %d at %v, want %d at %v", r0, i, index[r0], d2[r0], c.index, c.d2)
				}
			}
			index, d2 = cross.query(i)
			for r0, c := range all[:cross.K] {
				if index[r0] != c.index || d2[r0] != c.d2 {
					r.Fatalf("sample %d as a query: neighbour %d is %d at %v, want %d at %v", i, r0, index[r0], d2[r0], c.index, c.d2)
				}
			}
		}
	})
}

// More samples than a panel of products holds.
func TestNeighboursAcrossPanels(t *testing.T) {
	p := clusters(3*knnPanel+17, 9, 4, 0.5, 20)
	nb, err := selfNeighbours(t.Context(), p.X, 7, true)
	if err != nil {
		t.Fatal(err)
	}
	x := transposed(p.X)
	n := len(p.Labels)
	for i := range n {
		var all []candidate
		for j := range n {
			if j != i {
				all = append(all, candidate{squaredDistance(x.RawRowView(i), x.RawRowView(j)), int32(j)})
			}
		}
		slices.SortFunc(all, candidate.compare)
		index, _ := nb.query(i)
		for r, c := range all[:7] {
			if index[r] != c.index {
				t.Fatalf("neighbour %d of sample %d is %d, want %d", r, i, index[r], c.index)
			}
		}
	}
}

func TestHypergraphOfCopies(t *testing.T) {
	p := clusters(6, 5, 2, 0.3, 21)
	X := methods.Columns(p.X, []int{0, 0, 0, 1, 2, 3, 4, 5})
	h := hypergraph(t, X, 2)
	for c := range 3 {
		members, weights := h.H.T().row(c)
		if !slices.Equal(members, []int32{0, 1, 2}) || !slices.Equal(weights, []float64{1, 1, 1}) {
			t.Errorf("hyperedge %d holds %v with weights %v, want the three copies with weight 1", c, members, weights)
		}
	}
}

// Theta has the null vector sqrt(d) of Delta_l, Psi its dual, and both lie between 0 and 1.
func TestHypergraphIdentities(t *testing.T) {
	p := clusters(70, 9, 3, 0.5, 22)
	for _, bandwidth := range []string{"unit", "mean", "knn"} {
		h, err := NewHypergraph(t.Context(), p.X, 6, bandwidth)
		if err != nil {
			t.Fatal(err)
		}
		theta, psi := full(h.Theta()), full(h.Psi)
		if distance(theta, theta.T()) != 0 || distance(psi, psi.T()) != 0 {
			t.Errorf("%s: Theta or Psi is not symmetric to the last bit", bandwidth)
		}
		for name, c := range map[string]struct {
			A *mat.Dense
			d []float64
		}{"Theta": {theta, h.Dv}, "Psi": {psi, h.De}} {
			root := mat.NewVecDense(len(c.d), inverseRoots(inverseSquares(c.d)))
			var out mat.VecDense
			out.MulVec(c.A, root)
			if d := distance(&out, root); d > 1e-13 {
				t.Errorf("%s: %s sqrt(d) differs from sqrt(d) by %.1e", bandwidth, name, d)
			}
			values := spectrum(t, c.A)
			if values[0] < -1e-13 || values[len(values)-1] > 1+1e-13 {
				t.Errorf("%s: eigenvalues of %s from %g to %g", bandwidth, name, values[0], values[len(values)-1])
			}
		}
		for c := range 70 {
			members, weights := h.H.T().row(c)
			if i := slices.Index(members, int32(c)); len(members) != 7 || i < 0 || weights[i] != 1 {
				t.Errorf("%s: hyperedge %d holds %v with weights %v", bandwidth, c, members, weights)
			}
		}
	}
}

// inverseSquares makes inverseRoots give the roots.
func inverseSquares(d []float64) []float64 {
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = 1 / v
	}
	return out
}
