package data

import (
	"io"
	"os"
	"strings"
	"unicode"
)

// What a stranger's text files may have at most: JSON, with the name of every sample or the
// indices of a split, and a .csv, of as many bytes as the largest array.
const (
	maxText = 64 << 20
	maxCSV  = 8 * maxValues
)

// readText reads a small file, and nothing that is no plain file: a pipe would never end.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, bad(path, "is not a plain file")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(b) > maxText {
		err = bad(path, "has more than %d bytes", maxText)
	}
	return b, err
}

// isPlain reports whether s can be shown on a terminal as it is.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}
