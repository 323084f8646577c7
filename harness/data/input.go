package data

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"ssdl/harness/data/untrusted"
)

// ErrData is wrapped by every error that says a file or a set is unusable, as opposed
// to absent (fs.ErrNotExist) or unreadable.
var ErrData = errors.New("unusable data")

// dataError is an error about the content of a file: where, what was found, what to do.
type dataError struct{ path, text string }

func (e *dataError) Error() string { return e.path + ": " + e.text }

// Unwrap makes the error an ErrData without printing its words.
func (e *dataError) Unwrap() error { return ErrData }

// Invalid returns an ErrData that says where the fault is, what it is and what to do.
func Invalid(path, format string, args ...any) error {
	return &dataError{path, fmt.Sprintf(format, args...)}
}

// What files may have at most, in bytes and, for JSON, in list entries. A JSON file names
// every sample or lists the indices of a split: short entries need many times their text in
// memory. A .csv has as much text as the largest array has values; a container may hold
// other arrays too.
const (
	maxText      = 64 << 20
	maxEntries   = 4 << 20
	maxCSV       = 8 * maxValues
	maxContainer = 4 * maxCSV
)

// What names may have at most, in bytes. A set's name becomes part of file names, a class
// name stands in tables and figures.
const (
	maxName   = 200
	maxPath   = 4096 // path of a sample
	maxSource = 4096
)

// openFile opens a regular file of at most limit bytes.
func openFile(path string, limit int64) (*os.File, int64, error) {
	f, size, err := untrusted.Open(path, limit)
	return f, size, refused(err)
}

// ReadText returns the content of a JSON file, if it is a regular file and neither it nor its
// lists are longer than those of any real data set.
func ReadText(path string) ([]byte, error) {
	b, err := untrusted.Read(path, maxText)
	if bytes.Count(b, []byte(",")) >= maxEntries {
		return nil, Invalid(path, "has more than %d entries", maxEntries)
	}
	return b, refused(err)
}

// refused makes the refusal of a file an ErrData.
func refused(err error) error {
	if r := (*untrusted.RefusedError)(nil); errors.As(err, &r) {
		return Invalid(r.Path, "%s", r.Reason)
	}
	return err
}

// checkName refuses a name that is too long or would act on a terminal. what names it in the
// error.
func checkName(path, what, name string, limit int) error {
	switch {
	case len(name) > limit:
		return Invalid(path, "%s has %d bytes, expected at most %d. Shorten it.", what, len(name), limit)
	case untrusted.HasControl(name):
		return Invalid(path, "%s has control characters: %.60q. Remove them.", what, name)
	}
	return nil
}
