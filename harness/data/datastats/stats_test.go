package datastats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"ssdl/harness/data"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// random makes a set of n normalised samples with dim features around class means. Sample i has
// class i mod classes.
func random(n, dim, classes int) *data.Set {
	r := rand.New(rand.NewPCG(3, 4))
	s := &data.Set{Name: "random", X: mat.NewDense(dim, n, nil), Source: "made up", DType: "float64"}
	for c := range classes {
		s.Classes = append(s.Classes, fmt.Sprintf("class %d", c))
	}
	for j := range n {
		s.Labels = append(s.Labels, j%classes)
		for i := range dim {
			v := r.NormFloat64()
			if i%classes == j%classes {
				v += 2
			}
			s.X.Set(i, j, v)
		}
	}
	linalg.NormalizeColumns(s.X)
	return s
}

// copyColumn sets sample to to sample from plus noise.
func copyColumn(s *data.Set, from, to int, noise float64) {
	for i := range s.Dim() {
		s.X.Set(i, to, s.X.At(i, from)+noise*float64(i%3-1))
	}
	if noise > 0 {
		norm := mat.Norm(s.X.ColView(to), 2)
		for i := range s.Dim() {
			s.X.Set(i, to, s.X.At(i, to)/norm)
		}
	}
}

// TestDuplicates compares the counts with a double loop, on a set larger than a panel.
func TestDuplicates(t *testing.T) {
	s := random(700, 24, 3)
	for _, c := range []struct {
		from, to int
		noise    float64
	}{{0, 3, 0}, {0, 699, 0}, {3, 400, 0.01}, {10, 11, 0}, {255, 256, 0.01}, {20, 21, 0.2}, {600, 601, 0.02}} {
		copyColumn(s, c.from, c.to, c.noise)
	}
	s.Files = make([]string, 700)
	for i := range s.Files {
		s.Files[i] = fmt.Sprintf("%03d.jpg", i)
	}
	sp, err := data.MakeSplit(s, data.SplitSpec{}, seed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := duplicates(t.Context(), s, []split{{"a split", sp}})
	if err != nil {
		t.Fatal(err)
	}
	want := Duplicates{Cosine: Near, Splits: []Leak{{Split: "a split", Test: len(sp.Test)}}}
	touched := map[int]bool{}
	neighbours := map[int][]int{}
	for a := range 700 {
		for b := a + 1; b < 700; b++ {
			cosine := mat.Dot(s.X.ColView(a), s.X.ColView(b))
			if mat.Equal(s.X.ColView(a), s.X.ColView(b)) {
				want.Equal++
			}
			if cosine <= Near {
				continue
			}
			want.Pairs++
			if a%3 != b%3 {
				want.OtherClass++
			}
			neighbours[a], neighbours[b] = append(neighbours[a], b), append(neighbours[b], a)
			if inTrain := slices.Contains(sp.Train, a); inTrain != slices.Contains(sp.Train, b) {
				want.Splits[0].Pairs++
				if touched[b] = true; !inTrain {
					delete(touched, b)
					touched[a] = true
				}
			}
			want.Closest = append(want.Closest, Pair{
				A: a, B: b, Cosine: cosine, ClassA: s.Classes[a%3], ClassB: s.Classes[b%3], FileA: s.Files[a], FileB: s.Files[b],
			})
		}
	}
	want.Splits[0].Affected = len(touched)
	want.Samples = len(neighbours)
	seen := map[int]bool{}
	for i := range 700 {
		if len(neighbours[i]) == 0 || seen[i] {
			continue
		}
		want.Groups++
		group := []int{i}
		seen[i] = true
		for k := 0; k < len(group); k++ {
			for _, j := range neighbours[group[k]] {
				if !seen[j] {
					seen[j] = true
					group = append(group, j)
				}
			}
		}
		want.Largest = max(want.Largest, len(group))
	}
	slices.SortStableFunc(want.Closest, func(p, q Pair) int {
		if math.Abs(p.Cosine-q.Cosine) < 1e-12 {
			return 0
		}
		return int(math.Copysign(1, q.Cosine-p.Cosine))
	})
	slices.SortStableFunc(got.Closest, func(p, q Pair) int { // order pairs that differ only by rounding
		if math.Abs(p.Cosine-q.Cosine) < 1e-12 {
			return (p.A-q.A)*1000 + p.B - q.B
		}
		return int(math.Copysign(1, q.Cosine-p.Cosine))
	})
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if d := cmp.Diff(want, got, near); d != "" {
		t.Error(d)
	}
	if want.Equal != 4 || want.Groups != 4 || want.Largest != 4 || want.OtherClass < 2 || want.Splits[0].Pairs == 0 {
		t.Errorf("the set lacks the pairs that this test needs: %+v", want)
	}
}

// A set of n equal samples has n(n-1)/2 pairs, and lists twenty.
func TestDuplicatesOfOneSample(t *testing.T) {
	const n = 300
	s := random(n, 5, 2)
	for j := 1; j < n; j++ {
		copyColumn(s, 0, j, 0)
	}
	d, err := duplicates(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Equal != n*(n-1)/2 || d.Pairs != d.Equal || d.OtherClass != n*n/4 || d.Samples != n || d.Groups != 1 || d.Largest != n || len(d.Closest) != maxClosest {
		t.Errorf("got %+v", d)
	}
	for _, p := range d.Closest {
		if p.Cosine > 1 {
			t.Errorf("a cosine of %v", p.Cosine)
		}
	}
}

func TestAccuracy(t *testing.T) {
	s := random(200, 12, 4)
	sp, err := data.MakeSplit(s, data.SplitSpec{}, seed)
	if err != nil {
		t.Fatal(err)
	}
	a, err := accuracy(t.Context(), s, sp)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, j := range sp.Test {
		best, class := math.Inf(-1), -1
		for i, k := range sp.Train {
			if c := mat.Dot(s.X.ColView(j), s.X.ColView(k)); sp.Labelled[i] && c > best {
				best, class = c, s.Labels[k]
			}
		}
		if class == s.Labels[j] {
			right++
		}
	}
	if want := float64(right) / float64(len(sp.Test)); a.NN != want || a.Train != 140 || a.Labelled != 56 || a.Test != 60 || a.Seed != 1000 {
		t.Errorf("%+v, want a nearest-neighbour accuracy of %v", a, want)
	}
	if a.Ridge < 0.5 { // the four classes are easy to separate
		t.Errorf("ridge regression reaches %v", a.Ridge)
	}
}

// Both systems of the ridge regression solve the normal equations.
func TestRidge(t *testing.T) {
	for _, n := range []int{6, 8, 30} {
		s := random(n, 8, 2)
		H := methods.OneHot(s.Labels, 2, 0)
		W, err := ridge(s.X, H)
		if err != nil {
			t.Fatal(err)
		}
		var A, left, right mat.Dense
		A.Mul(s.X, s.X.T())
		for i := range 8 {
			A.Set(i, i, A.At(i, i)+ridgeLambda)
		}
		left.Mul(&A, W)
		right.Mul(s.X, H.T())
		if !mat.EqualApprox(&left, &right, 1e-12) {
			t.Errorf("%d samples: the normal equations do not hold", n)
		}
	}
}

func TestLargestInColumns(t *testing.T) {
	got := largestInColumns(mat.NewDense(3, 3, []float64{1, -5, 2, 3, -4, 2, 2, -6, 1}))
	if want := []int{1, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestComponents(t *testing.T) {
	s := random(120, 20, 3)
	p, err := components(t.Context(), s.X)
	if err != nil {
		t.Fatal(err)
	}
	var pc stat.PC
	samples := mat.DenseCopyOf(s.X.T())
	if !pc.PrincipalComponents(samples, nil) {
		t.Fatal("no reference")
	}
	vars := pc.VarsTo(nil)
	total := 0.0
	for _, v := range vars {
		total += v
	}
	var V mat.Dense
	pc.VectorsTo(&V)
	for c := range 2 {
		if math.Abs(p.Share[c]-vars[c]/total) > 1e-9 {
			t.Errorf("component %d has %v of the variance, want %v", c, p.Share[c], vars[c]/total)
		}
		mean, sign := 0.0, 0.0
		var scores mat.VecDense
		scores.MulVec(samples, V.ColView(c))
		for i := range 120 {
			mean += scores.AtVec(i) / 120
		}
		for i := range 120 {
			want := scores.AtVec(i) - mean
			if sign == 0 {
				sign = math.Copysign(1, want*p.points[i][c])
			}
			if math.Abs(sign*p.points[i][c]-want) > 1e-4 {
				t.Fatalf("component %d of sample %d is %v, want %v up to its sign", c, i, p.points[i][c], want)
			}
		}
	}
}

// With one feature, one direction or no variance, the second component, or both, are 0.
func TestComponentsOfFlatSets(t *testing.T) {
	line := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 2, 4, 6, 8, 0, 0, 0, 0})
	for name, c := range map[string]struct {
		x    *mat.Dense
		want [2]float64
	}{
		"one feature":   {mat.NewDense(1, 4, []float64{1, -1, 1, -1}), [2]float64{1, 0}},
		"one direction": {line, [2]float64{1, 0}},
		"one point":     {mat.NewDense(2, 3, []float64{1, 1, 1, 2, 2, 2}), [2]float64{0, 0}},
	} {
		p, err := components(t.Context(), c.x)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			if math.Abs(p.Share[k]-c.want[k]) > 1e-12 {
				t.Errorf("%s: shares %v, want %v", name, p.Share, c.want)
			}
		}
		for _, pt := range p.points {
			if math.IsNaN(pt[0]) || math.IsNaN(pt[1]) {
				t.Errorf("%s: a point at %v", name, pt)
			}
		}
	}
}

func TestCompute(t *testing.T) {
	s := random(90, 6, 3)
	s.Official = make([]int, 90)
	for i := range s.Official {
		s.Official[i] = 1 + i%2
	}
	s.Dropped = []int{7, 12}
	for j := range 90 {
		s.X.Set(2, j, 0)
	}
	s.X.Set(0, 0, 0)
	r, err := Compute(t.Context(), s, []float64{3, 0, 1, 2, 0, 4})
	if err != nil {
		t.Fatal(err)
	}
	if r.ZeroFeatures != 1 || r.ZeroShare != 91.0/540 || len(r.ZeroSamples) != 2 || r.Least != 30 || r.Median != 30 || r.Most != 30 {
		t.Errorf("got %+v", r)
	}
	if want := (Norms{1, 1, 2.5, 3, 4}); *r.Norms != want {
		t.Errorf("norms %+v, want %+v", *r.Norms, want)
	}
	if len(r.Duplicates.Splits) != 2 || r.Duplicates.Splits[1].Split != "official split" || r.Duplicates.Splits[1].Test != 45 {
		t.Errorf("splits %+v", r.Duplicates.Splits)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"name", "hash", "samples", "dim", "classes", "class_size_median", "norms", "zero_share", "zero_samples", "zero_features", "duplicates", "accuracy", "pca"} {
		if back[key] == nil {
			t.Errorf("the JSON has no %s", key)
		}
	}
}

// A set that cannot be split has no accuracies.
func TestComputeWithoutSplit(t *testing.T) {
	s := random(3, 4, 3) // one sample per class leaves none for testing
	r, err := Compute(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Accuracy != nil || r.Norms != nil || !strings.Contains(r.NoAccuracy, "0 test samples") {
		t.Errorf("accuracy %v, because %q", r.Accuracy, r.NoAccuracy)
	}
	var b bytes.Buffer
	if err := r.Text(&b); err != nil || !strings.Contains(b.String(), "0 test samples") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

func TestComputeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compute(ctx, random(90, 6, 3), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Untrusted names neither move the cursor nor break a line.
func TestTextOfUntrustedNames(t *testing.T) {
	s := random(90, 6, 3)
	s.Name, s.Source = "a\x1b[2J", "b\nc"
	s.Classes[0] = "\x1b]0;title\x07polo\r"
	s.Files = make([]string, 90)
	s.Files[0], s.Files[1] = "\x1b[31mred.jpg", "x\ty.jpg"
	copyColumn(s, 0, 1, 0)
	r, err := Compute(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\x07\r\t") {
		t.Errorf("the text has control characters:\n%q", b.String())
	}
	for _, want := range []string{"90 samples x 6 features", "1 equal pairs; 1 pairs", "red.jpg", "polo", "b c"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
	var pic bytes.Buffer
	if err := r.Scatter(&pic, s); err != nil {
		t.Error(err)
	}
}

// The picture is deterministic and has a legend, with two classes and with hundreds.
func TestScatter(t *testing.T) {
	for _, c := range []struct{ classes, width int }{{2, 650}, {40, 840}, {120, 460}} {
		s := random(max(90, 3*c.classes), 6, c.classes)
		r, err := Compute(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		if err := errors.Join(r.Scatter(&a, s), r.Scatter(&b, s)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%d classes: two pictures of one set differ", c.classes)
		}
		img, err := png.Decode(&a)
		if err != nil {
			t.Fatal(err)
		}
		if w, want := img.Bounds().Dx(), 2*c.width; w != want {
			t.Errorf("%d classes: %d pixels wide, want %d", c.classes, w, want)
		}
	}
}

func TestSports8(t *testing.T) {
	root := os.Getenv("SSDL_DATA")
	path, ok := data.Find("sports8", []string{root})
	if root == "" || !ok {
		t.Skip("no sports8 in $SSDL_DATA")
	}
	s, err := data.Load(t.Context(), path, data.Options{DropZero: true})
	if err != nil {
		t.Fatal(err)
	}
	norms, err := data.Norms(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compute(t.Context(), s, norms)
	if err != nil {
		t.Fatal(err)
	}
	if r.Samples != 1600 || r.Dim != 2048 || r.Duplicates.Pairs != 1 || r.Norms.Min < 12 || r.Norms.Max > 48 {
		t.Errorf("got %+v", r)
	}
	if a := r.Accuracy; math.Abs(a.NN-0.904) > 0.001 || math.Abs(a.Ridge-0.938) > 0.001 {
		t.Errorf("accuracies %+v", a)
	}
}
