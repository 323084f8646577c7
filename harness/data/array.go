package data

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// MaxValues bounds the values of one array: 4 GiB as float64. A larger claim in a header is refused
// before anything is allocated.
const MaxValues = 1 << 29

// Bounds on the memory of a compressed array, as float64: maxUnpacked bytes, or maxRatio times its
// compressed size. Network features reach a ratio of about 5, word counts with 1 % non-zeros about
// 220, zeros alone 8000.
const (
	maxUnpacked = 32 << 20
	maxRatio    = 512
)

// checkExpansion refuses an array out of proportion to its packed bytes; packed is 0 for an array
// that is not compressed.
func checkExpansion(place string, a *array, packed int64) error {
	bytes := 8 * int64(a.rows) * int64(a.cols)
	if packed == 0 || bytes <= maxUnpacked || bytes <= maxRatio*packed {
		return nil
	}
	return Invalid(place, "%d x %d values from %d compressed bytes need %d bytes of memory, more than %d times as many. Save the array without compression.",
		a.rows, a.cols, packed, bytes, maxRatio)
}

// dtype is the type of one stored value.
type dtype struct {
	kind byte // 'f' float, 'i' signed, 'u' unsigned
	size int  // bytes
	big  bool // big-endian
}

func (d dtype) String() string {
	name := map[byte]string{'f': "float", 'i': "int", 'u': "uint"}[d.kind]
	return fmt.Sprintf("%s%d", name, 8*d.size)
}

// array is a matrix of samples x features, still in the bytes of its file.
type array struct {
	rows, cols  int
	columnMajor bool // Fortran order
	dtype       dtype
	data        []byte // rows*cols*dtype.size bytes
}

// row decodes sample i into dst, which has length cols.
func (a *array) row(i int, dst []float64) {
	if a.columnMajor {
		a.dtype.decode(dst, a.data[i*a.dtype.size:], a.rows*a.dtype.size)
		return
	}
	a.dtype.decode(dst, a.data[i*a.cols*a.dtype.size:], a.dtype.size)
}

// decode reads len(dst) values, stride bytes apart, from src. All values are exact except integers
// above 2^53, which are rounded to nearest.
func (d dtype) decode(dst []float64, src []byte, stride int) {
	// Two plain loops over a row that stays in the cache: copy the bits into dst in native order,
	// then convert them there.
	switch d.size {
	case 1:
		for k := range dst {
			dst[k] = math.Float64frombits(uint64(src[k*stride]))
		}
	case 2:
		for k := range dst {
			v := binary.LittleEndian.Uint16(src[k*stride:])
			if d.big {
				v = bits.ReverseBytes16(v)
			}
			dst[k] = math.Float64frombits(uint64(v))
		}
	case 4:
		for k := range dst {
			v := binary.LittleEndian.Uint32(src[k*stride:])
			if d.big {
				v = bits.ReverseBytes32(v)
			}
			dst[k] = math.Float64frombits(uint64(v))
		}
	case 8:
		for k := range dst {
			v := binary.LittleEndian.Uint64(src[k*stride:])
			if d.big {
				v = bits.ReverseBytes64(v)
			}
			dst[k] = math.Float64frombits(v)
		}
	}
	switch {
	case d.kind == 'f' && d.size == 2:
		for k, v := range dst {
			dst[k] = float16(uint16(math.Float64bits(v)))
		}
	case d.kind == 'f' && d.size == 4:
		for k, v := range dst {
			dst[k] = float64(math.Float32frombits(uint32(math.Float64bits(v))))
		}
	case d.kind == 'i':
		shift := 64 - 8*d.size // sign extension
		for k, v := range dst {
			dst[k] = float64(int64(math.Float64bits(v)<<shift) >> shift)
		}
	case d.kind == 'u':
		for k, v := range dst {
			dst[k] = float64(math.Float64bits(v))
		}
	}
}

// float16 converts an IEEE 754 half, exactly.
func float16(h uint16) float64 {
	sign, exp, frac := uint64(h>>15)<<63, uint64(h>>10&31), uint64(h&1023)
	switch exp {
	case 0: // zero and subnormals: frac x 2^-24
		return math.Float64frombits(sign | math.Float64bits(float64(frac)*0x1p-24))
	case 31: // infinities and NaN
		return math.Float64frombits(sign | 0x7ff<<52 | frac<<42)
	}
	return math.Float64frombits(sign | (exp-15+1023)<<52 | frac<<42)
}

// integers returns a vector (one row or one column) of whole numbers. what names it in errors.
func (a *array) integers(path, what string) ([]int, error) {
	if a.rows != 1 && a.cols != 1 {
		return nil, Invalid(path, "%s is %d x %d, expected one number per sample", what, a.rows, a.cols)
	}
	values := make([]float64, a.rows*a.cols)
	a.dtype.decode(values, a.data, a.dtype.size)
	out := make([]int, len(values))
	for i, v := range values {
		if v != math.Trunc(v) || math.Abs(v) > MaxValues { // NaN and Inf fail here too
			return nil, Invalid(path, "%s of sample %d is %v, expected a whole number", what, i, v)
		}
		out[i] = int(v)
	}
	return out, nil
}
