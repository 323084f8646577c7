package untrusted

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// sparse is a file of zeros that ends in tail.
type sparse struct {
	size int64
	tail []byte
}

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), s.size-off))
	clear(p[:n])
	begin := s.size - int64(len(s.tail))
	for i := range p[:n] {
		if at := off + int64(i) - begin; at >= 0 {
			p[i] = s.tail[at]
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// claim is a file of size bytes that ends like a zip file with so many entries.
func claim(size int64, entries uint64, comment string) sparse {
	le := binary.LittleEndian
	end64 := append([]byte(end64Signature), make([]byte, end64Length-4)...)
	le.PutUint64(end64[24:], entries)
	le.PutUint64(end64[32:], entries)
	locator := append([]byte(locatorSignature), make([]byte, locatorLength-4)...)
	le.PutUint64(locator[8:], uint64(size)-uint64(len(comment))-22-locatorLength-end64Length)
	le.PutUint32(locator[16:], 1)
	end := append([]byte(endSignature), bytes.Repeat([]byte{0xff}, 18)...)
	le.PutUint16(end[20:], uint16(len(comment)))
	clear(end[4:8])
	return sparse{size, bytes.Join([][]byte{end64, locator, end, []byte(comment)}, nil)}
}

// Package zip allocates for all claimed entries if the file is large enough to hold them. A sparse
// file is: here 2^34 pointers.
func TestZipClaims(t *testing.T) {
	for _, comment := range []string{"", "a comment", "PK\x05\x06 is no end", strings.Repeat("x", 60_000)} {
		f := claim(1<<40, 1<<34, comment)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Zip(f, f.size, 1<<20)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "claims 17179869184 entries") {
			t.Errorf("comment %.10q: got %v", comment, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%d bytes were allocated", n)
		}
	}
}

func TestZip(t *testing.T) {
	archive := func(entries, comment int) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := range entries {
			w, err := z.CreateHeader(&zip.FileHeader{Name: strconv.Itoa(i), Comment: strings.Repeat("c", comment)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, "content"); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, entries := range []int{0, 3, 70_000} { // the last with a zip64 record
		b := archive(entries, 0)
		z, err := Zip(bytes.NewReader(b), int64(len(b)), 8<<20)
		if err != nil || len(z.File) != entries {
			t.Errorf("%d entries: %v", entries, err)
		}
	}
	b := archive(100, 10_000)
	if _, err := Zip(bytes.NewReader(b), int64(len(b)), 512<<10); err == nil || !strings.Contains(err.Error(), "more than 524288 bytes") {
		t.Errorf("a large directory: %v", err)
	}
	z, err := Zip(bytes.NewReader(b), int64(len(b)), 2<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File { // reading entries is not limited
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if content, err := io.ReadAll(r); err != nil || string(content) != "content" {
			t.Fatalf("%s: %q, %v", f.Name, content, err)
		}
	}
	for _, b := range []string{"", "PK", "PK\x05\x06", strings.Repeat("PK\x05\x06", 9)} {
		if _, err := Zip(strings.NewReader(b), int64(len(b)), 1<<20); err == nil {
			t.Errorf("%q is read as a zip file", b)
		}
	}
}
