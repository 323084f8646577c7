package pretext

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
)

// Hypergraph has one hyperedge per sample: e_c holds the centre c and its k nearest
// neighbours, or all other samples if there are fewer, so |E| = |V| = N. All hyperedges have weight 1.
type Hypergraph struct {
	// K is the requested number of neighbours, Sigma2 the scale of the distances.
	K      int
	Sigma2 float64
	// H (N x N) has H(v, e_c) = exp(-d(v,c)^2/Sigma2) for v in e_c (Eq. 1), and H(c, e_c) = 1.
	H *CSR
	// Dv and De are the degrees of vertices and hyperedges, row and column sums of H.
	// Both are at least 1, because every sample is a centre.
	Dv, De []float64
	// B = Dv^-1/2 H De^-1/2 and its transpose. Theta = B B^T, Delta_l = I - Theta (Eq. 4).
	B, BT *CSR
	// Psi = B^T B is the similarity of hyperedges: symmetric, its diagonal included.
	Psi *CSR
}

// NewHypergraph builds the hypergraph of the columns of X (dim x N). k is at least 1. The bandwidth is
// "unit" (sigma2 = 1, as printed), "mean" (the squared mean distance over all N x N pairs, as in
// THU-HyperG) or "knn" (the mean d^2 to the k neighbours). Equal distances are ordered by index. A
// zero column is at distance 1 from unit columns.
func NewHypergraph(ctx context.Context, X *mat.Dense, k int, bandwidth string) (*Hypergraph, error) {
	return buildHypergraph(ctx, methods.Problem{X: X}, k, bandwidth)
}

// sharedHypergraph is NewHypergraph of p.X, built once for all settings with the same k and bandwidth.
func sharedHypergraph(ctx context.Context, p methods.Problem, k int, bandwidth string) (*Hypergraph, error) {
	return methods.Shared(ctx, p, hypergraphKey(k, bandwidth), func() (*Hypergraph, int64, error) {
		h, err := buildHypergraph(ctx, p, k, bandwidth)
		if err != nil {
			return nil, 0, err
		}
		return h, h.H.bytes() + h.B.bytes() + h.BT.bytes() + h.Psi.bytes() + int64(16*len(h.Dv)), nil
	})
}

func buildHypergraph(ctx context.Context, p methods.Problem, k int, bandwidth string) (*Hypergraph, error) {
	nb, err := sharedNeighbours(ctx, p, k, bandwidth == "mean")
	if err != nil {
		return nil, err
	}
	h := &Hypergraph{K: k, Sigma2: 1}
	switch bandwidth {
	case "mean":
		if mean := nb.MeanDistance * nb.MeanDistance; mean > 0 { // else all samples are the same
			h.Sigma2 = mean
		}
	case "knn":
		h.Sigma2 = nb.meanD2()
	}
	HT := incidence(nb, h.Sigma2)
	h.H = HT.T()
	h.Dv, h.De = h.H.rowSums(), HT.rowSums()
	left, right := inverseRoots(h.Dv), inverseRoots(h.De)
	h.B = h.H.scaled(left, right)
	h.BT = h.B.T()
	h.Psi = outer(h.BT, h.B)
	return h, nil
}

// Theta returns B B^T (N x N), sparse and symmetric: the similarity of vertices.
func (h *Hypergraph) Theta() *CSR { return outer(h.B, h.BT) }

// sharedNeighbours finds the k nearest other samples of each column of p.X, once for all settings
// with the same k.
func sharedNeighbours(ctx context.Context, p methods.Problem, k int, meanDistance bool) (*neighbours, error) {
	return methods.Shared(ctx, p, neighboursKey(k, meanDistance), func() (*neighbours, int64, error) {
		nb, err := selfNeighbours(ctx, p.X, k, meanDistance)
		if err != nil {
			return nil, 0, err
		}
		return nb, int64(12 * len(nb.D2)), nil
	})
}

// incidence returns H^T: row c holds the centre with weight 1 and the neighbours of c
// with weights exp(-d^2/sigma2).
func incidence(nb *neighbours, sigma2 float64) *CSR {
	n := nb.samples()
	ht := &CSR{Rows: n, Cols: n, Ptr: make([]int, n+1), Col: make([]int32, 0, n*(nb.K+1)), Val: make([]float64, 0, n*(nb.K+1))}
	members := make([]candidate, 0, nb.K+1)
	for c := range n {
		members = append(members[:0], candidate{0, int32(c)})
		index, d2 := nb.query(c)
		for r, v := range index {
			members = append(members, candidate{d2[r], v})
		}
		slices.SortFunc(members, candidate.compareIndex)
		for _, v := range members {
			ht.Col, ht.Val = append(ht.Col, v.index), append(ht.Val, math.Exp(-v.d2/sigma2))
		}
		ht.Ptr[c+1] = len(ht.Col)
	}
	return ht
}

// inverseRoots returns the elements of d^-1/2.
func inverseRoots(d []float64) []float64 {
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = 1 / math.Sqrt(v)
	}
	return out
}
