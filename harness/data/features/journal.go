package features

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"

	"ssdl/harness/data/untrusted"
	"ssdl/harness/filelock"
)

// journal holds the results of an unfinished extraction, as a sequence of frames. Each frame is
// one write, with a checksum:
//
//	length of the JSON, number of values   uint32 each, little-endian
//	JSON                                   the header (first frame) or the records of a batch
//	values                                 float32, the features of the records that have them
//	CRC-32C of the above                   uint32
//
// Only the last frame can be incomplete; it is then cut off.
type journal struct {
	f *os.File
}

// journalHeader identifies an extraction, except for the content of the images. It is the first
// frame. An extraction resumes only under an equal header.
type journalHeader struct {
	Format         string `json:"format"`
	Recipe         Recipe `json:"recipe"`
	DropDuplicates bool   `json:"drop_duplicates"`
	Images         string `json:"images"` // SHA-256 of the list of images
}

const journalFormat = "ssdl extraction 1"

// record is the result of one image.
type record struct {
	SHA256 string `json:"sha256,omitempty"` // empty if the file cannot be read
	Reason string `json:"skipped,omitempty"`
	SameAs string `json:"same_as,omitempty"` // with Options.DropDuplicates
}

// maxJSON bounds the JSON of a frame.
const maxJSON = 1 << 28

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// append writes one frame.
func (j *journal) append(v any, values []float32) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b := make([]byte, 0, 12+len(text)+4*len(values))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(values)))
	b = append(b, text...)
	b = appendFloats(b, values)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	_, err = j.f.Write(b)
	return err
}

func appendFloats(b []byte, values []float32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

var errIncomplete = errors.New("incomplete frame")

// readFrame reads the next frame, of at most maxValues values. The error is io.EOF at the end,
// errIncomplete, or one of r.
func readFrame(r io.Reader, maxValues int) (text, values []byte, err error) {
	var head [8]byte
	switch _, err := io.ReadFull(r, head[:]); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, errIncomplete
	case err != nil:
		return nil, nil, err
	}
	length, count := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if length > maxJSON || int64(count) > int64(maxValues) {
		return nil, nil, errIncomplete
	}
	// The lengths may be wrong: let the buffer grow with what is read.
	var b bytes.Buffer
	want := int64(length) + 4*int64(count) + 4
	switch _, err := io.CopyN(&b, r, want); {
	case errors.Is(err, io.EOF):
		return nil, nil, errIncomplete
	case err != nil:
		return nil, nil, err
	}
	body, check := b.Bytes()[:want-4], binary.LittleEndian.Uint32(b.Bytes()[want-4:])
	if crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, body) != check {
		return nil, nil, errIncomplete
	}
	return body[:length], body[length:], nil
}

// openJournal opens or creates the journal at path, locks it, and returns the records of finished
// images. It refuses a journal whose header differs from h.
func openJournal(path string, h journalHeader) (_ *journal, done []record, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if reason := untrusted.Check(info, math.MaxInt64); reason != "" {
		return nil, nil, refuse("%s: %s. Delete it.", path, reason)
	}
	if held, err := filelock.TryLock(f); err != nil {
		return nil, nil, fmt.Errorf("%s: cannot be locked: %w", path, err)
	} else if !held {
		return nil, nil, refuse("%s: another process is extracting into this folder. Wait for it, or stop it.", path)
	}
	j := &journal{f}
	end := int64(0) // offset behind the last complete frame
	err = j.frames(h.Recipe, func(text, values []byte) error {
		if end == 0 {
			if difference := h.differs(text); difference != "" {
				return refuse("%s: holds an unfinished extraction, but %s. Finish that one, or delete the file.", path, difference)
			}
		} else {
			var batch []record
			if err := json.Unmarshal(text, &batch); err != nil {
				return refuse("%s: %v. Delete it to start again.", path, err)
			}
			done = append(done, batch...)
		}
		end += int64(len(text)) + int64(len(values)) + 12
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if err := f.Truncate(end); err != nil {
		return nil, nil, err
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return nil, nil, err
	}
	if end == 0 {
		err = j.append(h, nil)
	}
	return j, done, err
}

// frames calls do with every complete frame, from the first on. The slices are valid during the
// call only.
func (j *journal) frames(r Recipe, do func(text, values []byte) error) error {
	if _, err := j.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for b := bufio.NewReaderSize(j.f, 1<<20); ; {
		text, values, err := readFrame(b, r.Model.Batch*r.Model.Dim)
		if errors.Is(err, io.EOF) || errors.Is(err, errIncomplete) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(text, values); err != nil {
			return err
		}
	}
}

// differs says how the header in text differs from h; "" if they are equal.
func (h journalHeader) differs(text []byte) string {
	var old journalHeader
	if err := json.Unmarshal(text, &old); err != nil || old.Format != h.Format {
		return "its format differs"
	}
	equal := func(a, b any) bool {
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		return errX == nil && errY == nil && bytes.Equal(x, y)
	}
	switch {
	case old.Images != h.Images:
		return "its list of images differs"
	case !equal(old.Recipe.Model, h.Recipe.Model):
		return fmt.Sprintf("its model or batch size differs (%s, %.12s, batches of %d)", printable(old.Recipe.Model.File), printable(old.Recipe.Model.SHA256), old.Recipe.Model.Batch)
	case !equal(old.Recipe.Preprocessing, h.Recipe.Preprocessing):
		return "its preprocessing differs"
	case !equal(old.Recipe.Libraries, h.Recipe.Libraries):
		return fmt.Sprintf("its libraries have other versions (%q)", old.Recipe.Libraries)
	case old.DropDuplicates != h.DropDuplicates:
		return fmt.Sprintf("it has --drop-duplicates=%t", old.DropDuplicates)
	}
	return ""
}

func (j *journal) close() error { return j.f.Close() }
