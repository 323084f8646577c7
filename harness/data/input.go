package data

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"ssdl/harness/data/untrusted"
)

// ErrData says that a file or a set is unusable, and neither absent (fs.ErrNotExist) nor
// unreadable.
var ErrData = errors.New("unusable data")

// dataError is an error about the content of a file: where, what was found, what to do.
type dataError struct{ path, text string }

func (e *dataError) Error() string { return e.path + ": " + e.text }

// Unwrap makes the error an ErrData without printing its words.
func (e *dataError) Unwrap() error { return ErrData }

// Invalid returns an ErrData: path, then the fault and what to do.
func Invalid(path, format string, args ...any) error {
	return &dataError{path, fmt.Sprintf(format, args...)}
}

// Bounds on files, in bytes and, for JSON, in list entries. A JSON file names every sample or lists
// the indices of a split; short entries need many times their text in memory. A .csv may have as
// much text as the largest array has values. A container may hold other arrays too.
const (
	maxText      = 64 << 20
	maxEntries   = 4 << 20
	maxCSV       = 8 * MaxValues
	maxContainer = 4 * maxCSV
)

// Bounds on names, in bytes. The name of a set becomes part of file names, a class name appears in
// tables and figures.
const (
	MaxName   = 200
	MaxPath   = 4096 // path of a sample
	maxSource = 4096
)

// openFile opens a regular file of at most limit bytes.
func openFile(path string, limit int64) (*os.File, int64, error) {
	f, size, err := untrusted.Open(path, limit)
	return f, size, refused(err)
}

// ReadText returns the content of a JSON file. It refuses what is no regular file, and text or
// lists longer than those of any real data set.
func ReadText(path string) ([]byte, error) {
	b, err := untrusted.Read(path, maxText)
	if bytes.Count(b, []byte(",")) >= maxEntries {
		return nil, Invalid(path, "has more than %d entries", maxEntries)
	}
	return b, refused(err)
}

// refused turns a RefusedError into an ErrData.
func refused(err error) error {
	if r := (*untrusted.RefusedError)(nil); errors.As(err, &r) {
		return Invalid(r.Path, "%s", r.Reason)
	}
	return err
}

// checkName refuses a name that is longer than limit bytes or has control characters. what names it
// in the error.
func checkName(path, what, name string, limit int) error {
	switch {
	case len(name) > limit:
		return Invalid(path, "%s has %d bytes, expected at most %d. Shorten it.", what, len(name), limit)
	case untrusted.HasControl(name):
		return Invalid(path, "%s has control characters: %.60q. Remove them.", what, name)
	}
	return nil
}
