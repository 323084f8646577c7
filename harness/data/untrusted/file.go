// Package untrusted opens files from other people, within bounds that are checked before anything
// is read. It parses no content.
package untrusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"unicode"
)

// RefusedError says why a file is refused.
type RefusedError struct {
	Path string
	// Reason continues a sentence that begins with the path, such as "is a named pipe, expected a
	// regular file".
	Reason string
}

func (e *RefusedError) Error() string { return e.Path + ": " + e.Reason }

// Check returns why a file is refused, or "": it is no regular file, or larger than limit bytes.
// Check before opening: opening a pipe waits for its writer, and a device may never end.
func Check(info fs.FileInfo, limit int64) (reason string) {
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case !mode.IsRegular():
		kind = "a special file"
	}
	switch {
	case kind != "":
		return "is " + kind + ", expected a regular file"
	case info.Size() > limit:
		return fmt.Sprintf("has %d bytes, expected at most %d", info.Size(), limit)
	}
	return ""
}

// Stat is os.Stat, with a *RefusedError for a path too long for the system, which quotes only its
// beginning.
func Stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return nil, &RefusedError{Path: fmt.Sprintf("%.60s...", path), Reason: fmt.Sprintf("the path has %d bytes and is too long for this system. Use a shorter one.", len(path))}
	}
	return info, err
}

// Open opens a regular file of at most limit bytes and returns its size. The error is a
// *RefusedError or one of the file system.
func Open(path string, limit int64) (f *os.File, size int64, err error) {
	info, err := Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if reason := Check(info, limit); reason != "" {
		return nil, 0, &RefusedError{path, reason}
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	// Check again: another file may have taken the name.
	if info, err = f.Stat(); err == nil {
		if reason := Check(info, limit); reason != "" {
			err = &RefusedError{path, reason}
		}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Read returns the content of a regular file of at most limit bytes, with the errors of Open.
func Read(path string, limit int64) ([]byte, error) {
	f, _, err := Open(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1)) // the size may be out of date, or 0 as in /proc
	if err == nil && int64(len(b)) > limit {
		err = &RefusedError{path, fmt.Sprintf("has more than %d bytes, expected at most that", limit)}
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// HasControl reports whether s has characters that act on a terminal: control characters, or marks
// that change the writing direction.
func HasControl(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return true
		}
	}
	return false
}
