package data

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// dataFolder writes a small set of two classes with meta.json as given.
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

// make16 makes float32 values of their upper halves.
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

// Names of classes and sources are printed: what would move the cursor or turn the line
// round is refused.
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

// Files that are larger than any real one are refused before they are read.
func TestGiantTextFiles(t *testing.T) {
	dir := dataFolder(t, "{}")
	grow := func(path string, size int64) {
		t.Helper()
		if err := os.WriteFile(path, []byte("1,2\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil { // a hole: it takes no room
			t.Skipf("no file of %d bytes can be made here: %v", size, err)
		}
	}
	grow(filepath.Join(dir, "meta.json"), 1<<40)
	_, err := Load(t.Context(), dir, Options{})
	wantRefusal(t, err, "meta.json", "more than 67108864 bytes")

	table := filepath.Join(dir, "x.csv")
	grow(table, maxCSV+1)
	_, err = Load(t.Context(), table, Options{})
	wantRefusal(t, err, "x.csv", "convert it to .npy")

	split := filepath.Join(dir, "split.json")
	grow(split, maxText+1)
	set, err := Load(t.Context(), dataFolder(t, "{}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadSplit(split, set)
	wantRefusal(t, err, "split.json", "more than")
}

// What never ends is not read: a link to a device, a folder.
func TestNoPlainFiles(t *testing.T) {
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
			wantRefusal(t, err, name)
			os.Remove(path)
			if err := os.WriteFile(path, kept, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := ReadSplit(t.TempDir(), &Set{}); err == nil {
		t.Error("a folder was read as an index file")
	}
}

// A name is no path, whatever system reads it.
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

// A header promises what the file cannot hold: it is refused before room is made for it.
func TestHeadersThatPromiseTooMuch(t *testing.T) {
	for _, shape := range []string{"(536870912, 1)", "(1, 536870912)", "(536870912, 536870912)", "(-1, 4)", "(4611686018427387904, 4)"} {
		raw := npyFile(1, npyDict("<f8", false, shape), make([]byte, 32))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readNPY("x.npy", bytes.NewReader(raw), int64(len(raw)), false)
		runtime.ReadMemStats(&after)
		wantRefusal(t, err, "x.npy")
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%d bytes were allocated for the shape %s", n, shape)
		}
	}
}
