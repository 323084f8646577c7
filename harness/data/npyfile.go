package data

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// NPY is a .npy file of numbers, rows x columns, outside of a data set. A vector has one column.
type NPY struct {
	Rows, Cols int
	// Type is float64, int64, ...
	Type string
	name string
	a    *array
}

// ReadNPYHeader reads the header of a .npy file of size bytes. Errors call it name. A caller who knows the shape
// compares it before ReadValues takes memory for the values.
func ReadNPYHeader(name string, r io.Reader, size int64) (NPY, error) {
	a, err := readNPYHeader(name, r, size, 0)
	if err != nil {
		return NPY{}, err
	}
	return NPY{a.rows, a.cols, a.dtype.String(), name, a}, nil
}

// ReadValues reads the values, which follow the header in r.
func (n NPY) ReadValues(r io.Reader) error { return n.a.readValues(n.name, r) }

// Row decodes row i into dst, of length Cols.
func (n NPY) Row(i int, dst []float64) { n.a.row(i, dst) }

// WriteNPYHeader writes a .npy header of version 1.0: descr is a type such as "<f8", shape a tuple
// such as "(3, 2048)".
func WriteNPYHeader(w io.Writer, descr, shape string) error {
	const preamble, align = 10, 64
	dict := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }"
	length := (preamble+len(dict)+1+align-1)/align*align - preamble
	b := append([]byte("\x93NUMPY\x01\x00"), byte(length), byte(length>>8))
	b = append(b, dict...)
	b = append(b, strings.Repeat(" ", length-len(dict)-1)+"\n"...)
	_, err := w.Write(b)
	return err
}

// WriteColumns writes X (dim x N) transposed as a .npy file of float64: samples x features.
func WriteColumns(w io.Writer, X *mat.Dense) error {
	dim, n := X.Dims()
	if err := WriteNPYHeader(w, "<f8", "("+strconv.Itoa(n)+", "+strconv.Itoa(dim)+")"); err != nil {
		return err
	}
	row := make([]byte, 8*dim)
	for j := range n {
		for i := range dim {
			binary.LittleEndian.PutUint64(row[8*i:], math.Float64bits(X.At(i, j)))
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// WriteIntegers writes a vector as a .npy file of int64.
func WriteIntegers(w io.Writer, values []int) error {
	if err := WriteNPYHeader(w, "<i8", "("+strconv.Itoa(len(values))+",)"); err != nil {
		return err
	}
	b := make([]byte, 0, 8*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
	}
	_, err := w.Write(b)
	return err
}
