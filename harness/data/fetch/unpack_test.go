package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// member is a file of a test archive.
type member struct {
	name, content string
	mode          fs.FileMode
}

func makeZip(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		h.SetMode(m.mode | 0o644)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// makeRAR writes the members without compression, in version 4 of the format.
func makeRAR(members ...member) []byte {
	b := []byte("Rar!\x1a\x07\x00")
	block := func(kind byte, flags uint16, body []byte) {
		h := []byte{kind}
		h = binary.LittleEndian.AppendUint16(h, flags)
		h = binary.LittleEndian.AppendUint16(h, uint16(7+len(body)))
		h = append(h, body...)
		b = binary.LittleEndian.AppendUint16(b, uint16(crc32.ChecksumIEEE(h)))
		b = append(b, h...)
	}
	block(0x73, 0, make([]byte, 6))
	for _, m := range members {
		attributes, flags := uint32(0o100644), uint16(0x8000)
		if m.mode.IsDir() {
			attributes, flags = 0o040755, 0x80e0
		}
		if m.mode&fs.ModeSymlink != 0 {
			attributes = 0o120777
		}
		n := uint32(len(m.content))
		var h []byte
		h = binary.LittleEndian.AppendUint32(h, n) // packed
		h = binary.LittleEndian.AppendUint32(h, n) // unpacked
		h = append(h, 3)                           // made on Unix
		h = binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE([]byte(m.content)))
		h = binary.LittleEndian.AppendUint32(h, 0x58000000) // time
		h = append(h, 20, 0x30)                             // version 2.0, stored
		h = binary.LittleEndian.AppendUint16(h, uint16(len(m.name)))
		h = binary.LittleEndian.AppendUint32(h, attributes)
		block(0x74, flags, append(h, m.name...))
		b = append(b, m.content...)
	}
	block(0x7b, 0x4000, nil)
	return b
}

// unpackAll writes archives to files and unpacks them.
func unpackAll(t *testing.T, l limits, archives ...[]byte) (dir string, files int, size int64, err error) {
	t.Helper()
	base := t.TempDir()
	var paths []string
	for i, b := range archives {
		path := filepath.Join(base, string(rune('a'+i))+".archive")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	dir = filepath.Join(base, "images", "set")
	files, size, err = unpack(t.Context(), paths, dir, l)
	left, globErr := filepath.Glob(filepath.Join(base, "images", ".*"))
	if globErr != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return dir, files, size, err
}

func TestUnpack(t *testing.T) {
	images := []member{{"JPEGImages/", "", fs.ModeDir}, {"JPEGImages/a_001.jpg", "one", 0}, {"JPEGImages/b_001.jpg", "two", 0}, {"JPEGImages/Thumbs.db", "x", 0}}
	splits := []member{{"ImageSplits/a_train.txt", "a_001.jpg\n", 0}, {"__MACOSX/._a", "x", 0}}
	for name, archives := range map[string][][]byte{
		"zip":         {makeZip(t, images...), makeZip(t, splits...)},
		"rar":         {makeRAR(images...), makeRAR(splits...)},
		"one of each": {makeRAR(images...), makeZip(t, splits...)},
	} {
		dir, files, size, err := unpackAll(t, defaultLimits, archives...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if files != 3 || size != 16 {
			t.Errorf("%s: %d files of %d bytes", name, files, size)
		}
		if err := fstest.TestFS(os.DirFS(dir), "JPEGImages/a_001.jpg", "JPEGImages/b_001.jpg", "ImageSplits/a_train.txt"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "JPEGImages", "b_001.jpg")); string(b) != "two" {
			t.Errorf("%s: b_001.jpg holds %q: %v", name, b, err)
		}
		for _, gone := range []string{"JPEGImages/Thumbs.db", "__MACOSX"} {
			if _, err := os.Stat(filepath.Join(dir, gone)); err == nil {
				t.Errorf("%s: %s is there", name, gone)
			}
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	few := limits{files: 3, file: 1000, total: 1500}
	ok := member{"a/b.jpg", "x", 0}
	cases := []struct {
		name    string
		members []member
		want    string
	}{
		{"climbs out", []member{ok, {"../evil", "x", 0}}, "inside the folder"},
		{"climbs out in the middle", []member{ok, {"a/../../evil", "x", 0}}, "inside the folder"},
		{"absolute", []member{ok, {"/etc/evil", "x", 0}}, "inside the folder"},
		{"not plain", []member{ok, {"a/./c", "x", 0}}, "inside the folder"},
		{"drive", []member{ok, {"C:evil", "x", 0}}, "backslash or a colon"},
		{"control characters", []member{ok, {"a/\x1b[2Jc", "x", 0}}, "control characters"},
		{"too deep", []member{ok, {strings.Repeat("d/", 9) + "c", "x", 0}}, "10 elements, expected at most 8"},
		{"too long", []member{ok, {strings.Repeat("d", 600), "x", 0}}, "600 bytes, expected at most 512"},
		{"an element too long", []member{ok, {"a/" + strings.Repeat("d", 256), "x", 0}}, "an element of 256 bytes, expected at most 255"},
		{"link", []member{ok, {"a/link", "/etc/passwd", fs.ModeSymlink}}, "link or a device"},
		{"link to the outside and a file through it", []member{{"a", "../..", fs.ModeSymlink}, {"a/evil", "x", 0}}, "link or a device"},
		{"twice", []member{ok, ok}, "occurs twice"},
		{"twice but for case", []member{ok, {"A/B.JPG", "x", 0}}, "occurs twice"},
		{"too many files", []member{ok, {"1", "", 0}, {"2", "", 0}, {"3", "", 0}}, "more than 3 files"},
		{"too many folders", []member{ok, {"1/", "", fs.ModeDir}, {"2/", "", fs.ModeDir}, {"3/", "", fs.ModeDir}, {"4/", "", fs.ModeDir}}, "more than 3 folders"},
		{"large file", []member{ok, {"c", strings.Repeat("0", 1001), 0}}, "1001 bytes, expected at most 1000"},
		{"large files", []member{{"c", strings.Repeat("0", 900), 0}, {"d", strings.Repeat("0", 900), 0}}, "more than 1500 bytes"},
		{"empty", nil, "no files"},
		{"only leavings", []member{{"Thumbs.db", "x", 0}}, "no files"},
	}
	check := func(t *testing.T, archive []byte, want string) {
		t.Helper()
		dir, _, _, err := unpackAll(t, few, archive)
		if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("the folder is there")
		}
		if _, err := os.Stat(filepath.Join(dir, "..", "evil")); err == nil {
			t.Error("a file outside the folder was written")
		}
	}
	for _, c := range cases {
		t.Run("zip "+c.name, func(t *testing.T) {
			want := c.want
			if c.members == nil { // an empty zip file begins differently
				want = "neither a .zip nor a .rar"
			}
			check(t, makeZip(t, c.members...), want)
		})
		t.Run("rar "+c.name, func(t *testing.T) { check(t, makeRAR(c.members...), c.want) })
	}
	t.Run("zip backslash", func(t *testing.T) {
		check(t, makeZip(t, ok, member{`..\evil`, "x", 0}), "backslash or a colon")
	})
	t.Run("zip not UTF-8", func(t *testing.T) { check(t, makeZip(t, ok, member{"a/\xff", "x", 0}), "not UTF-8") })
	t.Run("file is a folder too", func(t *testing.T) {
		for _, b := range [][]byte{makeZip(t, member{"a", "x", 0}, ok), makeRAR(member{"a", "x", 0}, ok)} {
			if dir, _, _, err := unpackAll(t, few, b); err == nil {
				t.Errorf("unpacked to %s", dir)
			}
		}
	})
	t.Run("twice in two archives", func(t *testing.T) {
		_, _, _, err := unpackAll(t, few, makeZip(t, ok), makeRAR(ok))
		if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "occurs twice") {
			t.Errorf("got %v", err)
		}
	})
}

// edited replaces the first occurrence of old in an archive, or the last.
func edited(t *testing.T, b []byte, old, new string, last bool) []byte {
	t.Helper()
	at := bytes.Index(b, []byte(old))
	if last {
		at = bytes.LastIndex(b, []byte(old))
	}
	if at < 0 || len(old) != len(new) {
		t.Fatalf("%q is not in the archive", old)
	}
	out := slices.Clone(b)
	copy(out[at:], new)
	return out
}

// TestUnpackWrongHeaders has archives with wrong headers. Those that a bad transfer can cause are
// broken, the others are refused.
func TestUnpackWrongHeaders(t *testing.T) {
	le := func(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }
	big := strings.Repeat("0123456789", 1000)
	z := makeZip(t, member{"big", big, 0})
	r := makeRAR(member{"big", big, 0})
	for name, c := range map[string]struct {
		archive []byte
		want    string
		broken  bool
	}{
		"zip that is larger than its header says":  {edited(t, z, le(10_000), le(10), true), `"big"`, true},
		"zip that is smaller than its header says": {edited(t, z, le(10_000), le(900_000), true), `"big"`, true},
		"zip with a wrong checksum":                {edited(t, z, le(crc32.ChecksumIEEE([]byte(big))), le(1), true), "checksum", true},
		"zip that is encrypted":                    {edited(t, z, "PK\x01\x02\x14\x03\x14\x00\x08", "PK\x01\x02\x14\x03\x14\x00\x09", true), "encrypted", false},
		"zip that is cut":                          {z[:len(z)-10], "zip: not a valid zip file", true},
		"rar that is cut":                          {r[:len(r)-5000], `"big"`, true},
		"rar with a wrong checksum":                {edited(t, r, "0123456789", "0123456780", true), "checksum", true},
		"no archive":                               {[]byte("GIF89a"), "neither", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _, _, err := unpackAll(t, defaultLimits, c.archive)
			if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if broken := (*brokenError)(nil); errors.As(err, &broken) != c.broken {
				t.Errorf("%v is broken: %t, want %t", err, !c.broken, c.broken)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the folder is there")
			}
		})
	}
}

// At most one byte more than the header of an entry says is written to the disk.
func TestUnpackStopsAtTheSizeOfTheHeader(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := &unpacker{ctx: t.Context(), root: root, limits: defaultLimits, seen: map[string]bool{}}
	bomb := io.NopCloser(zeros{})
	err = u.extract(entry{"bomb", 0, 1 << 20}, func() (io.ReadCloser, error) { return bomb, nil })
	if !errors.Is(err, ErrSource) {
		t.Errorf("got %v", err)
	}
	if st, err := root.Stat("bomb"); err != nil || st.Size() != 1<<20+1 {
		t.Errorf("%v bytes were written: %v", st.Size(), err)
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A list of entries larger than any real one is not read to its end. Comments enlarge it here.
func TestUnpackBoundsTheList(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range maxDirectory/60_000 + 9 {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: strconv.Itoa(i), Comment: strings.Repeat("c", 60_000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := unpackAll(t, defaultLimits, b.Bytes()); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "directory has more than 33554432 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestUnpackStopsWhenAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, makeZip(t, member{"a", "x", 0}), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := unpack(ctx, []string{path}, path+".d", defaultLimits); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The decoders never panic and never write outside of the folder, whatever they read.
func FuzzUnpack(f *testing.F) {
	f.Add(makeRAR(member{"a/b", "text", 0}))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		base := t.TempDir()
		path := filepath.Join(base, "a")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := unpack(t.Context(), []string{path}, filepath.Join(base, "d", "set"), limits{files: 10, file: 1 << 16, total: 1 << 16})
		if names, _ := filepath.Glob(filepath.Join(base, "*")); len(names) != 2 {
			t.Errorf("the folder above has %v", names)
		}
		if err != nil {
			if names, _ := filepath.Glob(filepath.Join(base, "d", "*")); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
		}
	})
}

// TestFetch fetches and unpacks two archives, then finds nothing to do.
func TestFetch(t *testing.T) {
	s := serve(t, makeZip(t, member{"JPEGImages/a_001.jpg", "one", 0}))
	base := t.TempDir()
	downloads, dir := filepath.Join(base, "downloads"), filepath.Join(base, "set")
	got, err := quick().Fetch(t.Context(), []Archive{s.archive()}, downloads, dir)
	if err != nil || !got.Unpacked || got.Files != 1 || got.Bytes != 3 || len(got.Archives) != 1 {
		t.Fatalf("got %+v: %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "JPEGImages", "a_001.jpg")); err != nil {
		t.Error(err)
	}
	again, err := quick().Fetch(t.Context(), []Archive{s.archive()}, downloads, dir)
	if err != nil || again.Unpacked || len(s.ranges) != 1 {
		t.Errorf("the second call: %+v, requests %q: %v", again, s.ranges, err)
	}
}
