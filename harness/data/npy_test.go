package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// npyFile writes a .npy file with the given header dictionary and values.
func npyFile(version byte, header string, values []byte) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	header += "\n"
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), values...)
}

func npyDict(descr string, fortran bool, shape string) string {
	f := "False"
	if fortran {
		f = "True"
	}
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, f, shape)
}

// npyMatrix writes rows as float64, little-endian, in C order.
func npyMatrix(rows [][]float64) []byte {
	var values []byte
	for _, row := range rows {
		for _, v := range row {
			values = binary.LittleEndian.AppendUint64(values, math.Float64bits(v))
		}
	}
	return npyFile(1, npyDict("<f8", false, fmt.Sprintf("(%d, %d)", len(rows), len(rows[0]))), values)
}

// npyVector writes whole numbers as int32.
func npyVector(v ...int) []byte {
	var values []byte
	for _, x := range v {
		values = binary.LittleEndian.AppendUint32(values, uint32(int32(x)))
	}
	return npyFile(1, npyDict("<i4", false, fmt.Sprintf("(%d,)", len(v))), values)
}

func parseNPY(b []byte) (*array, error) {
	return readNPY("x.npy", bytes.NewReader(b), int64(len(b)), 0, false)
}

// store appends v as the type called descr.
func store(b []byte, descr string, v int) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	switch descr[1:] {
	case "i1", "u1":
		return append(b, byte(v))
	case "i2", "u2":
		return order.AppendUint16(b, uint16(v))
	case "i4", "u4":
		return order.AppendUint32(b, uint32(v))
	case "i8", "u8":
		return order.AppendUint64(b, uint64(v))
	case "f4":
		return order.AppendUint32(b, math.Float32bits(float32(v)))
	case "f8":
		return order.AppendUint64(b, math.Float64bits(float64(v)))
	}
	// f2 is exact for whole numbers below 2048
	if v == 0 {
		return order.AppendUint16(b, 0)
	}
	sign := uint16(0)
	if v < 0 {
		sign, v = 1<<15, -v
	}
	exp := 0
	for v>>exp > 1 {
		exp++
	}
	return order.AppendUint16(b, sign|uint16(exp+15)<<10|uint16(v<<(10-exp))&1023)
}

func TestNPYTypes(t *testing.T) {
	const rows, cols = 3, 4
	for _, kind := range []string{"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"} {
		for _, order := range []string{"<", ">", "|"} {
			if order == "|" && kind[1] != '1' {
				continue
			}
			for _, fortran := range []bool{false, true} {
				for version := byte(1); version <= 3; version++ {
					value := func(i, k int) int {
						v := 7*i + 11*k
						if kind[0] != 'u' && (i+k)%2 == 1 {
							v = -v
						}
						return v
					}
					var values []byte
					for p := range rows * cols {
						i, k := p/cols, p%cols
						if fortran {
							i, k = p%rows, p/rows
						}
						values = store(values, order+kind, value(i, k))
					}
					a, err := parseNPY(npyFile(version, npyDict(order+kind, fortran, "(3, 4)"), values))
					if err != nil {
						t.Fatalf("%s%s: %v", order, kind, err)
					}
					row := make([]float64, cols)
					for i := range rows {
						a.row(i, row)
						for k, v := range row {
							if v != float64(value(i, k)) {
								t.Errorf("%s%s fortran=%v version %d: [%d][%d] = %v, want %d", order, kind, fortran, version, i, k, v, value(i, k))
							}
						}
					}
				}
			}
		}
	}
}

func TestIntegerExtremes(t *testing.T) {
	for _, c := range []struct {
		d    dtype
		bits uint64
		want float64
	}{
		{dtype{kind: 'i', size: 1}, 0x80, -128},
		{dtype{kind: 'u', size: 1}, 0xff, 255},
		{dtype{kind: 'i', size: 2}, 0x8000, -32768},
		{dtype{kind: 'i', size: 4}, 0x80000000, -1 << 31},
		{dtype{kind: 'u', size: 4}, 0xffffffff, 1<<32 - 1},
		{dtype{kind: 'i', size: 8}, 1 << 63, -1 << 63},
		{dtype{kind: 'u', size: 8}, 1 << 63, 1 << 63},
	} {
		got := make([]float64, 1)
		c.d.decode(got, binary.LittleEndian.AppendUint64(nil, c.bits), c.d.size)
		if got[0] != c.want {
			t.Errorf("%v of %#x = %v, want %v", c.d, c.bits, got[0], c.want)
		}
	}
}

// TestFloat16 compares all halves with their definition.
func TestFloat16(t *testing.T) {
	for i := range 1 << 16 {
		sign, exp, frac := i>>15, i>>10&31, i&1023
		want := math.Ldexp(float64(frac), -24)
		if exp > 0 {
			want = math.Ldexp(float64(1024+frac), exp-25)
		}
		if exp == 31 {
			want = math.Inf(1)
			if frac != 0 {
				want = math.NaN()
			}
		}
		if sign == 1 {
			want = -want
		}
		got := float16(uint16(i))
		if math.IsNaN(want) != math.IsNaN(got) || !math.IsNaN(want) && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("half %#04x = %v, want %v", i, got, want)
		}
	}
}

func TestNPYRefuses(t *testing.T) {
	six := make([]byte, 6*8)
	good := npyFile(1, npyDict("<f8", false, "(3, 2)"), six)
	with := func(header string) []byte { return npyFile(1, header, six) }
	said := collectMessages(t, "npy")
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"no npy", []byte("PK\x03\x04 something else")},
		{"preamble cut", good[:9]},
		{"preamble of version 2 cut", npyFile(2, "{}", nil)[:11]},
		{"version 4", append([]byte("\x93NUMPY\x04\x00"), good[8:]...)},
		{"header cut", good[:40]},
		{"giant header", npyFile(2, npyDict("<f8", false, "(3, 2)")+strings.Repeat(" ", maxHeader), six)},
		{"values cut", good[:len(good)-1]},
		{"values beyond", append(bytes.Clone(good), 0)},
		{"giant shape", with(npyDict("<f8", false, "(400000000, 400000000)"))},
		{"giant dimension", with(npyDict("<f8", false, "(99999999999999999999, 1)"))},
		{"negative dimension", with(npyDict("<f8", false, "(-3, 2)"))},
		{"no dimension", with(npyDict("<f8", false, "()"))},
		{"three dimensions", with(npyDict("<f8", false, "(3, 2, 1)"))},
		{"missing comma", with(npyDict("<f8", false, "(3 2)"))},
		{"bool", with(npyDict("|b1", false, "(48,)"))},
		{"complex", with(npyDict("<c16", false, "(3,)"))},
		{"text", with(npyDict("<U4", false, "(3,)"))},
		{"object", with(npyDict("|O", false, "(6,)"))},
		{"float128", with(npyDict("<f16", false, "(3,)"))},
		{"no byte order", with(npyDict("=f8", false, "(3, 2)"))},
		{"not applicable byte order", with(npyDict("|f8", false, "(3, 2)"))},
		{"structured", with("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (6,), }")},
		{"no dictionary", with("hello")},
		{"unknown key", with("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), 'extra': 1}")},
		{"repeated key", with("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}")},
		{"missing key", with("{'descr': '<f8', 'shape': (3, 2)}")},
		{"order is no bool", with("{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 2)}")},
		{"text behind", with(npyDict("<f8", false, "(3, 2)") + "x")},
	} {
		a, err := parseNPY(c.file)
		if !errors.Is(err, ErrData) || a != nil {
			t.Errorf("%s: got %v", c.name, err)
		}
		said.add(c.name, "", err)
	}
	if _, err := parseNPY(good); err != nil {
		t.Errorf("the file that the others are made of: %v", err)
	}
	if _, err := parseNPY(with(`{"shape":(3,2),"fortran_order":False,"descr":"<f8"}`)); err != nil {
		t.Errorf("other quotes, other order, no trailing comma: %v", err)
	}
}

func FuzzNPY(f *testing.F) {
	f.Add(npyMatrix([][]float64{{1, 2}, {3, 4}}))
	f.Add(npyVector(0, 1, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseNPY(b)
		head, headErr := readNPY("x.npy", bytes.NewReader(b), int64(len(b)), 0, true)
		checkRead(t, a, err)
		if (err == nil) != (headErr == nil) || err == nil && (head.rows != a.rows || head.cols != a.cols || head.dtype != a.dtype) {
			t.Errorf("header alone: %+v, %v; all: %v", head, headErr, err)
		}
	})
}

// checkRead checks what every reader guarantees: an array whose bytes fit its shape and can be
// decoded, or an ErrData.
func checkRead(t *testing.T, a *array, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, ErrData) {
			t.Errorf("error without ErrData: %v", err)
		}
		return
	}
	if len(a.data) != a.rows*a.cols*a.dtype.size {
		t.Fatalf("%d x %d of %v in %d bytes", a.rows, a.cols, a.dtype, len(a.data))
	}
	row := make([]float64, a.cols)
	for i := range min(a.rows, 100) {
		a.row(i, row)
	}
	a.integers("x", "label")
}
