package sanitize

import (
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"
)

// Writer removes from text for a terminal all control characters but line ends and tabs, and marks that
// change the writing direction.
type Writer struct {
	w    io.Writer
	held []byte // the first bytes of a character that the next write completes
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes the safe part of b, and reports all of b as written.
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
