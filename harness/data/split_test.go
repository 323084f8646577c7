package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"ssdl/harness/protocol"
)

// labelled makes a set with classes of the given sizes, in mixed order.
func labelled(sizes ...int) *Set {
	s := &Set{Name: "made", Hash: fmt.Sprintf("%064x", len(sizes))}
	for c, n := range sizes {
		s.Classes = append(s.Classes, fmt.Sprint(c))
		s.Labels = append(s.Labels, slices.Repeat([]int{c}, n)...)
	}
	protocol.Stream(1, "order").Shuffle(len(s.Labels), func(i, j int) { s.Labels[i], s.Labels[j] = s.Labels[j], s.Labels[i] })
	s.X = mat.NewDense(1, len(s.Labels), nil)
	return s
}

// perClass counts the samples idx of each class.
func perClass(s *Set, idx []int) []int {
	counts := make([]int, len(s.Classes))
	for _, j := range idx {
		counts[s.Labels[j]]++
	}
	return counts
}

func keeping(sp *Split) (idx []int) {
	for i, j := range sp.Train {
		if sp.Labelled[i] {
			idx = append(idx, j)
		}
	}
	return idx
}

// hundredths rounds p/100 of n half up in integers.
func hundredths(p, n int) int { return (2*p*n + 100) / 200 }

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(2, 60), 2, 8).Draw(t, "sizes")
		train := rapid.IntRange(1, 74).Draw(t, "train") // at most 74 %: of two samples one stays for testing
		rate := rapid.IntRange(1, 100).Draw(t, "rate")
		more := rapid.IntRange(rate, 100).Draw(t, "more")
		seed := rapid.Uint64().Draw(t, "seed")
		s := labelled(sizes...)
		make := func(labels int) *Split {
			sp, err := MakeSplit(s, SplitSpec{Kind: "class", Train: float64(train) / 100, Labels: float64(labels) / 100}, seed)
			if err != nil {
				t.Fatal(err)
			}
			return sp
		}
		sp := make(rate)
		if !slices.IsSorted(sp.Train) || !slices.IsSorted(sp.Test) {
			t.Fatal("indices do not ascend")
		}
		all := slices.Concat(sp.Train, sp.Test)
		slices.Sort(all)
		for j, k := range all {
			if j != k || len(all) != len(s.Labels) {
				t.Fatal("the parts do not cover the samples once each")
			}
		}
		kept := perClass(s, keeping(sp))
		for c, n := range perClass(s, sp.Train) {
			if want := max(1, hundredths(train, sizes[c])); n != want {
				t.Fatalf("class %d of %d: %d for training, want %d", c, sizes[c], n, want)
			}
			if want := max(1, hundredths(rate, n)); kept[c] != want {
				t.Fatalf("class %d with %d for training: %d labelled, want %d", c, n, kept[c], want)
			}
		}
		higher := make(more)
		if !slices.Equal(sp.Train, higher.Train) || !slices.Equal(sp.Test, higher.Test) {
			t.Fatal("the label rate moves the split")
		}
		for i, l := range sp.Labelled {
			if l && !higher.Labelled[i] {
				t.Fatal("a higher label rate takes a label away")
			}
		}
		if again := make(rate); again.Hash != sp.Hash {
			t.Fatal("the same seed gives another split")
		}
	})
}

// TestSplitPinned pins the bits of the protocol's split: a change here changes every run.
func TestSplitPinned(t *testing.T) {
	s := labelled(20, 30, 25)
	sp, err := MakeSplit(s, SplitSpec{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	const want = "1885bd7a2bbd600f38ba492f3a796b0823ec255e7da702eb860958bfcb069e85"
	if sp.Hash != want {
		t.Errorf("hash %s, want %s", sp.Hash, want)
	}
	if other, _ := MakeSplit(s, SplitSpec{}, 1001); other.Hash == sp.Hash {
		t.Error("seeds 1000 and 1001 give the same split")
	}
}

func TestOfficialSplit(t *testing.T) {
	s := labelled(10, 10)
	for j := range s.Labels {
		s.Official = append(s.Official, 1+j%2)
	}
	sp, err := MakeSplit(s, SplitSpec{Kind: "official"}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range sp.Train {
		if j != 2*i {
			t.Fatalf("training sample %d", j)
		}
	}
	if n := perClass(s, sp.Train); perClass(s, keeping(sp))[0] != hundredths(40, n[0]) {
		t.Errorf("labelled %v of %v", perClass(s, keeping(sp)), n)
	}
}

func TestSplitRefuses(t *testing.T) {
	s, dir := labelled(10, 10), t.TempDir()
	said := collectMessages(t, "split")
	for _, c := range []struct {
		name string
		spec SplitSpec
	}{
		{"unknown kind", SplitSpec{Kind: "random"}},
		{"no official split", SplitSpec{Kind: "official"}},
		{"all for training", SplitSpec{Train: 1}},
		{"training share NaN", SplitSpec{Train: math.NaN()}},
		{"label share above 1", SplitSpec{Labels: 1.1}},
		{"label share below 0", SplitSpec{Labels: -1}},
		{"nothing to test on", SplitSpec{Train: 0.99}},
		{"no index file", SplitSpec{Kind: "file", File: filepath.Join(dir, "none")}},
	} {
		_, err := MakeSplit(s, c.spec, 1)
		if err == nil {
			t.Errorf("%s: no error", c.name)
		}
		said.add(c.name, dir, err)
	}
}

func TestSplitFile(t *testing.T) {
	s := labelled(10, 12)
	sp, err := MakeSplit(s, SplitSpec{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := sp.Write(&buf, s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "split.json")
	if err := os.WriteFile(path, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := MakeSplit(s, SplitSpec{Kind: "file", File: path}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sp, got); d != "" {
		t.Error(d)
	}

	other := labelled(10, 12)
	other.Hash = strings.Repeat("f", 64)
	said := collectMessages(t, "splitfile")
	_, err = ReadSplit(path, other)
	if !errors.Is(err, ErrData) {
		t.Errorf("the split of another set: %v", err)
	}
	said.add("the split of another set", filepath.Dir(path), err)
	for _, c := range []struct {
		name string
		edit func(f *splitFile)
	}{
		{"other format", func(f *splitFile) { f.Format = "ssdl split 9" }},
		{"sample out of range", func(f *splitFile) { f.Test[0] = 99 }},
		{"negative sample", func(f *splitFile) { f.Train[0] = -1 }},
		{"sample twice", func(f *splitFile) { f.Train[1] = f.Train[0] }},
		{"sample in both", func(f *splitFile) { f.Test[0] = f.Train[0] }},
		{"samples out of order", func(f *splitFile) { slices.Reverse(f.Train) }},
		{"label on a test sample", func(f *splitFile) { f.Labelled[0] = f.Test[0] }},
		{"label taken away", func(f *splitFile) { f.Labelled = f.Labelled[1:] }},
		{"test sample taken away", func(f *splitFile) { f.Test = f.Test[1:] }},
		{"no labels", func(f *splitFile) { f.Labelled = nil }},
		{"no test", func(f *splitFile) { f.Test = nil }},
	} {
		var f splitFile
		if err := json.Unmarshal(buf.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		c.edit(&f)
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		_, err = decodeSplit("s.json", b, s)
		if !errors.Is(err, ErrData) {
			t.Errorf("%s: got %v", c.name, err)
		}
		said.add(c.name, "", err)
	}
	for _, c := range []struct{ name, text string }{
		{"empty", ""},
		{"two objects", buf.String() + "{}"},
		{"unknown field", `{"trains": [1, 2, 3]}`},
	} {
		_, err := decodeSplit("s.json", []byte(c.text), s)
		if !errors.Is(err, ErrData) {
			t.Errorf("%s: got %v", c.name, err)
		}
		said.add(c.name, "", err)
	}
}

func FuzzSplit(f *testing.F) {
	s := labelled(4, 5)
	sp, err := MakeSplit(s, SplitSpec{}, 1)
	if err != nil {
		f.Fatal(err)
	}
	var buf bytes.Buffer
	sp.Write(&buf, s)
	f.Add(buf.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeSplit("s.json", b, s)
		if err != nil {
			if !errors.Is(err, ErrData) {
				t.Errorf("error without ErrData: %v", err)
			}
			return
		}
		if len(got.Labelled) != len(got.Train) || got.Hash != got.hash() || len(got.Train)+len(got.Test) > len(s.Labels) {
			t.Errorf("read %+v", got)
		}
	})
}
