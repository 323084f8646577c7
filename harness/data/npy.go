package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxHeader bounds a .npy header, in bytes; NumPy writes 118 for a plain array.
const maxHeader = 1 << 16

// readNPY reads a .npy array. With headerOnly data is nil.
func readNPY(path string, r io.Reader, size, packed int64, headerOnly bool) (*array, error) {
	a, err := readNPYHeader(path, r, size, packed)
	if err != nil || headerOnly {
		return a, err
	}
	return a, a.readValues(path, r)
}

// readNPYHeader reads the header of a .npy array of one or two dimensions: versions 1 to 3;
// float16/32/64 and all integers; both byte orders; C and Fortran order. The file has size bytes,
// unpacked from packed bytes (0: not compressed). A vector has one column.
func readNPYHeader(path string, r io.Reader, size, packed int64) (*array, error) {
	head := make([]byte, 12)
	if n, err := io.ReadFull(r, head[:10]); err != nil {
		return nil, endError(path, err, "the file ends after %d bytes, inside the .npy preamble", n)
	}
	if !bytes.HasPrefix(head, []byte("\x93NUMPY")) {
		return nil, Invalid(path, "is not a .npy file: it does not begin with \\x93NUMPY. Write it with numpy.save.")
	}
	length, preamble := int64(binary.LittleEndian.Uint16(head[8:])), int64(10)
	switch head[6] {
	case 1:
	case 2, 3:
		if n, err := io.ReadFull(r, head[10:]); err != nil {
			return nil, endError(path, err, "the file ends after %d bytes, inside the .npy preamble", 10+n)
		}
		length, preamble = int64(binary.LittleEndian.Uint32(head[8:])), 12
	default:
		return nil, Invalid(path, "has .npy version %d.%d, expected 1.0, 2.0 or 3.0", head[6], head[7])
	}
	if length > maxHeader {
		return nil, Invalid(path, "the .npy header claims %d bytes, expected at most %d", length, maxHeader)
	}
	text := make([]byte, length)
	if n, err := io.ReadFull(r, text); err != nil {
		return nil, endError(path, err, "the .npy header ends after %d of %d bytes", n, length)
	}
	h, problem := parseNPYHeader(string(text))
	if problem != "" {
		return nil, Invalid(path, ".npy header: %s", problem)
	}
	a := &array{columnMajor: h.fortran}
	if a.dtype, problem = parseDescr(h.descr); problem != "" {
		return nil, Invalid(path, "dtype %s", problem)
	}
	switch len(h.shape) {
	case 1:
		a.rows, a.cols = h.shape[0], 1
	case 2:
		a.rows, a.cols = h.shape[0], h.shape[1]
	default:
		return nil, Invalid(path, "has %d dimensions, expected 2 (samples x features) or 1 (labels)", len(h.shape))
	}
	// Each factor is at most MaxValues: the product fits in an int64.
	if int64(a.rows)*int64(a.cols) > MaxValues {
		return nil, Invalid(path, "has shape %d x %d, expected at most %d values", a.rows, a.cols, MaxValues)
	}
	want := int64(a.rows) * int64(a.cols) * int64(a.dtype.size)
	if have := size - preamble - length; have != want {
		return nil, Invalid(path, "is %s: shape %d x %d of %s needs %d bytes, the file has %d",
			map[bool]string{true: "truncated", false: "too long"}[have < want], a.rows, a.cols, a.dtype, want, have)
	}
	return a, checkExpansion(path, a, packed)
}

// readValues reads the values after the header, and r to its end, so that its checksum is verified.
func (a *array) readValues(path string, r io.Reader) error {
	a.data = make([]byte, a.rows*a.cols*a.dtype.size)
	if n, err := io.ReadFull(r, a.data); err != nil {
		return endError(path, err, "the values end after %d of %d bytes", n, len(a.data))
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return endError(path, err, "has more bytes than its values need")
	}
	return nil
}

// endError returns the given message for a premature end, and any other error (checksum, disk) as
// it is.
func endError(path string, err error, format string, args ...any) error {
	if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return Invalid(path, format, args...)
	}
	return Invalid(path, "cannot be read: %v", err)
}

// parseDescr reads a type such as <f2. The second result is its fault, or "".
func parseDescr(descr string) (dtype, string) {
	const want = "is not supported. Convert features with x.astype(numpy.float32), labels with y.astype(numpy.int32)."
	named := map[string]string{"b": "bool", "c": "complex", "O": "object", "S": "bytes", "U": "text", "M": "date", "m": "time difference", "V": "raw"}
	switch {
	case strings.HasPrefix(descr, "["):
		return dtype{}, "is structured and " + want
	case len(descr) < 2:
		return dtype{}, strconv.Quote(descr) + " " + want
	}
	order, kind, size := descr[0], descr[1], descr[2:]
	if name, ok := named[string(kind)]; ok {
		return dtype{}, strconv.Quote(descr) + " (" + name + ") " + want
	}
	d := dtype{kind: kind, big: order == '>'}
	switch {
	case kind == 'f' && (size == "2" || size == "4" || size == "8"),
		(kind == 'i' || kind == 'u') && (size == "1" || size == "2" || size == "4" || size == "8"):
		d.size = int(size[0] - '0')
	default:
		return dtype{}, strconv.Quote(descr) + " " + want
	}
	if !strings.ContainsRune("<>|", rune(order)) || order == '|' && d.size > 1 {
		return dtype{}, strconv.Quote(descr) + " has no byte order, expected < or >"
	}
	return d, ""
}

type npyHeader struct {
	descr   string // "[" for a structured type
	fortran bool
	shape   []int
}

// parseNPYHeader reads the Python dictionary of a .npy header: exactly the keys descr,
// fortran_order and shape, in any order. problem is its fault, or "".
func parseNPYHeader(text string) (h npyHeader, problem string) {
	p := pyLiteral{rest: text}
	seen := map[string]bool{}
	if !p.accept("{") {
		return h, "does not begin with {"
	}
	for !p.accept("}") {
		key, ok := p.str()
		if !ok || seen[key] || !p.accept(":") {
			return h, "malformed or repeated key at " + p.here()
		}
		seen[key] = true
		switch key {
		case "descr":
			if p.accept("[") {
				h.descr = "["
				return h, "" // parseDescr refuses the type; the rest does not matter
			}
			h.descr, ok = p.str()
		case "fortran_order":
			h.fortran = p.accept("True")
			ok = h.fortran || p.accept("False")
		case "shape":
			h.shape, ok = p.tuple()
		default:
			return h, "unknown key " + strconv.Quote(key)
		}
		if !ok {
			return h, "malformed " + key + " at " + p.here()
		}
		if !p.accept(",") {
			if !p.accept("}") {
				return h, "expected , or } at " + p.here()
			}
			break
		}
	}
	if len(seen) != 3 {
		return h, "expected the keys descr, fortran_order and shape"
	}
	if p.space(); p.rest != "" {
		return h, "text follows the dictionary: " + p.here()
	}
	return h, ""
}

// pyLiteral scans the few Python literals of a .npy header.
type pyLiteral struct{ rest string }

// space skips blanks.
func (p *pyLiteral) space() { p.rest = strings.TrimLeft(p.rest, " \t\n") }

// accept skips blanks, and the token if it comes next.
func (p *pyLiteral) accept(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return ok
}

// here quotes the next characters, for errors.
func (p *pyLiteral) here() string { return strconv.Quote(p.rest[:min(len(p.rest), 20)]) }

// str scans a quoted string without escapes.
func (p *pyLiteral) str() (string, bool) {
	for _, quote := range []string{"'", `"`} {
		if p.accept(quote) {
			s, rest, ok := strings.Cut(p.rest, quote)
			p.rest = rest
			return s, ok && !strings.ContainsAny(s, "\\\n")
		}
	}
	return "", false
}

// tuple scans (), (3,) or (3, 4). A number above MaxValues is a fault.
func (p *pyLiteral) tuple() ([]int, bool) {
	if !p.accept("(") {
		return nil, false
	}
	out := []int{}
	for comma := true; !p.accept(")"); comma = p.accept(",") {
		p.space()
		end := 0
		for end < len(p.rest) && '0' <= p.rest[end] && p.rest[end] <= '9' {
			end++
		}
		v, err := strconv.Atoi(p.rest[:end])
		if !comma || err != nil || v > MaxValues || len(out) == 32 {
			return nil, false
		}
		out, p.rest = append(out, v), p.rest[end:]
	}
	return out, true
}
