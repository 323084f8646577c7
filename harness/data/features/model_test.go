package features

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A minimal writer of ONNX files: protocol buffers by hand, enough for a graph without weights.

func field(number int, content []byte) []byte {
	b := binary.AppendUvarint(nil, uint64(number)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

func number(field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3), v)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// tensor is an input or output: float32 (1) or int64 (7); a dimension of 0 is left open.
func tensor(name string, kind uint64, dims ...uint64) []byte {
	var shape []byte
	for _, d := range dims {
		dim := field(2, []byte("n"))
		if d > 0 {
			dim = number(1, d)
		}
		shape = append(shape, field(1, dim)...)
	}
	return join(field(1, []byte(name)), field(2, field(1, join(number(1, kind), field(2, shape)))))
}

// node applies op to one tensor.
func node(op, in, out string) []byte {
	return join(field(1, []byte(in)), field(2, []byte(out)), field(4, []byte(op)))
}

type graph struct{ nodes, inputs, outputs [][]byte }

func (g graph) onnx() []byte {
	var b []byte
	for _, n := range g.nodes {
		b = append(b, field(1, n)...)
	}
	b = append(b, field(2, []byte("tiny"))...)
	for _, n := range g.inputs {
		b = append(b, field(11, n)...)
	}
	for _, n := range g.outputs {
		b = append(b, field(12, n)...)
	}
	return join(number(1, 8), field(7, b), field(8, number(2, 13)))
}

// means is a network whose three features are the means of the channels.
func means(batch uint64) []byte {
	return graph{
		nodes:   [][]byte{node("GlobalAveragePool", "input", "pooled"), node("Flatten", "pooled", "features")},
		inputs:  [][]byte{tensor("input", 1, batch, 3, 224, 224)},
		outputs: [][]byte{tensor("features", 1, batch, 3)},
	}.onnx()
}

var update = flag.Bool("update", false, "write testdata/means.onnx anew")

// TestMeansModel: the model in testdata, which other packages test with, is the one that this file
// writes.
func TestMeansModel(t *testing.T) {
	const path = "testdata/means.onnx"
	if *update {
		write(t, path, string(means(0)))
	}
	b, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(b, means(0)) {
		t.Errorf("%s is out of date (%v); run the test with -update", path, err)
	}
}

func zipped(t *testing.T, content []byte) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestOpen(t *testing.T) {
	rt := testRuntime(t)
	flat := graph{
		nodes:   [][]byte{node("GlobalAveragePool", "x", "y")},
		inputs:  [][]byte{tensor("x", 1, 0, 3, 0, 0)},
		outputs: [][]byte{tensor("y", 1, 0, 3, 1, 1)},
	}.onnx()
	for name, c := range map[string]struct {
		onnx []byte
		want Model
	}{
		"open batch":  {means(0), Model{"net", digest(means(0)), "input", "features", 5, 3}},
		"fixed batch": {means(2), Model{"net", digest(means(2)), "input", "features", 2, 3}},
		"gzipped":     {[]byte(zipped(t, means(0))), Model{"net", digest(means(0)), "input", "features", 5, 3}},
		"not flat":    {flat, Model{"net", digest(flat), "x", "y", 5, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "net")
			write(t, path, string(c.onnx))
			n, err := rt.Open(path, 224, 5, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			if n.Model != c.want || n.Runtime != rt.Version {
				t.Errorf("%+v, expected %+v", n.Model, c.want)
			}
			for i := range n.in {
				n.in[i] = float32(i / (224 * 224)) // channel number, counted over all images
			}
			if err := n.run(); err != nil {
				t.Fatal(err)
			}
			for i, v := range n.out {
				if math.Abs(float64(v)-float64(i)) > 1e-4 {
					t.Fatalf("output %d is %v", i, v)
				}
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	rt := testRuntime(t)
	pool := node("GlobalAveragePool", "input", "pooled")
	one := func(op string, in, out []byte) string {
		return string(graph{nodes: [][]byte{node(op, "a", "b")}, inputs: [][]byte{in}, outputs: [][]byte{out}}.onnx())
	}
	for name, c := range map[string]struct{ content, want string }{
		"nothing":     {"", "is empty"},
		"zeros":       {zipped(t, make([]byte, freeModel+1)), "has more than 67108864 bytes, decompressed from"},
		"text":        {"this is no network", "not a usable ONNX file"},
		"LFS pointer": {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"},
		"broken gzip": {"\x1f\x8b\x08\x00", "unexpected EOF"},
		"two outputs": {string(graph{
			nodes:   [][]byte{pool, node("Flatten", "pooled", "features")},
			inputs:  [][]byte{tensor("input", 1, 0, 3, 224, 224)},
			outputs: [][]byte{tensor("features", 1, 0, 3), tensor("pooled", 1, 0, 3, 1, 1)},
		}.onnx()), "has 1 inputs and 2 outputs"},
		"one channel":   {one("GlobalAveragePool", tensor("a", 1, 0, 1, 224, 224), tensor("b", 1, 0, 1, 1, 1)), `the input "a" has shape [-1 1 224 224]`},
		"other size":    {one("GlobalAveragePool", tensor("a", 1, 0, 3, 299, 299), tensor("b", 1, 0, 3, 1, 1)), `the input "a" has shape [-1 3 299 299]`},
		"vast batch":    {one("GlobalAveragePool", tensor("a", 1, 1025, 3, 224, 224), tensor("b", 1, 1025, 3, 1, 1)), "expected a batch of at most 1024"},
		"no image":      {one("Relu", tensor("a", 1, 0, 3), tensor("b", 1, 0, 3)), `the input "a" has shape [-1 3]`},
		"whole images":  {one("Relu", tensor("a", 1, 0, 3, 224, 224), tensor("b", 1, 0, 3, 224, 224)), `the output "b" has shape [-1 3 224 224]`},
		"whole numbers": {one("Identity", tensor("a", 7, 0, 3, 224, 224), tensor("b", 7, 0, 3, 224, 224)), `"a" is not a float32 tensor`},
		"open features": {one("GlobalAveragePool", tensor("a", 1, 0, 3, 224, 224), tensor("b", 1, 0, 3, 0, 0)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "net.onnx")
			write(t, path, c.content)
			n, err := rt.Open(path, 224, 4, 1)
			if c.want == "" { // shape inference fills in the dimensions
				if err != nil {
					t.Fatal(err)
				}
				n.Close()
				return
			}
			if err == nil {
				n.Close()
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v\nlacks %q of %s", err, c.want, path)
			}
		})
	}
	if _, err := rt.Open(filepath.Join(t.TempDir(), "absent.onnx"), 224, 4, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestFindLibrary(t *testing.T) {
	dir := t.TempDir()
	lib := filepath.Join(dir, "lib.so")
	write(t, lib, "not a library")
	t.Setenv(LibraryVar, filepath.Join(dir, "other.so"))
	if path, where, err := FindLibrary(lib); path != lib || where != "--ort" || err != nil {
		t.Errorf("%s %s %v", path, where, err)
	}
	for _, c := range []struct{ flag, env, want string }{
		{"", filepath.Join(dir, "other.so"), "($" + LibraryVar + ")"},
		{filepath.Join(dir, "none.so"), lib, "(--ort)"},
		{dir, lib, "is a folder"},
		{"", "", "(beside the program)"},
	} {
		t.Setenv(LibraryVar, c.env)
		_, _, err := FindLibrary(c.flag)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		if c.want != "is a folder" && !strings.Contains(err.Error(), "make ort") {
			t.Errorf("%v lacks how to get it", err)
		}
	}
}

func TestOpenRuntimeRefusesWhatIsNoLibrary(t *testing.T) {
	lib := filepath.Join(t.TempDir(), "lib.so")
	write(t, lib, "not a library")
	if _, err := OpenRuntime(lib); err == nil || !strings.Contains(err.Error(), lib) || !strings.Contains(err.Error(), "make ort") {
		t.Errorf("%v", err)
	}
}
