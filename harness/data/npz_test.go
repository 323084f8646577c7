package data

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"
)

type zipEntry struct {
	name   string
	body   []byte
	stored bool
	// claim, when it is not 0, is written as the unpacked size.
	claim uint64
	flags uint16
}

// zipFile writes a zip archive, possibly with a wrong directory.
func zipFile(t testing.TB, entries ...zipEntry) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range entries {
		packed := deflate(t, e.body)
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Flags: e.flags}
		if e.stored {
			packed, h.Method = e.body, zip.Store
		}
		h.CRC32 = crc32.ChecksumIEEE(e.body)
		h.CompressedSize64, h.UncompressedSize64 = uint64(len(packed)), uint64(len(e.body))
		if e.claim != 0 {
			h.UncompressedSize64 = e.claim
		}
		out, err := w.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(packed)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func deflate(t testing.TB, b []byte) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	out, err := w.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	w.Close()
	z, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := z.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func npzFile(t testing.TB, x, y []byte, stored bool) []byte {
	return zipFile(t, zipEntry{name: "X.npy", body: x, stored: stored}, zipEntry{name: "y.npy", body: y, stored: stored})
}

func parseNPZ(b []byte, headerOnly bool) (map[string]*array, error) {
	return readNPZ("x.npz", bytes.NewReader(b), int64(len(b)), []string{"X", "y"}, headerOnly)
}

func TestNPZRefuses(t *testing.T) {
	x, y := npyMatrix([][]float64{{1, 2}, {3, 4}}), npyVector(0, 1)
	good := npzFile(t, x, y, true)
	flipped := bytes.Clone(good)
	at := bytes.Index(flipped, x) + len(x) - 1
	flipped[at] ^= 1
	longer := npyFile(1, npyDict("<f8", false, "(100000, 100)"), nil)
	bomb := npyFile(1, npyDict("<f8", false, "(1000, 1000)"), make([]byte, 8e6))
	said := collectMessages(t, "npz")
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"cut", good[:len(good)-5]},
		{"a bit flipped", flipped},
		{"no y", zipFile(t, zipEntry{name: "X.npy", body: x}, zipEntry{name: "labels.npy", body: y})},
		{"two X", zipFile(t, zipEntry{name: "X.npy", body: x}, zipEntry{name: "X.npy", body: x}, zipEntry{name: "y.npy", body: y})},
		{"X is no array", npzFile(t, []byte("hello, world"), y, false)},
		{"X is cut", npzFile(t, x[:len(x)-8], y, false)},
		{"X claims to be longer", zipFile(t, zipEntry{name: "X.npy", body: longer, claim: uint64(len(longer)) + 8e7}, zipEntry{name: "y.npy", body: y})},
		{"X claims to be giant", zipFile(t, zipEntry{name: "X.npy", body: x, claim: 1 << 50}, zipEntry{name: "y.npy", body: y})},
		{"stored X claims another size", zipFile(t, zipEntry{name: "X.npy", body: x, stored: true, claim: 1}, zipEntry{name: "y.npy", body: y})},
		{"X unpacks to more than its header", zipFile(t, zipEntry{name: "X.npy", body: append(bytes.Clone(x), make([]byte, 1e6)...), claim: uint64(len(x))}, zipEntry{name: "y.npy", body: y})},
		{"X unpacks to less than its header", zipFile(t, zipEntry{name: "X.npy", body: bomb[:4e6], claim: uint64(len(bomb))}, zipEntry{name: "y.npy", body: y})},
		{"encrypted", zipFile(t, zipEntry{name: "X.npy", body: x, flags: 1}, zipEntry{name: "y.npy", body: y})},
	} {
		_, err := parseNPZ(c.file, false)
		if !errors.Is(err, ErrData) {
			t.Errorf("%s: got %v", c.name, err)
		}
		said.add(c.name, "", err)
	}
	for _, stored := range []bool{true, false} {
		arrays, err := parseNPZ(npzFile(t, x, y, stored), false)
		if err != nil {
			t.Fatal(err)
		}
		if labels, _ := arrays["y"].integers("", ""); len(labels) != 2 || labels[1] != 1 || binary.LittleEndian.Uint64(arrays["X"].data) == 0 {
			t.Errorf("read %v", arrays)
		}
	}
}

func FuzzNPZ(f *testing.F) {
	f.Add(npzFile(f, npyMatrix([][]float64{{1, 2}, {3, 4}}), npyVector(0, 1), false))
	f.Add(npzFile(f, npyMatrix([][]float64{{1}}), npyVector(0), true))
	f.Fuzz(func(t *testing.T, b []byte) {
		arrays, err := parseNPZ(b, false)
		if err != nil {
			checkRead(t, nil, err)
			return
		}
		checkRead(t, arrays["X"], nil)
		checkRead(t, arrays["y"], nil)
		if _, err := parseNPZ(b, true); err != nil {
			t.Errorf("headers alone: %v", err)
		}
	})
}
