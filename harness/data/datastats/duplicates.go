package datastats

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
)

// Near is the cosine above which two samples count as near duplicates. With ResNet-50 features
// these are copies, crops and frames of one scene.
const Near = 0.985

// Duplicates counts equal and nearly equal samples.
type Duplicates struct {
	Cosine float64 `json:"cosine"` // Near
	// Equal counts the pairs with equal normalised features, Pairs those with a cosine above Cosine
	// (including equal ones), OtherClass the pairs among these with two labels.
	Equal      int64 `json:"equal_pairs"`
	Pairs      int64 `json:"near_pairs"`
	OtherClass int64 `json:"near_pairs_of_two_classes"`
	// Samples counts the samples in any pair, Groups the connected groups of pairs; Largest is the
	// size of the largest group.
	Samples int `json:"samples"`
	Groups  int `json:"groups"`
	Largest int `json:"largest_group"`
	// Splits counts the duplicates across training and test.
	Splits []Leak `json:"splits"`
	// Closest lists at most twenty pairs, the closest first.
	Closest []Pair `json:"closest"`
}

// Leak counts the near duplicates across the parts of a split.
type Leak struct {
	Split string `json:"split"`
	Pairs int64  `json:"pairs"` // one sample in training, the other in test
	Test  int    `json:"test_samples"`
	// Affected counts the test samples that have a near duplicate in training.
	Affected int `json:"test_samples_affected"`
}

// Pair is a pair of samples, A before B.
type Pair struct {
	A      int     `json:"a"`
	B      int     `json:"b"`
	Cosine float64 `json:"cosine"`
	FileA  string  `json:"file_a,omitempty"`
	FileB  string  `json:"file_b,omitempty"`
	ClassA string  `json:"class_a"`
	ClassB string  `json:"class_b"`
}

// split is a named split of the set.
type split struct {
	name string
	*data.Split
}

const (
	maxClosest = 20 // pairs in Closest
	// panelSize bounds the block of cosines in memory, in bytes.
	panelSize = 32 << 20
)

// duplicates computes the cosines of all pairs, one block of rows of X^T X after the other. It
// keeps counts only: memory does not grow with the number of pairs.
func duplicates(ctx context.Context, set *data.Set, splits []split) (Duplicates, error) {
	n, dim := set.Samples(), set.Dim()
	c := counter{set: set, parent: make([]int, n), Duplicates: Duplicates{Cosine: Near, Equal: equalPairs(set.X), Closest: []Pair{}}}
	for i := range c.parent {
		c.parent[i] = i
	}
	for _, s := range splits {
		p := parts{of: make([]part, n), affected: make([]bool, n)}
		for _, i := range s.Train {
			p.of[i] = inTraining
		}
		for _, i := range s.Test {
			p.of[i] = inTest
		}
		c.parts = append(c.parts, p)
		c.Splits = append(c.Splits, Leak{Split: s.name, Test: len(s.Test)})
	}
	block := max(16, min(256, panelSize/(8*n)))
	for lo := 0; lo < n; lo += block {
		if err := ctx.Err(); err != nil {
			return Duplicates{}, err
		}
		hi := min(lo+block, n)
		var panel mat.Dense
		panel.Mul(set.X.Slice(0, dim, lo, hi).T(), set.X.Slice(0, dim, lo, n))
		for a := lo; a < hi; a++ {
			for j, cosine := range panel.RawRowView(a - lo)[a+1-lo:] {
				if cosine > Near {
					c.add(a, a+1+j, clamp(cosine))
				}
			}
		}
	}
	c.finish()
	return c.Duplicates, nil
}

type part int8

const (
	neither part = iota
	inTraining
	inTest
)

type parts struct {
	of       []part
	affected []bool
}

// counter counts pairs, one at a time.
type counter struct {
	Duplicates
	set    *data.Set
	parts  []parts // over Splits
	parent []int   // union-find: a sample of the same group
}

func (c *counter) root(i int) int {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

func (c *counter) add(a, b int, cosine float64) {
	c.Pairs++
	if c.set.Labels[a] != c.set.Labels[b] {
		c.OtherClass++
	}
	if ra, rb := c.root(a), c.root(b); ra != rb {
		c.parent[max(ra, rb)] = min(ra, rb)
	}
	for i, p := range c.parts {
		if min(p.of[a], p.of[b]) != inTraining || max(p.of[a], p.of[b]) != inTest {
			continue
		}
		c.Splits[i].Pairs++
		test := a
		if p.of[b] == inTest {
			test = b
		}
		if !p.affected[test] {
			p.affected[test] = true
			c.Splits[i].Affected++
		}
	}
	c.Closest = append(c.Closest, Pair{A: a, B: b, Cosine: cosine})
	if len(c.Closest) == 8*maxClosest {
		c.cut()
	}
}

// cut keeps the closest pairs. On a tie it keeps the first.
func (c *counter) cut() {
	slices.SortFunc(c.Closest, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(q.Cosine, p.Cosine), cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
	})
	c.Closest = c.Closest[:min(maxClosest, len(c.Closest))]
}

func (c *counter) finish() {
	c.cut()
	for i := range c.Closest {
		p := &c.Closest[i]
		p.ClassA, p.ClassB = c.set.Classes[c.set.Labels[p.A]], c.set.Classes[c.set.Labels[p.B]]
		if c.set.Files != nil {
			p.FileA, p.FileB = c.set.Files[p.A], c.set.Files[p.B]
		}
	}
	sizes := make([]int, len(c.parent))
	for i := range c.parent {
		sizes[c.root(i)]++
	}
	for _, size := range sizes {
		if size > 1 {
			c.Groups++
			c.Samples += size
			c.Largest = max(c.Largest, size)
		}
	}
}

// equalPairs counts the pairs of columns of X (dim x N) that are equal bit by bit; -0 equals 0.
func equalPairs(X *mat.Dense) int64 {
	dim, n := X.Dims()
	sums, key := make([]uint64, n), maphash.MakeSeed()
	for i := range dim {
		for j, v := range X.RawRowView(i) {
			sums[j] = maphash.Comparable(key, [2]uint64{sums[j], math.Float64bits(v + 0)})
		}
	}
	same := map[uint64][]int{} // hash -> the first of each group of equal columns
	count := map[int]int64{}   // first column -> size of its group
	var pairs int64
	for j, h := range sums {
		k := slices.IndexFunc(same[h], func(i int) bool { return equalColumns(X, i, j) })
		if k < 0 {
			same[h] = append(same[h], j)
			count[j] = 1
			continue
		}
		pairs += count[same[h][k]]
		count[same[h][k]]++
	}
	return pairs
}

func equalColumns(X *mat.Dense, i, j int) bool {
	dim, _ := X.Dims()
	for r := range dim {
		if row := X.RawRowView(r); row[i] != row[j] {
			return false
		}
	}
	return true
}
