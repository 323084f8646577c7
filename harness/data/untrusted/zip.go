package untrusted

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// The records at the end of a zip file: signatures and lengths in bytes.
const (
	endSignature                    = "PK\x05\x06"
	locatorSignature, locatorLength = "PK\x06\x07", 20
	end64Signature, end64Length     = "PK\x06\x06", 56
	entryLength                     = 46      // at least, for an entry of the directory
	tailLength                      = 1 << 17 // readers search the records in this part only
)

// Zip lists the entries of a zip file of size bytes. It reads at most limit bytes of the directory,
// and refuses a claim of more entries than fit into them, for which package zip would allocate.
// Reads of the entries are not limited.
func Zip(r io.ReaderAt, size, limit int64) (*zip.Reader, error) {
	if err := checkClaim(r, size, limit/entryLength); err != nil {
		return nil, err
	}
	b := &budget{r: r, left: limit + tailLength, limit: limit}
	z, err := zip.NewReader(b, size)
	if err != nil {
		return nil, err
	}
	b.left = -1
	return z, nil
}

// checkClaim refuses a zip64 record that claims more than most entries. The plain record counts in
// 16 bits and needs no check.
func checkClaim(r io.ReaderAt, size, most int64) error {
	tail := make([]byte, min(size, tailLength))
	begin := size - int64(len(tail))
	if _, err := r.ReadAt(tail, begin); err != nil && err != io.EOF {
		return err
	}
	// A comment may imitate the end record: check every candidate.
	for at := 0; ; at++ {
		next := bytes.Index(tail[at:], []byte(endSignature))
		if next < 0 {
			return nil
		}
		at += next
		locator, record := make([]byte, locatorLength), make([]byte, end64Length)
		if _, err := r.ReadAt(locator, max(0, begin+int64(at)-locatorLength)); err != nil || string(locator[:4]) != locatorSignature {
			continue
		}
		place := binary.LittleEndian.Uint64(locator[8:])
		if place > uint64(size) {
			continue
		}
		if _, err := r.ReadAt(record, int64(place)); err != nil || string(record[:4]) != end64Signature {
			continue
		}
		if claim := binary.LittleEndian.Uint64(record[32:]); claim > uint64(most) {
			return fmt.Errorf("claims %d entries, expected at most %d", claim, most)
		}
	}
}

// budget fails once more than limit bytes of a directory were read.
type budget struct {
	r     io.ReaderAt
	left  int64 // -1: unlimited
	limit int64
}

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			b.left = 0
			return 0, fmt.Errorf("its directory has more than %d bytes", b.limit)
		}
	}
	return b.r.ReadAt(p, off)
}
