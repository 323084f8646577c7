// Package sanitize makes untrusted text safe to print: names of classes and files, titles of specs, and errors
// in imported stores.
package sanitize

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapeSequence is a terminal control sequence with its parameters: CSI (ESC [ or
// U+009B), a string such as OSC up to its end, or ESC and one character.
var escapeSequence = regexp.MustCompile(
	"(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]?" +
		"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)?" +
		"|\x1b[ -/]*[0-~]?")

// Line makes s safe to print on one line. It removes terminal sequences, control characters and marks
// that change the writing direction, makes one blank of each run of blanks and line ends, and
// U+FFFD of bytes that are not UTF-8.
func Line(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = escapeSequence.ReplaceAllString(s, "")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// CSVCell is Line for a cell of a CSV file. It puts an apostrophe before text that a spreadsheet would take
// for a formula: text that begins with one of = + - @ or a tab, and is not a number.
func CSVCell(s string) string {
	s = Line(s)
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " "))
	if !strings.ContainsRune("=+-@\t＝＋－＠", first) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
