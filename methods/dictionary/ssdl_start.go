package dictionary

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// start returns D (dim x k) and B (C x k), see Init.
func (m SSDL) start(p methods.Problem, F *mat.Dense, k int) (D, B *mat.Dense) {
	dim, _ := p.X.Dims()
	if m.Init != "columns" {
		return gaussianAtoms(p, dim, k), mat.NewDense(p.Classes, k, nil)
	}
	drawn := drawColumns(p, k)
	D, B = mat.NewDense(dim, k, nil), mat.NewDense(p.Classes, k, nil)
	if rest := k - len(drawn); rest > 0 {
		D.Slice(0, dim, len(drawn), k).(*mat.Dense).Copy(gaussianAtoms(p, dim, rest))
	}
	if len(drawn) == 0 {
		return D, B
	}
	D.Slice(0, dim, 0, len(drawn)).(*mat.Dense).Copy(methods.Columns(p.X, drawn))
	targets := methods.Columns(F, drawn)
	scales := linalg.ColumnSquares(targets)
	for j, v := range scales {
		scales[j] = 1
		if v > 1 || m.Norm == "sphere" && v > 0 {
			scales[j] = 1 / math.Sqrt(v)
		}
	}
	for c := range p.Classes {
		row := B.RawRowView(c)
		for j, s := range scales {
			row[j] = s * targets.At(c, j)
		}
	}
	return D, B
}

// drawColumns draws at most k nonzero columns of X at random. The draw does not depend on their
// order: a hash of its features ranks a column, and of equal columns only the first counts.
func drawColumns(p methods.Problem, k int) []int {
	type ranked struct {
		hash   uint64
		column int
	}
	dim, n := p.X.Dims()
	seed, seen := p.Rand.Uint64(), make(map[uint64]bool, n)
	squares := linalg.ColumnSquares(p.X)
	var all []ranked
	for j := range n {
		if squares[j] == 0 {
			continue
		}
		h := seed
		for i := range dim { // the mixing step of SplitMix64 for each feature
			h += math.Float64bits(p.X.At(i, j)) + 0x9e3779b97f4a7c15
			h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
			h = (h ^ h>>27) * 0x94d049bb133111eb
			h ^= h >> 31
		}
		if !seen[h] {
			seen[h] = true
			all = append(all, ranked{h, j})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.hash, b.hash) })
	columns := make([]int, min(k, len(all)))
	for i := range columns {
		columns[i] = all[i].column
	}
	return columns
}

// gaussianAtoms draws k columns of unit norm.
func gaussianAtoms(p methods.Problem, dim, k int) *mat.Dense {
	D := mat.NewDense(dim, k, nil)
	raw := D.RawMatrix().Data
	for i := range raw {
		raw[i] = linalg.Gaussian(p.Rand)
	}
	linalg.NormalizeColumns(D)
	return D
}
