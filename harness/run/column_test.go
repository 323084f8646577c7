package run

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ssdl/harness/spec"
	"ssdl/harness/store"
)

func (b *bench) glance(t *testing.T, lib *Library) *Plan {
	t.Helper()
	p, err := Glance(t.Context(), lib, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// again is the library as a later process has it: it reads files anew.
func (b *bench) again() *Library { return &Library{Roots: b.runner.Library.Roots} }

// An index file that was replaced between the seeds that share it leaves no mean over both.
func TestMixedSplitFiles(t *testing.T) {
	b, path := fileBench(t, "  - method: crc\n  - method: src\n    params: {lambda: 2^-5}\n")
	whole := b.spec
	b.spec = mustSeeds(t, whole, 1000)
	first, _ := b.run(t)
	b.writeSplit(t, path, 7)
	b.runner.Library = b.again()
	b.spec = mustSeeds(t, whole, 1001)
	b.run(t)
	b.spec = mustSeeds(t, whole, 1000, 1001)
	p := b.glance(t, &Library{})
	for _, c := range p.Cells {
		if why := inconsistent(p, c); !strings.Contains(why, "differ in the split: ") || !strings.Contains(why, " with seed 1001") {
			t.Errorf("%s: %q", c.Row.ID, why)
		}
	}
	// What the remedy says: the first seed is made anew, and then counts where its file is at hand.
	second, sum := b.run(t)
	if sum.Ran != 2 {
		t.Fatalf("run again: %+v", sum)
	}
	b.spec = mustSeeds(t, whole, 1000)
	for _, x := range []struct {
		drawn uint64
		want  *Plan
	}{{7, second}, {1000, first}} {
		b.writeSplit(t, path, x.drawn)
		p := b.glance(t, b.again())
		for i, c := range p.Cells {
			if is, want := c.Final[0].Result.UID, x.want.Cells[i].Final[0].Result.UID; is != want || inconsistent(p, c) != "" {
				t.Errorf("with the file of seed %d at hand %s has run %s, want %s; %q", x.drawn, c.Row.ID, is, want, inconsistent(p, c))
			}
		}
	}
}

func TestOneForAll(t *testing.T) {
	for _, x := range []struct {
		split spec.Split
		want  bool
	}{
		{spec.Split{Kind: "file", File: "a.json"}, true},
		{spec.Split{Kind: "file", File: "a-{seed}.json"}, false},
		{spec.Split{Kind: "official", Labels: 1}, true},
		{spec.Split{Kind: "official", Labels: 0.5}, false}, // which are labelled is drawn
		{spec.Split{Kind: "class", Train: 0.7, Labels: 1}, false},
	} {
		if got := oneForAll(x.split); got != x.want {
			t.Errorf("%+v: %v", x.split, got)
		}
	}
}

// A column holds the rows that were run on one set of data under a name, and no others.
func TestColumnsOfOneDataSet(t *testing.T) {
	b := newBench(t, threeRows)
	mine, theirs, whole := b.runner.Library, otherSet(t, "tiny"), b.spec
	b.spec = mustSelect(t, whole, "crc", "ssdl")
	b.run(t)
	b.runner.Library, b.spec = theirs, mustSelect(t, whole, "src")
	b.run(t)
	for _, x := range []struct {
		what  string
		rows  []string
		lib   *Library
		apart map[string]string // by row, what is said of it
		now   int               // results that are not of the data at hand
	}{
		{"nothing at hand", nil, &Library{}, map[string]string{"src": "data: most cells "}, 0},
		{
			"nothing at hand, one against one",
			[]string{"crc", "src"},
			&Library{},
			map[string]string{"crc": "data: tie", "src": "data: tie"},
			0,
		},
		{"the first at hand", nil, mine, map[string]string{"src": "data: local data "}, 3},
		{"the second at hand", nil, theirs, map[string]string{"crc": "data: local data ", "hl+ssdl": "data: local data "}, 18},
		{"the second at hand and no run of it", []string{"crc"}, theirs, map[string]string{"crc": "data: local data, unknown"}, 15},
		{"the first at hand and no others", []string{"crc"}, mine, nil, 0},
	} {
		b.spec = whole
		if x.rows != nil {
			b.spec = mustSelect(t, whole, x.rows...)
		}
		p := b.glance(t, x.lib)
		for _, c := range p.Cells {
			why, want := inconsistent(p, c), x.apart[c.Row.ID]
			if why == "" != (want == "") || !strings.Contains(why, want) {
				t.Errorf("%s: %s: %q", x.what, c.Row.ID, why)
			}
		}
		if n := p.Counts()[Changed]; n != x.now {
			t.Errorf("%s: %d results are not of the data at hand, want %d", x.what, n, x.now)
		}
	}
}

// Rows of the same seeds on different splits are no pairs.
func TestColumnsOfOneSplit(t *testing.T) {
	b, path := fileBench(t, "  - method: crc\n  - method: src\n    params: {lambda: 2^-5}\n  - method: nrc\n")
	whole := b.spec
	b.spec = mustSelect(t, whole, "crc", "nrc")
	b.run(t)
	b.writeSplit(t, path, 7)
	b.runner.Library, b.spec = b.again(), mustSelect(t, whole, "src")
	b.run(t)
	b.spec = whole
	for _, x := range []struct {
		what, want string
		drawn      uint64
		lib        func() *Library
	}{
		{"nothing at hand", "src", 7, func() *Library { return &Library{} }},
		{"the first split at hand", "src", 1000, b.again},
		{"the second split at hand", "crc nrc", 7, b.again},
		{"a third split at hand", "crc src nrc", 8, b.again},
	} {
		b.writeSplit(t, path, x.drawn)
		p := b.glance(t, x.lib())
		var apart []string
		for _, c := range p.Cells {
			if why := inconsistent(p, c); strings.HasPrefix(why, "split: ") {
				apart = append(apart, c.Row.ID)
			} else if why != "" {
				t.Error(why)
			}
		}
		if got := strings.Join(apart, " "); got != x.want {
			t.Errorf("%s: %s are apart, want %s", x.what, got, x.want)
		}
	}
	b.spec = mustSelect(t, whole, "src") // alone, on another split than now
	p := b.glance(t, b.again())
	if why := inconsistent(p, p.Cells[0]); !strings.Contains(why, "split: local data, unknown") || p.Counts()[Changed] != 4 {
		t.Errorf("%q, %v", why, p.Counts())
	}
}

func TestMostOf(t *testing.T) {
	for want, n := range map[string]map[string]int{
		"":  {"a": 2, "b": 2, "c": 1},
		"c": {"a": 2, "b": 2, "c": 3},
		"a": {"a": 1},
	} {
		for range 8 { // whatever the order
			if got := mostOf(maps.Clone(n)); got != want {
				t.Errorf("%v: %q, want %q", n, got, want)
			}
		}
	}
}

// Of large files a report reads the headers alone, and says nothing that these do not tell.
func TestLacksByHeader(t *testing.T) {
	dir := t.TempDir()
	writeNPY(t, filepath.Join(dir, "big"), 600, 500)
	lib := &Library{Roots: []string{dir}}
	for _, x := range []struct {
		d    store.Dataset
		want bool
	}{
		{store.Dataset{Samples: 600, Dim: 500, Classes: 2}, false}, // perhaps
		{store.Dataset{Samples: 600, Dim: 499, Classes: 2}, true},
		{store.Dataset{Samples: 601, Dim: 500, Classes: 2}, true},
		{store.Dataset{Samples: 590, Dim: 500, Classes: 2}, false}, // ten zero samples may have been left out
	} {
		x.d.Hash = "recorded"
		h := &atHand{lib, []store.Dataset{x.d}, map[string]string{}}
		if got := h.lacks(t.Context(), "big", "recorded"); got != x.want {
			t.Errorf("%+v: %v", x.d, got)
		}
		if len(lib.sets) != 0 {
			t.Error("the features were read")
		}
		if h.lacks(t.Context(), "nowhere", "recorded") || h.lacks(t.Context(), "synth8", "recorded") {
			t.Error("what is not at hand is said to be other data")
		}
	}
	h := &atHand{lib, nil, map[string]string{}}
	if hash := h.hash(t.Context(), "big"); hash == "" || h.lacks(t.Context(), "big", hash) || !h.lacks(t.Context(), "big", "recorded") {
		t.Error("what was read is not held against the hash")
	}
}

// writeNPY writes a data set of two classes as a folder.
func writeNPY(t *testing.T, dir string, samples, dim int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, descr, shape string, values any) {
		t.Helper()
		var b bytes.Buffer
		head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
		head += strings.Repeat(" ", 117-len(head)) + "\n"
		b.WriteString("\x93NUMPY\x01\x00")
		if err := binary.Write(&b, binary.LittleEndian, uint16(len(head))); err != nil {
			t.Fatal(err)
		}
		b.WriteString(head)
		if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x, y := make([]float32, samples*dim), make([]int32, samples)
	for i := range x {
		x[i] = float32(1 + i%7)
	}
	for i := range y {
		y[i] = int32(i % 2)
	}
	write("features.npy", "<f4", fmt.Sprintf("%d, %d", samples, dim), x)
	write("labels.npy", "<i4", fmt.Sprintf("%d,", samples), y)
}
