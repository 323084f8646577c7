package sanitize

import (
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"
)

// Writer is a writer for a terminal: of control characters only line ends and tabs get
// through, and no mark that changes the writing direction.
type Writer struct {
	w    io.Writer
	held []byte // the beginning of a character whose end comes with the next write
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes b but for what a terminal must not get. It reports all of b as written.
func (p *Writer) Write(b []byte) (int, error) {
	text := append(p.held, b...)
	p.held = nil
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				p.held = bytes.Clone(tail)
				text = text[:len(text)-i]
			}
			break
		}
	}
	text = bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
	if _, err := p.w.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}
