package data

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

// tree writes files below a new folder and returns it.
func tree(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var (
	sample  = [][]float64{{3, 4}, {-1, 0}, {0.1, 0.2}, {5, 12}}
	classOf = []int{0, 1, 0, 1}
)

func sampleFolder(name string) map[string][]byte {
	return map[string][]byte{name + "/features.npy": npyMatrix(sample), name + "/labels.npy": npyVector(classOf...)}
}

// sampleMAT writes fea as samples x dim or as dim x samples.
func sampleMAT(upright bool) []byte {
	le := binary.LittleEndian
	byColumn, dims := []float64{3, -1, 0.1, 5, 4, 0, 0.2, 12}, []int32{4, 2}
	if !upright {
		byColumn, dims = []float64{3, 4, -1, 0, 0.1, 0.2, 5, 12}, []int32{2, 4}
	}
	return matFile(le, true, matVar{"fea", mxDOUBLE, dims, 9, doubles(le, byColumn...)},
		matVar{"gnd", mxDOUBLE, []int32{1, 4}, 2, []byte{1, 2, 1, 2}})
}

// TestFormatsAgree loads the same set from every kind of container.
func TestFormatsAgree(t *testing.T) {
	files := sampleFolder("folder")
	files["packed.npz"] = npzFile(t, npyMatrix(sample), npyVector(classOf...), false)
	files["upright.mat"], files["flat.mat"] = sampleMAT(true), sampleMAT(false)
	files["named.csv"] = []byte("x,y,class\n3,4,a\n-1,0,b\n0.1,0.2,a\n5,12,b\n")
	files["bare.csv"] = []byte("3,4,0\n-1,0,1\n0.1,0.2,0\n5,12,1\n")
	dir := tree(t, files)
	want := mat.NewDense(2, 4, []float64{0.6, -1, 0.1 / math.Sqrt(0.1*0.1+0.2*0.2), 5. / 13, 0.8, 0, 0.2 / math.Sqrt(0.1*0.1+0.2*0.2), 12. / 13})
	hash := ""
	for _, name := range []string{"folder", "packed", "upright", "flat", "named", "bare"} {
		path, ok := Find(name, []string{filepath.Join(dir, "none"), dir})
		if !ok {
			t.Fatalf("%s is not found", name)
		}
		s, err := Load(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(s.X, want, 1e-15) {
			t.Errorf("%s: X =\n%v", name, mat.Formatted(s.X))
		}
		if d := cmp.Diff(classOf, s.Labels); d != "" || len(s.Classes) != 2 || s.Name != name {
			t.Errorf("%s: labels %s classes %v name %s", name, d, s.Classes, s.Name)
		}
		if hash == "" {
			hash = s.Hash
		}
		if s.Hash != hash || len(hash) != 64 {
			t.Errorf("%s: hash %s, others have %s", name, s.Hash, hash)
		}
		info, err := Inspect(path)
		if err != nil || info.Samples != 4 || info.Dim != 2 || info.Name != name || info.DType != s.DType {
			t.Errorf("%s: Inspect = %+v, %v", name, info, err)
		}
	}
	list, err := List([]string{dir, filepath.Join(dir, "none")})
	if err != nil || len(list) != 6 || list[0].Name != "bare" || list[5].Name != "upright" {
		t.Errorf("List = %+v, %v", list, err)
	}
}

// TestHash changes one property of the data at a time.
func TestHash(t *testing.T) {
	load := func(rows [][]float64, labels ...int) string {
		t.Helper()
		dir := tree(t, map[string][]byte{"s.npz": npzFile(t, npyMatrix(rows), npyVector(labels...), true)})
		s, err := Load(t.Context(), filepath.Join(dir, "s.npz"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Hash
	}
	seen := map[string]string{}
	for name, h := range map[string]string{
		"base":             load([][]float64{{1, 2}, {3, 4}}, 0, 1),
		"a value":          load([][]float64{{1, 2}, {3, math.Nextafter(4, 5)}}, 0, 1),
		"the scale":        load([][]float64{{2, 4}, {6, 8}}, 0, 1),
		"the labels":       load([][]float64{{1, 2}, {3, 4}}, 1, 0),
		"the shape":        load([][]float64{{1}, {2}, {3}, {4}}, 0, 1, 0, 1),
		"the sample order": load([][]float64{{3, 4}, {1, 2}}, 0, 1),
	} {
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
	}
	// The definition, written out: tag, features, labels, samples, dim.
	b := []byte("ssdl data 1")
	for _, v := range []float64{1, 2, 3, 4} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	for _, v := range []uint64{0, 1, 2, 2} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(b)); seen[want] != "base" {
		t.Errorf("the base set does not have hash %s", want)
	}
}

func TestLoadRefuses(t *testing.T) {
	folder := func(features, labels []byte, meta string) map[string][]byte {
		f := map[string][]byte{"s/features.npy": features, "s/labels.npy": labels}
		if meta != "" {
			f["s/meta.json"] = []byte(meta)
		}
		return f
	}
	official := func(parts ...int) map[string][]byte {
		f := sampleFolder("s")
		f["s/official_split.npy"] = npyVector(parts...)
		return f
	}
	x, y := npyMatrix(sample), npyVector(classOf...)
	withValue := func(v float64) []byte { return npyMatrix([][]float64{{3, 4}, {-1, 0}, {0.1, v}, {5, 12}}) }
	zero := npyMatrix([][]float64{{3, 4}, {0, 0}, {1, 1}, {5, 12}})
	said := collectMessages(t, "load")
	for _, c := range []struct {
		name  string
		files map[string][]byte
	}{
		{"NaN", folder(withValue(math.NaN()), y, "")},
		{"infinity", folder(withValue(math.Inf(-1)), y, `{"files": ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]}`)},
		{"too large to square", folder(withValue(1e200), y, "")},
		{"zero sample", folder(zero, y, `{"files": ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]}`)},
		{"no samples", folder(npyFile(1, npyDict("<f8", false, "(0, 2)"), nil), npyVector(), "")},
		{"no features", folder(npyFile(1, npyDict("<f8", false, "(4, 0)"), nil), y, "")},
		{"label count", folder(x, npyVector(0, 1, 0), "")},
		{"one class", folder(x, npyVector(0, 0, 0, 0), "")},
		{"one class that is not 0", folder(x, npyVector(2, 2, 2, 2), "")},
		{"negative label", folder(x, npyVector(0, 1, -1, 1), "")},
		{"labels with a gap", folder(x, npyVector(0, 1, 3, 1), "")},
		{"labels from 1", folder(x, npyVector(1, 2, 1, 2), "")},
		{"huge label", folder(x, npyVector(0, 1, 1<<29, 1), "")},
		{"label that is not whole", folder(x, npyFile(1, npyDict("<f8", false, "(4,)"), doubles(binary.LittleEndian, 0, 1, 0.5, 1)), "")},
		{"labels are a matrix", folder(x, x, "")},
		{"more labels than classes", folder(x, npyVector(0, 1, 2, 1), `{"classes": ["a", "b"]}`)},
		{"class without samples", folder(x, y, `{"classes": ["a", "b", "c"]}`)},
		{"meta.json is no JSON", folder(x, y, `{"classes": `)},
		{"meta.json has a number for a name", folder(x, y, `{"name": 5}`)},
		{"meta.json counts otherwise", folder(x, y, `{"samples": 5}`)},
		{"meta.json has another dim", folder(x, y, `{"dim": 3}`)},
		{"meta.json names too few files", folder(x, y, `{"files": ["a.jpg"]}`)},
		{"features changed", folder(x, y, `{"sha256": {"features.npy": "00"}}`)},
		{"official split count", official(1, 2, 1)},
		{"official split code", official(1, 2, 1, 0)},
		{"gnd from 0", map[string][]byte{"s.mat": matFile(binary.LittleEndian, false,
			matVar{"fea", mxDOUBLE, []int32{2, 1}, 9, doubles(binary.LittleEndian, 1, 2)},
			matVar{"gnd", mxDOUBLE, []int32{2, 1}, 2, []byte{0, 1}})}},
		{"gnd of another length", map[string][]byte{"s.mat": matFile(binary.LittleEndian, false,
			matVar{"fea", mxDOUBLE, []int32{2, 1}, 9, doubles(binary.LittleEndian, 1, 2)},
			matVar{"gnd", mxDOUBLE, []int32{3, 1}, 2, []byte{1, 2, 1}})}},
		{"csv without lines", map[string][]byte{"s.csv": nil}},
		{"csv with a NaN", map[string][]byte{"s.csv": []byte("a,b,y\n1,2,0\n3,nan,1\n")}},
		{"npz in which y is short", map[string][]byte{"s.npz": npzFile(t, x, npyVector(0, 1), false)}},
	} {
		dir := tree(t, c.files)
		path, ok := Find("s", []string{dir})
		if !ok {
			t.Fatalf("%s: not found", c.name)
		}
		_, err := Load(t.Context(), path, Options{})
		if !errors.Is(err, ErrData) {
			t.Errorf("%s: got %v", c.name, err)
		}
		said.add(c.name, dir, err)
	}
}

// A file is found by name if and only if it loads by path.
func TestEndings(t *testing.T) {
	dir := tree(t, map[string][]byte{"up.CSV": []byte("1,0\n2,1\n"), "mixed.Csv": []byte("1,0\n2,1\n")})
	if path, ok := Find("up", []string{dir}); !ok || !strings.EqualFold(path, filepath.Join(dir, "up.CSV")) {
		t.Errorf("found %s", path)
	}
	if s, err := Load(t.Context(), filepath.Join(dir, "up.CSV"), Options{}); err != nil || s.Name != "up" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Load(t.Context(), filepath.Join(dir, "mixed.Csv"), Options{}); !errors.Is(err, ErrData) {
		t.Error(err)
	}
	if names, err := Names([]string{dir}); err != nil || !slices.Equal(names, []string{"up"}) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestLoadAbsent(t *testing.T) {
	dir := tree(t, map[string][]byte{"half/features.npy": npyMatrix(sample), "x.txt": nil})
	for _, name := range []string{"none", "half"} {
		if _, err := Load(t.Context(), filepath.Join(dir, name), Options{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want fs.ErrNotExist", name, err)
		}
	}
	if _, err := Load(t.Context(), filepath.Join(dir, "x.txt"), Options{}); !errors.Is(err, ErrData) {
		t.Errorf("x.txt: %v, want ErrData", err)
	}
	for _, name := range []string{"none", "", ".", "..", "../half", "x.txt", "half/"} {
		if path, ok := Find(name, []string{dir}); ok {
			t.Errorf("Find(%q) = %s", name, path)
		}
	}
	list, err := List([]string{dir})
	if err != nil || len(list) != 1 || list[0].Name != "half" || !errors.Is(list[0].Err, fs.ErrNotExist) {
		t.Errorf("List = %+v, %v", list, err)
	}
}

func TestDropZero(t *testing.T) {
	rows := [][]float64{{0, 0}, {3, 4}, {-1, 0}, {0, math.Copysign(0, -1)}, {0.1, 0.2}, {5, 12}}
	dir := tree(t, map[string][]byte{
		"zero/features.npy":       npyMatrix(rows),
		"zero/labels.npy":         npyVector(1, 0, 1, 0, 0, 1),
		"zero/official_split.npy": npyVector(1, 1, 2, 1, 2, 1),
		"zero/meta.json":          []byte(`{"files": ["a", "b", "c", "d", "e", "f"]}`),
		"without.npz":             npzFile(t, npyMatrix(sample), npyVector(classOf...), false),
		"gone.npz":                npzFile(t, npyMatrix([][]float64{{1}, {2}, {0}}), npyVector(0, 1, 2), false),
	})
	s, err := Load(t.Context(), filepath.Join(dir, "zero"), Options{DropZero: true})
	if err != nil {
		t.Fatal(err)
	}
	without, err := Load(t.Context(), filepath.Join(dir, "without.npz"), Options{DropZero: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Hash != without.Hash || !mat.Equal(s.X, without.X) || s.X.RawMatrix().Stride != 4 {
		t.Errorf("dropping zero samples differs from never having had them")
	}
	if d := cmp.Diff([]int{0, 3}, s.Dropped) + cmp.Diff(classOf, s.Labels) + cmp.Diff([]string{"b", "c", "e", "f"}, s.Files) + cmp.Diff([]int{1, 2, 2, 1}, s.Official); d != "" {
		t.Error(d)
	}
	want := Report{
		Name: "zero", Source: filepath.Join(dir, "zero", "features.npy"), DType: "float64", Hash: s.Hash, Samples: 6, Dim: 2,
		Classes: []string{"0", "1"}, Counts: []int{2, 2}, ZeroColumns: []int{0, 3}, OfficialTrain: 2, OfficialTest: 2,
	}
	if d := cmp.Diff(want, s.Report()); d != "" {
		t.Error(d)
	}
	if _, err := Load(t.Context(), filepath.Join(dir, "gone.npz"), Options{DropZero: true}); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "class 2 (2) has no samples after 1 zero") {
		t.Errorf("a class of zero samples only: %v", err)
	}
}

func TestLoadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(tree(t, sampleFolder("s")), "s")
	if _, err := Load(ctx, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// realSet loads a set from $SSDL_DATA, or skips the test.
func realSet(t *testing.T, name string) *Set {
	t.Helper()
	path, ok := Find(name, filepath.SplitList(os.Getenv("SSDL_DATA")))
	if !ok {
		t.Skipf("needs the data set %s below $SSDL_DATA", name)
	}
	start := time.Now()
	s, err := Load(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: loaded in %v", name, time.Since(start).Round(time.Millisecond))
	return s
}

func TestReal(t *testing.T) {
	for _, c := range []struct {
		name             string
		samples, classes int
		least, most      int
		hash             string
	}{
		{"stanford40", 9532, 40, 182, 296, "40c3a42f67d9d46807eb611edb26e5ff9254fd527a3502e7fa18b913b1985163"},
		{"sports8", 1600, 8, 200, 200, "a1860fbff0845b7793fe186037beeb2f209c4f5378be501a8ad7670887e9bc1d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := realSet(t, c.name)
			least, most := s.Samples(), 0
			for _, n := range s.Counts() {
				least, most = min(least, n), max(most, n)
			}
			if s.Samples() != c.samples || s.Dim() != 2048 || len(s.Classes) != c.classes || least != c.least || most != c.most {
				t.Errorf("%d x %d, %d classes of %d..%d", s.Samples(), s.Dim(), len(s.Classes), least, most)
			}
			if s.Hash != c.hash || s.DType != "float16" || len(s.Files) != c.samples {
				t.Errorf("hash %s, dtype %s, %d files", s.Hash, s.DType, len(s.Files))
			}
			for j := range s.Samples() {
				if l := mat.Norm(s.X.ColView(j), 2); math.Abs(l-1) > 1e-12 {
					t.Fatalf("column %d has norm %v", j, l)
				}
			}
			if r := s.Report(); c.name == "stanford40" && (r.OfficialTrain != 4000 || r.OfficialTest != 5532) {
				t.Errorf("official split %d/%d", r.OfficialTrain, r.OfficialTest)
			}
		})
	}
}
