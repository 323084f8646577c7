package data

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// matVar is a matrix to write; values are bytes of data type kind.
type matVar struct {
	name   string
	class  uint32 // with the flags
	dims   []int32
	kind   uint32
	values []byte
}

type orders interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func matElement(o orders, kind uint32, body []byte) []byte {
	if n := len(body); n > 0 && n <= 4 && kind != miMATRIX {
		b := o.AppendUint32(nil, uint32(n)<<16|kind)
		return append(append(b, body...), make([]byte, 4-n)...)
	}
	b := o.AppendUint32(nil, kind)
	b = append(o.AppendUint32(b, uint32(len(body))), body...)
	return append(b, make([]byte, -len(body)&7)...)
}

func (v matVar) bytes(o orders) []byte {
	var dims []byte
	for _, d := range v.dims {
		dims = o.AppendUint32(dims, uint32(d))
	}
	body := matElement(o, miUINT32, o.AppendUint32(o.AppendUint32(nil, v.class), 0))
	body = append(body, matElement(o, miINT32, dims)...)
	body = append(body, matElement(o, miINT8, []byte(v.name))...)
	body = append(body, matElement(o, v.kind, v.values)...)
	return matElement(o, miMATRIX, body)
}

// matFile writes a MAT-file of version 5, or of version 7 if packed.
func matFile(o orders, packed bool, vars ...matVar) []byte {
	b := bytes.Repeat([]byte(" "), 124)
	copy(b, "MATLAB 5.0 MAT-file")
	b = o.AppendUint16(o.AppendUint16(b, 0x0100), 'M'<<8|'I')
	for _, v := range vars {
		e := v.bytes(o)
		if packed {
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			w.Write(e)
			w.Close()
			e = append(o.AppendUint32(o.AppendUint32(nil, miCOMPRESSED), uint32(z.Len())), z.Bytes()...)
		}
		b = append(b, e...)
	}
	return b
}

func doubles(o orders, v ...float64) (b []byte) {
	for _, x := range v {
		b = o.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func parseMAT(b []byte, headerOnly bool) (map[string]*array, error) {
	return readMAT("x.mat", bytes.NewReader(b), int64(len(b)), []string{"fea", "gnd"}, headerOnly)
}

func TestMATTypes(t *testing.T) {
	// Values are stored column by column: fea is 2 x 3.
	want := [][]float64{{1, 3, 5}, {2, 4, 6}}
	stored := map[uint32]string{1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
	for _, o := range []orders{binary.LittleEndian, binary.BigEndian} {
		for _, packed := range []bool{false, true} {
			for class := uint32(mxDOUBLE); class <= mxUINT64; class++ {
				for kind, name := range stored {
					descr := map[bool]string{true: ">", false: "<"}[o == orders(binary.BigEndian)] + name
					var values []byte
					for v := range 6 {
						values = store(values, descr, v+1)
					}
					file := matFile(o, packed,
						matVar{"other", mxCHAR, []int32{1, 3}, 16, []byte("abc")},
						matVar{"gnd", mxDOUBLE, []int32{2, 1}, 2, []byte{1, 2}}, // a small element
						matVar{"fea", class, []int32{2, 3}, kind, values})
					for _, headerOnly := range []bool{true, false} {
						arrays, err := parseMAT(file, headerOnly)
						if err != nil {
							t.Fatalf("%v packed=%v class %d stored as %s: %v", o, packed, class, descr, err)
						}
						if a := arrays["fea"]; a.rows != 2 || a.cols != 3 || headerOnly != (a.data == nil) {
							t.Fatalf("fea is %+v", a)
						}
						if headerOnly {
							continue
						}
						row := make([]float64, 3)
						for i := range want {
							arrays["fea"].row(i, row)
							for k := range row {
								if row[k] != want[i][k] {
									t.Errorf("%v packed=%v class %d stored as %s: [%d][%d] = %v, want %v", o, packed, class, descr, i, k, row[k], want[i][k])
								}
							}
						}
						if y, err := arrays["gnd"].integers("", ""); err != nil || y[0] != 1 || y[1] != 2 {
							t.Errorf("gnd = %v, %v", y, err)
						}
					}
				}
			}
		}
	}
}

func TestMATRefuses(t *testing.T) {
	le := binary.LittleEndian
	gnd := matVar{"gnd", mxDOUBLE, []int32{2, 1}, 2, []byte{1, 2}}
	fea := matVar{"fea", mxDOUBLE, []int32{2, 2}, 9, doubles(le, 1, 2, 3, 4)}
	like := func(f func(*matVar)) []byte {
		v := fea
		f(&v)
		return matFile(le, false, gnd, v)
	}
	good := matFile(le, false, gnd, fea)
	packed := matFile(le, true, gnd, fea)
	damaged := bytes.Clone(packed)
	damaged[len(damaged)-1] ^= 1 // the checksum
	lying := bytes.Clone(good)
	le.PutUint32(lying[132:], 1<<30)
	var bomb bytes.Buffer
	w := zlib.NewWriter(&bomb)
	w.Write(le.AppendUint32(le.AppendUint32(nil, miMATRIX), 1<<31))
	w.Close()
	bombed := append(le.AppendUint32(le.AppendUint32(bytes.Clone(good[:128]), miCOMPRESSED), uint32(bomb.Len())), bomb.Bytes()...)
	v73 := bytes.Clone(good)
	copy(v73, "MATLAB 7.3 MAT-file")
	said := collectMessages(t, "mat")
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"header cut", good[:100]},
		{"version 4", append(le.AppendUint32(nil, 0), make([]byte, 200)...)},
		{"version 7.3", v73},
		{"HDF5", append([]byte("\x89HDF\r\n\x1a\n"), make([]byte, 200)...)},
		{"other version", append(append(bytes.Clone(good[:124]), 0, 3), good[126:]...)},
		{"cut", good[:len(good)-8]},
		{"tag cut", good[:132]},
		{"element claims more than the file", lying},
		{"checksum", damaged},
		{"packed and cut", packed[:len(packed)-3]},
		{"bomb", bombed},
		{"no gnd", matFile(le, false, fea)},
		{"two fea", matFile(le, false, gnd, fea, fea)},
		{"cell", like(func(v *matVar) { v.class = mxCELL })},
		{"struct", like(func(v *matVar) { v.class = mxSTRUCT })},
		{"sparse", like(func(v *matVar) { v.class = mxSPARSE })},
		{"text", like(func(v *matVar) { v.class = mxCHAR })},
		{"complex", like(func(v *matVar) { v.class |= 0x800 })},
		{"logical", like(func(v *matVar) { v.class |= 0x200 })},
		{"three dimensions", like(func(v *matVar) { v.dims = []int32{2, 2, 1} })},
		{"negative dimension", like(func(v *matVar) { v.dims = []int32{-2, -2} })},
		{"giant", like(func(v *matVar) { v.dims = []int32{1 << 20, 1 << 20} })},
		{"fewer values", like(func(v *matVar) { v.values = v.values[:24] })},
		{"more values", like(func(v *matVar) { v.values = append(bytes.Clone(v.values), v.values...) })},
		{"odd storage", like(func(v *matVar) { v.kind = 16 })},
	} {
		_, err := parseMAT(c.file, false)
		if !errors.Is(err, ErrData) {
			t.Errorf("%s: got %v", c.name, err)
		}
		said.add(c.name, "", err)
	}
	if _, err := parseMAT(good, false); err != nil {
		t.Errorf("the file that the others are made of: %v", err)
	}
}

// TestMATForeign reads files written by SciPy 1.10 (savemat, compressed and not). Between fea (6 x
// 3, value 10 i + k) and gnd they have a struct, text, a sparse matrix and a cell array.
func TestMATForeign(t *testing.T) {
	for _, name := range []string{"scipy.mat", "scipy-packed.mat"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		arrays, err := parseMAT(b, false)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, 3)
		for i := range 6 {
			arrays["fea"].row(i, row)
			for k, v := range row {
				if v != float64(10*i+k) {
					t.Errorf("%s: fea[%d][%d] = %v", name, i, k, v)
				}
			}
		}
		if y, err := arrays["gnd"].integers("", ""); err != nil || len(y) != 6 || y[5] != 3 {
			t.Errorf("%s: gnd = %v, %v", name, y, err)
		}
	}
}

func FuzzMAT(f *testing.F) {
	for _, packed := range []bool{false, true} {
		f.Add(matFile(binary.BigEndian, packed,
			matVar{"gnd", mxDOUBLE, []int32{2, 1}, 2, []byte{1, 2}},
			matVar{"fea", mxDOUBLE, []int32{2, 1}, 9, doubles(binary.BigEndian, 1, 2)}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		arrays, err := parseMAT(b, false)
		if err != nil {
			checkRead(t, nil, err)
			return
		}
		checkRead(t, arrays["fea"], nil)
		checkRead(t, arrays["gnd"], nil)
		if _, err := parseMAT(b, true); err != nil {
			t.Errorf("headers alone: %v", err)
		}
	})
}
