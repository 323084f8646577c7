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

// Near is the cosine above which two samples count as near duplicates. With ResNet-50
// features above it lie copies, crops and frames of one scene.
const Near = 0.985

// Duplicates tells which samples are there more than once.
type Duplicates struct {
	Cosine float64 `json:"cosine"` // Near
	// Equal counts the pairs of equal features, both normalised; Pairs those above Cosine,
	// the equal ones among them; OtherClass those of Pairs whose labels differ.
	Equal      int64 `json:"equal_pairs"`
	Pairs      int64 `json:"near_pairs"`
	OtherClass int64 `json:"near_pairs_of_two_classes"`
	// Samples are those that occur in a pair. Groups are what remains when each pair is
	// joined, Largest the size of the largest.
	Samples int `json:"samples"`
	Groups  int `json:"groups"`
	Largest int `json:"largest_group"`
	// Splits tells for splits how far training reaches into test.
	Splits []Leak `json:"splits"`
	// Closest lists the closest pairs, at most twenty, the closest first.
	Closest []Pair `json:"closest"`
}

// Leak counts the near duplicates across the two parts of a split.
type Leak struct {
	Split string `json:"split"`
	Pairs int64  `json:"pairs"` // one sample in training, the other in test
	Test  int    `json:"test_samples"`
	// Affected counts the test samples that have a near duplicate in training.
	Affected int `json:"test_samples_affected"`
}

// Pair are two samples, A before B.
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
	listed = 20 // pairs
	// panelSize bounds the cosines that are held at a time, in bytes.
	panelSize = 32 << 20
)

// duplicates computes the cosines of all pairs in panels, one row of blocks of X^T X after the
// other, and keeps counts: memory does not grow with the number of pairs.
func duplicates(ctx context.Context, set *data.Set, splits []split) (Duplicates, error) {
	n, dim := set.Samples(), set.Dim()
	t := tally{set: set, parent: make([]int, n), Duplicates: Duplicates{Cosine: Near, Equal: equalPairs(set.X), Closest: []Pair{}}}
	for i := range t.parent {
		t.parent[i] = i
	}
	for _, s := range splits {
		p := parts{of: make([]part, n), affected: make([]bool, n)}
		for _, i := range s.Train {
			p.of[i] = inTraining
		}
		for _, i := range s.Test {
			p.of[i] = inTest
		}
		t.parts = append(t.parts, p)
		t.Splits = append(t.Splits, Leak{Split: s.name, Test: len(s.Test)})
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
					t.add(a, a+1+j, clamp(cosine))
				}
			}
		}
	}
	t.finish()
	return t.Duplicates, nil
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

// tally counts pairs as they come.
type tally struct {
	Duplicates
	set    *data.Set
	parts  []parts // over Splits
	parent []int   // of the union of pairs
}

func (t *tally) root(i int) int {
	for t.parent[i] != i {
		t.parent[i] = t.parent[t.parent[i]]
		i = t.parent[i]
	}
	return i
}

func (t *tally) add(a, b int, cosine float64) {
	t.Pairs++
	if t.set.Labels[a] != t.set.Labels[b] {
		t.OtherClass++
	}
	if ra, rb := t.root(a), t.root(b); ra != rb {
		t.parent[max(ra, rb)] = min(ra, rb)
	}
	for i, p := range t.parts {
		if min(p.of[a], p.of[b]) != inTraining || max(p.of[a], p.of[b]) != inTest {
			continue
		}
		t.Splits[i].Pairs++
		test := a
		if p.of[b] == inTest {
			test = b
		}
		if !p.affected[test] {
			p.affected[test] = true
			t.Splits[i].Affected++
		}
	}
	t.Closest = append(t.Closest, Pair{A: a, B: b, Cosine: cosine})
	if len(t.Closest) == 8*listed {
		t.cut()
	}
}

// cut keeps the closest pairs; equally close ones by number.
func (t *tally) cut() {
	slices.SortFunc(t.Closest, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(q.Cosine, p.Cosine), cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
	})
	t.Closest = t.Closest[:min(listed, len(t.Closest))]
}

func (t *tally) finish() {
	t.cut()
	for i := range t.Closest {
		p := &t.Closest[i]
		p.ClassA, p.ClassB = t.set.Classes[t.set.Labels[p.A]], t.set.Classes[t.set.Labels[p.B]]
		if t.set.Files != nil {
			p.FileA, p.FileB = t.set.Files[p.A], t.set.Files[p.B]
		}
	}
	sizes := make([]int, len(t.parent))
	for i := range t.parent {
		sizes[t.root(i)]++
	}
	for _, size := range sizes {
		if size > 1 {
			t.Groups++
			t.Samples += size
			t.Largest = max(t.Largest, size)
		}
	}
}

// equalPairs counts the pairs of columns of X (dim x N) that are equal bit by bit, -0 as 0.
func equalPairs(X *mat.Dense) int64 {
	dim, n := X.Dims()
	sums, key := make([]uint64, n), maphash.MakeSeed()
	for i := range dim {
		for j, v := range X.RawRowView(i) {
			sums[j] = maphash.Comparable(key, [2]uint64{sums[j], math.Float64bits(v + 0)})
		}
	}
	same := map[uint64][]int{} // hash -> one column of each kind
	count := map[int]int64{}   // that column -> how many there are
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
