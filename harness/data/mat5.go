package data

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// The MAT-file data types (mi...) and array classes (mx...) that readMAT knows.
const (
	miINT8       = 1
	miINT32      = 5
	miUINT32     = 6
	miMATRIX     = 14
	miCOMPRESSED = 15

	mxCELL, mxSTRUCT, mxOBJECT, mxCHAR, mxSPARSE = 1, 2, 3, 4, 5
	mxDOUBLE, mxSINGLE, mxINT8, mxUINT64         = 6, 7, 8, 15
)

// miTypes maps number types to ours. MATLAB stores a double array of small whole numbers as a
// smaller type: the class is what the array is, the type how it is stored.
var miTypes = map[uint32]dtype{
	1: {kind: 'i', size: 1}, 2: {kind: 'u', size: 1}, 3: {kind: 'i', size: 2}, 4: {kind: 'u', size: 2},
	5: {kind: 'i', size: 4}, 6: {kind: 'u', size: 4}, 7: {kind: 'f', size: 4}, 9: {kind: 'f', size: 8},
	12: {kind: 'i', size: 8}, 13: {kind: 'u', size: 8},
}

var mxNames = map[byte]string{
	mxCELL: "a cell array", mxSTRUCT: "a struct", mxOBJECT: "an object", mxCHAR: "text", mxSPARSE: "a sparse matrix",
	16: "a function handle", 17: "an object", 18: "an object",
}

// maxElements bounds the variables of a MAT-file, each of which takes time to open.
const maxElements = 10_000

// readMAT reads the numeric matrices called names from a MAT-file of size bytes: version 5, or 7
// (the same with zlib), in either byte order. With headerOnly it reads no values. It skips other
// variables.
func readMAT(path string, r io.ReaderAt, size int64, names []string, headerOnly bool) (map[string]*array, error) {
	order, err := matOrder(path, r)
	if err != nil {
		return nil, err
	}
	out := map[string]*array{}
	var found []string
	elements := 0
	for off := int64(128); off < size; {
		if elements++; elements > maxElements {
			return nil, Invalid(path, "has more than %d variables. Save fea and gnd alone.", maxElements)
		}
		e, length, err := openElement(path, r, size, off, order)
		if err != nil {
			return nil, err
		}
		name, a, err := e.matrix(names, headerOnly)
		if err != nil {
			return nil, err
		}
		if a != nil {
			if out[name] != nil {
				return nil, Invalid(path, "has two matrices %s", name)
			}
			out[name] = a
		}
		if name != "" {
			found = append(found, name)
		}
		off += 8 + length
	}
	for _, name := range names {
		if out[name] == nil {
			return nil, Invalid(path, "has no matrix %s, only %s. Save fea (features) and gnd (labels from 1).", name, listed(found))
		}
	}
	return out, nil
}

// matOrder reads the header of a MAT-file and returns its byte order.
func matOrder(path string, r io.ReaderAt) (binary.ByteOrder, error) {
	head := make([]byte, 128)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("\x89HDF\r\n")) || bytes.HasPrefix(head, []byte("MATLAB 7.3")) {
		return nil, Invalid(path, "is a MAT-file of version 7.3 (HDF5), which ssdl cannot read. Save with -v7 in MATLAB, or convert it once: python3 -c "+
			`"import h5py,numpy as n;f=h5py.File('%s');n.save('features.npy',n.array(f['fea']).T);n.save('labels.npy',n.array(f['gnd']).ravel().astype('i4')-1)"`, path)
	}
	if n < 128 {
		return nil, Invalid(path, "ends after %d bytes, inside the 128-byte MAT-file header", n)
	}
	var order binary.ByteOrder
	switch string(head[126:]) {
	case "IM":
		order = binary.LittleEndian
	case "MI":
		order = binary.BigEndian
	default:
		return nil, Invalid(path, "has no MAT-file header of version 5 or 7. Save with -v7 in MATLAB.")
	}
	if v := order.Uint16(head[124:]); v != 0x0100 {
		return nil, Invalid(path, "has MAT-file version %#04x, expected 0x0100. Save with -v7 in MATLAB.", v)
	}
	return order, nil
}

// openElement opens the element at byte off, compressed or not. length is its size in the file
// without the tag.
func openElement(path string, r io.ReaderAt, size, off int64, order binary.ByteOrder) (e element, length int64, err error) {
	tag := make([]byte, 8)
	if _, err := r.ReadAt(tag, off); err != nil {
		return e, 0, Invalid(path, "ends inside the tag of an element at byte %d", off)
	}
	kind := order.Uint32(tag)
	length = int64(order.Uint32(tag[4:]))
	if off+8+length > size {
		return e, 0, Invalid(path, "is truncated: the element at byte %d needs %d bytes, the file has %d", off, length, size-off-8)
	}
	place := fmt.Sprintf("%s: element at byte %d", path, off)
	body := io.NewSectionReader(r, off+8, length)
	e = element{place: place, r: body, order: order, left: length}
	switch kind {
	case miMATRIX:
		return e, length, nil
	case miCOMPRESSED:
	default:
		return e, 0, Invalid(place, "has data type %d, expected a matrix (%d) or a compressed one (%d)", kind, miMATRIX, miCOMPRESSED)
	}
	e.packed = length
	if e.r, err = zlib.NewReader(body); err != nil {
		return e, 0, Invalid(place, "is damaged: %v", err)
	}
	if _, err := io.ReadFull(e.r, tag); err != nil {
		return e, 0, Invalid(place, "is damaged: %v", err)
	}
	e.left = int64(order.Uint32(tag[4:]))
	if inner := order.Uint32(tag); inner != miMATRIX {
		return e, 0, Invalid(place, "holds data type %d, expected a matrix (%d)", inner, miMATRIX)
	}
	if e.left > maxDeflate*(length+1) {
		return e, 0, Invalid(place, "claims to unpack from %d to %d bytes, which is impossible", length, e.left)
	}
	return e, length, nil
}

// element reads one miMATRIX from left to right.
type element struct {
	place string
	r     io.Reader
	order binary.ByteOrder
	left  int64 // bytes of the matrix not yet read
	// packed is the compressed size; 0 if the element is not compressed. A compressed one ends in a
	// checksum.
	packed int64
}

// matrix returns the name of the element and, if it is one of names, its array.
func (e *element) matrix(names []string, headerOnly bool) (string, *array, error) {
	flags, err := e.part("array flags", miUINT32, 8)
	if err != nil {
		return "", nil, err
	}
	if len(flags) != 8 {
		return "", nil, Invalid(e.place, "array flags of %d bytes, expected 8", len(flags))
	}
	word := e.order.Uint32(flags)
	class, logical, complexed := byte(word), word&0x200 != 0, word&0x800 != 0
	if class > mxUINT64 && class <= 18 { // these have no dimensions before the name
		return "", nil, nil
	}
	dims, err := e.part("dimensions", miINT32, 4*32)
	if err != nil {
		return "", nil, err
	}
	rawName, err := e.part("name", miINT8, 1024)
	if err != nil {
		return "", nil, err
	}
	name := string(rawName)
	if !slices.Contains(names, name) {
		return name, nil, nil
	}
	e.place += " (" + name + ")"
	switch {
	case class < mxDOUBLE || class > mxUINT64:
		what := mxNames[class]
		if what == "" {
			what = fmt.Sprintf("of class %d", class)
		}
		return "", nil, Invalid(e.place, "is %s, expected a full numeric matrix. Convert it with double(full(%s)).", what, name)
	case complexed:
		return "", nil, Invalid(e.place, "is complex, expected real numbers. Convert it with real(%s).", name)
	case logical:
		return "", nil, Invalid(e.place, "is logical, expected numbers. Convert it with double(%s).", name)
	case len(dims) != 8:
		return "", nil, Invalid(e.place, "has %d dimensions, expected 2", len(dims)/4)
	}
	rows, cols := int64(int32(e.order.Uint32(dims))), int64(int32(e.order.Uint32(dims[4:])))
	if rows < 0 || cols < 0 || rows > MaxValues || cols > MaxValues || rows*cols > MaxValues {
		return "", nil, Invalid(e.place, "is %d x %d, expected at most %d values", rows, cols, MaxValues)
	}
	kind, length, small, err := e.tag("values")
	if err != nil {
		return "", nil, err
	}
	d, ok := miTypes[kind]
	if !ok {
		return "", nil, Invalid(e.place, "stores its values as data type %d, expected a number type", kind)
	}
	d.big = e.order == binary.BigEndian
	if want := rows * cols * int64(d.size); length != want {
		return "", nil, Invalid(e.place, "%d x %d of %s needs %d bytes, the element has %d", rows, cols, d, want, length)
	}
	a := &array{rows: int(rows), cols: int(cols), columnMajor: true, dtype: d}
	if err := checkExpansion(e.place, a, e.packed); err != nil {
		return "", nil, err
	}
	if headerOnly {
		return name, a, nil
	}
	if a.data, err = e.bytes("values", length, small); err != nil {
		return "", nil, err
	}
	if e.left != 0 {
		return "", nil, Invalid(e.place, "%d bytes follow the values", e.left)
	}
	if e.packed > 0 {
		if n, err := io.Copy(io.Discard, io.LimitReader(e.r, 1)); n != 0 || err != nil {
			return "", nil, Invalid(e.place, "is damaged: bytes follow its end, or its checksum is wrong (%v)", err)
		}
	}
	return name, a, nil
}

// part reads a whole sub-element of type want and at most limit bytes.
func (e *element) part(what string, want uint32, limit int64) ([]byte, error) {
	kind, length, small, err := e.tag(what)
	if err != nil {
		return nil, err
	}
	if kind != want || length > limit {
		return nil, Invalid(e.place, "%s have data type %d and %d bytes, expected type %d and at most %d bytes", what, kind, length, want, limit)
	}
	return e.bytes(what, length, small)
}

// tag reads the tag of a sub-element. A small one has its length in the upper half of the first
// word and its values, at most four bytes, in the second word.
func (e *element) tag(what string) (kind uint32, length int64, small bool, err error) {
	b, err := e.read(what, 4)
	if err != nil {
		return 0, 0, false, err
	}
	word := e.order.Uint32(b)
	if n := word >> 16; n != 0 {
		if n > 4 {
			return 0, 0, false, Invalid(e.place, "%s are a small element of %d bytes, expected at most 4", what, n)
		}
		return word & 0xffff, int64(n), true, nil
	}
	if b, err = e.read(what, 4); err != nil {
		return 0, 0, false, err
	}
	return word, int64(e.order.Uint32(b)), false, nil
}

// bytes reads length bytes and the padding after them. Some writers omit the padding of the last
// sub-element.
func (e *element) bytes(what string, length int64, small bool) ([]byte, error) {
	b, err := e.read(what, length)
	if err != nil {
		return nil, err
	}
	pad := -length & 7
	if small {
		pad = 4 - length
	}
	_, err = e.read(what, min(pad, e.left))
	return b, err
}

func (e *element) read(what string, n int64) ([]byte, error) {
	if n > e.left {
		return nil, Invalid(e.place, "%s need %d bytes, the element has %d left", what, n, e.left)
	}
	e.left -= n
	b := make([]byte, n)
	if _, err := io.ReadFull(e.r, b); err != nil {
		return nil, Invalid(e.place, "%s cannot be read: the element is damaged (%v)", what, err)
	}
	return b, nil
}
