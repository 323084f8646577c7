package data

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ssdl/harness/protocol"
)

// dataFolder writes a small set of two classes with the given meta.json.
func dataFolder(t *testing.T, meta string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"features.npy": npyFile(1, npyDict("<f4", false, "(4, 1)"), make16(0x3f80, 0x4000, 0x4040, 0x4080)),
		"labels.npy":   npyFile(1, npyDict("|i1", false, "(4,)"), []byte{0, 1, 0, 1}),
		"meta.json":    []byte(meta),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// make16 keeps the upper halves of float32 values.
func make16(upper ...uint16) []byte {
	var b []byte
	for _, u := range upper {
		b = append(b, 0, 0, byte(u), byte(u>>8))
	}
	return b
}

func wantRefusal(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
	if strings.ContainsAny(err.Error(), "\x1b\x00\u202e") {
		t.Errorf("the message has control characters: %q", err)
	}
}

// Names of classes and sources are printed: characters that move the cursor or change the writing
// direction are refused.
func TestControlCharactersInNames(t *testing.T) {
	if _, err := Load(t.Context(), dataFolder(t, `{"classes": ["é", "中 <b> =1"], "source": "made"}`), Options{}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"a\x1b[2J", "a\nb", "a\x00", "\u202eb", "\u009b31m"} {
		quoted, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Load(t.Context(), dataFolder(t, `{"classes": ["fine", `+string(quoted)+`]}`), Options{})
		wantRefusal(t, err, "name of class 1 has control characters")
		_, err = Load(t.Context(), dataFolder(t, `{"source": `+string(quoted)+`}`), Options{})
		wantRefusal(t, err, "meta.json", "source has control characters")
	}
	path := filepath.Join(t.TempDir(), "set.csv")
	if err := os.WriteFile(path, []byte("1,\x1b[2J\n2,b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), path, Options{})
	wantRefusal(t, err, "set.csv", "control characters")
}

// Files larger than any real one are refused before they are read.
func TestGiantTextFiles(t *testing.T) {
	dir := dataFolder(t, "{}")
	grow := func(path string, size int64) {
		t.Helper()
		if err := os.WriteFile(path, []byte("1,2\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil { // sparse: needs no space
			t.Skipf("no file of %d bytes can be made here: %v", size, err)
		}
	}
	grow(filepath.Join(dir, "meta.json"), 1<<40)
	_, err := Load(t.Context(), dir, Options{})
	wantRefusal(t, err, "meta.json", "at most 67108864")

	table := filepath.Join(dir, "x.csv")
	grow(table, maxCSV+1)
	_, err = Load(t.Context(), table, Options{})
	wantRefusal(t, err, "x.csv", "at most 4294967296")

	split := filepath.Join(dir, "split.json")
	grow(split, maxText+1)
	set, err := Load(t.Context(), dataFolder(t, "{}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadSplit(split, set)
	wantRefusal(t, err, "split.json", "at most 67108864")
}

// Only regular files are read: no folders, and no links to devices, which never end.
func TestDevices(t *testing.T) {
	for _, target := range []string{"/dev/zero", "/dev/full"} {
		if _, err := os.Stat(target); err != nil {
			t.Skipf("there is no %s here", target)
		}
		dir := dataFolder(t, "{}")
		for _, name := range []string{"meta.json", "features.npy", "labels.npy"} {
			path := filepath.Join(dir, name)
			kept, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			os.Remove(path)
			if err := os.Symlink(target, path); err != nil {
				t.Skipf("no links here: %v", err)
			}
			_, err = Load(t.Context(), dir, Options{})
			wantRefusal(t, err, name, "is a device")
			os.Remove(path)
			if err := os.WriteFile(path, kept, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"x.csv", "x.npz", "x.mat"} {
			path := filepath.Join(dir, name)
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			_, err := Load(t.Context(), path, Options{})
			wantRefusal(t, err, name, "is a device")
		}
	}
	if _, err := ReadSplit(t.TempDir(), &Set{}); err == nil {
		t.Error("a folder was read as an index file")
	}
}

// A name is not a path, on any system.
func TestNamesAreNoPaths(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"features.npy", "evil.csv", "in/set.csv"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte("1,0\n2,1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	roots := []string{filepath.Join(root, "in")}
	if _, ok := Find("set", roots); !ok {
		t.Fatal("the set in its folder was not found: nothing is tested")
	}
	for _, name := range []string{"../evil", "..", ".", "", "./set", "in/../set", "set/", filepath.Join(root, "evil"), "/set", "set\x00"} {
		if path, ok := Find(name, roots); ok {
			t.Errorf("%q leads to %s", name, path)
		}
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A header that claims more than the file holds is refused before anything is allocated.
func TestHeadersThatClaimTooMuch(t *testing.T) {
	for _, shape := range []string{"(536870912, 1)", "(1, 536870912)", "(536870912, 536870912)", "(-1, 4)", "(4611686018427387904, 4)"} {
		raw := npyFile(1, npyDict("<f8", false, shape), make([]byte, 32))
		var err error
		n := allocated(func() { _, err = readNPY("x.npy", bytes.NewReader(raw), int64(len(raw)), 0, false) })
		wantRefusal(t, err, "x.npy")
		if n > 1<<20 {
			t.Errorf("%d bytes were allocated for the shape %s", n, shape)
		}
	}
}

// A compressed array that grows more than any real one is refused before anything is allocated:
// here 16 MiB of zero bytes, 128 MiB as float64.
func TestCompressedZeros(t *testing.T) {
	const rows, cols = 1 << 14, 1 << 10
	zeros := make([]byte, rows*cols)
	npz := npzFile(t, npyFile(1, npyDict("|u1", false, "(16384, 1024)"), zeros), npyVector(0, 1), false)
	gnd := matVar{"gnd", mxDOUBLE, []int32{2, 1}, 2, []byte{1, 2}}
	mat := matFile(binary.LittleEndian, true, gnd, matVar{"fea", mxDOUBLE, []int32{rows, cols}, 2, zeros})
	for name, read := range map[string]func(headerOnly bool) error{
		"X.npy": func(headerOnly bool) error { _, err := parseNPZ(npz, headerOnly); return err },
		"(fea)": func(headerOnly bool) error { _, err := parseMAT(mat, headerOnly); return err },
	} {
		for _, headerOnly := range []bool{true, false} {
			var err error
			n := allocated(func() { err = read(headerOnly) })
			wantRefusal(t, err, name, "without compression")
			if n > 1<<20 {
				t.Errorf("%s: %d bytes were allocated", name, n)
			}
		}
	}
}

// The bound accepts all real features. Word counts with 99 % zeros compress best.
func TestCompressedCounts(t *testing.T) {
	const rows, cols = 5000, 1000
	r := protocol.Stream(1, "counts")
	values := make([]byte, 0, 8*rows*cols)
	for range rows * cols {
		count := 0.0
		if r.IntN(100) == 0 {
			count = float64(1 + r.IntN(3))
		}
		values = binary.LittleEndian.AppendUint64(values, math.Float64bits(count))
	}
	b := npzFile(t, npyFile(1, npyDict("<f8", false, "(5000, 1000)"), values), npyVector(0, 1), false)
	if _, err := parseNPZ(b, false); err != nil {
		t.Error(err)
	}
	t.Logf("%d bytes of float64 in %d compressed ones", len(values), len(b))
}

// A file without line ends is not read to its end: here 2 GiB of zeros in a sparse file.
func TestEndlessLine(t *testing.T) {
	for name, begin := range map[string]string{"zeros": "", "header": "a,b,y\n", "quoted": "\"1"} {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, []byte(begin), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 2<<30); err != nil {
			t.Skipf("no file of 2 GiB can be made here: %v", err)
		}
		var err error
		n := allocated(func() { _, err = Load(t.Context(), path, Options{}) })
		wantRefusal(t, err, "x.csv")
		if n > 40*maxLine {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// Lists are bounded: of JSON files, of the entries of an archive, of the variables of a
// MAT-file.
func TestEndlessLists(t *testing.T) {
	list := strings.Repeat("1,", maxEntries) + "1"
	_, err := Load(t.Context(), dataFolder(t, `{"files": [`+list+`]}`), Options{})
	wantRefusal(t, err, "meta.json", "more than 4194304 entries")
	split := filepath.Join(t.TempDir(), "split.json")
	if err := os.WriteFile(split, []byte(`{"train": [`+list+`]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ReadSplit(split, labelled(2, 2))
	wantRefusal(t, err, "split.json", "more than 4194304 entries")

	entries := []zipEntry{{name: "X.npy", body: npyMatrix(sample)}, {name: "y.npy", body: npyVector(classOf...)}}
	for range maxDirectory/1000 + 200 {
		entries = append(entries, zipEntry{name: strings.Repeat("x", 1000)})
	}
	_, err = parseNPZ(zipFile(t, entries...), false)
	wantRefusal(t, err, "x.npz", "directory has more than 1048576 bytes")

	vars := []matVar{{"fea", mxDOUBLE, []int32{2, 1}, 2, []byte{1, 2}}, {"gnd", mxDOUBLE, []int32{2, 1}, 2, []byte{1, 2}}}
	for range maxElements {
		vars = append(vars, matVar{"other", mxDOUBLE, []int32{1, 1}, 2, []byte{1}})
	}
	_, err = parseMAT(matFile(binary.LittleEndian, false, vars...), false)
	wantRefusal(t, err, "x.mat", "more than 10000 variables")
}

// Names too long for a table or a file name are refused.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", MaxName+1)
	for meta, want := range map[string]string{
		`{"classes": ["a", "` + long + `"]}`:                                   "the name of class 1 has 201 bytes, expected at most 200",
		`{"name": "` + long + `"}`:                                             "meta.json: name has 201 bytes, expected at most 200",
		`{"source": "` + strings.Repeat("s", maxSource+1) + `"}`:               "meta.json: source has 4097 bytes, expected at most 4096",
		`{"files": ["a", "b", "` + strings.Repeat("f", MaxPath+1) + `", "d"]}`: "meta.json: the file name of sample 2 has 4097 bytes, expected at most 4096",
	} {
		_, err := Load(t.Context(), dataFolder(t, meta), Options{})
		wantRefusal(t, err, want)
	}
	for _, name := range []string{long + ".csv", "x.csv"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("1,a\n2,"+long+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Load(t.Context(), path, Options{})
		if name == "x.csv" {
			wantRefusal(t, err, "x.csv: line 2 has a label of 201 bytes, expected at most 200")
		} else {
			wantRefusal(t, err, "the name has 201 bytes, expected at most 200")
		}
	}
	_, err := Load(t.Context(), filepath.Join(t.TempDir(), strings.Repeat("n", 5000)+".csv"), Options{})
	wantRefusal(t, err, "is too long for this system")
	if len(err.Error()) > 500 {
		t.Errorf("the message repeats the path: %v", err)
	}
}
