package features

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"ssdl/harness/data"
)

// The tests of this file need ONNX Runtime ($SSDL_ORT_LIB). Some also need a ResNet-50
// ($SSDL_MODEL) and photographs with features ($SSDL_DATA/stanford40).

var openRuntime = sync.OnceValues(func() (*Runtime, error) {
	path, _, err := FindLibrary("")
	if err != nil {
		return nil, err
	}
	return OpenRuntime(path)
})

func testRuntime(t testing.TB) *Runtime {
	t.Helper()
	if os.Getenv(LibraryVar) == "" {
		t.Skip("$" + LibraryVar + " is not set: no ONNX Runtime (make ort)")
	}
	rt, err := openRuntime()
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// resnet opens the ResNet-50 of $SSDL_MODEL.
func resnet(t testing.TB, batch, threads int) *Net {
	t.Helper()
	if testing.Short() {
		t.Skip("a ResNet-50 takes some seconds")
	}
	rt := testRuntime(t)
	path := os.Getenv("SSDL_MODEL")
	if path == "" {
		t.Skip("$SSDL_MODEL is not set: no ResNet-50 (.onnx or .onnx.gz)")
	}
	n, err := rt.Open(path, ImageNet().Crop, batch, threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// photographs returns the folder and the names of the photographs of $SSDL_DATA.
func photographs(t testing.TB) (string, []string) {
	t.Helper()
	dir := filepath.Join(os.Getenv("SSDL_DATA"), "stanford40", "images")
	paths, err := filepath.Glob(filepath.Join(dir, "*.jpg"))
	if os.Getenv("SSDL_DATA") == "" || err != nil || len(paths) == 0 {
		t.Skip("no photographs in $SSDL_DATA/stanford40/images")
	}
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	return dir, paths
}

func crops(t testing.TB, dir string, names []string) [][]uint8 {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d := newDecoder(root, ImageNet())
	out := make([][]uint8, len(names))
	for i, name := range names {
		l := d.load(t.Context(), name)
		if l.crop == nil {
			t.Fatalf("%s: %s %v", name, l.reason, l.err)
		}
		out[i] = l.crop
	}
	return out
}

// infer runs crops through a net. The last batch is padded with crops of the previous one.
func infer(t testing.TB, n *Net, crops [][]uint8) [][]float32 {
	t.Helper()
	table := ImageNet().normalised()
	var out [][]float32
	for batch := range slices.Chunk(crops, n.Model.Batch) {
		for i, c := range batch {
			fill(n.in[i*len(c):][:len(c)], c, &table)
		}
		if err := n.run(); err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			out = append(out, slices.Clone(n.out[i*n.Model.Dim:][:n.Model.Dim]))
		}
	}
	return out
}

// TestCosineWithPublishedFeatures: the features of the eighty photographs agree with those in
// $SSDL_DATA, made with another decoder and another resize.
func TestCosineWithPublishedFeatures(t *testing.T) {
	dir, names := photographs(t)
	n := resnet(t, 8, 2)
	set, err := data.Load(t.Context(), filepath.Join(os.Getenv("SSDL_DATA"), "stanford40"), data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	least, total := 1.0, 0.0
	for i, f := range infer(t, n, crops(t, dir, names)) {
		j := slices.Index(set.Files, names[i])
		if j < 0 {
			t.Fatalf("%s has no features in $SSDL_DATA", names[i])
		}
		dot, norm := 0.0, 0.0
		for k, v := range f {
			dot += float64(v) * set.X.At(k, j)
			norm += float64(v) * float64(v)
		}
		cosine := dot / math.Sqrt(norm)
		if cosine < 0.999 {
			t.Errorf("%s: cosine %.5f with the features of $SSDL_DATA, expected at least 0.999", names[i], cosine)
		}
		least, total = min(least, cosine), total+cosine
	}
	t.Logf("%d photographs: cosine at least %.5f, mean %.5f", len(names), least, total/float64(len(names)))
}

// TestFeaturesDoNotDependOnTheBatch: the features of an image have the same bits at every position
// of a batch, beside any images, with any batch size and number of threads.
func TestFeaturesDoNotDependOnTheBatch(t *testing.T) {
	dir, names := photographs(t)
	images := crops(t, dir, names[:4])
	four := resnet(t, 4, 2)
	want := infer(t, four, images)
	same := func(what string, got [][]float32) {
		t.Helper()
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: %s has other features", what, names[i])
			}
		}
	}
	reversed := slices.Clone(images)
	slices.Reverse(reversed)
	got := infer(t, four, reversed)
	slices.Reverse(got)
	same("reversed", got)
	same("three at a time, the last batch padded", infer(t, resnet(t, 3, 2), images))
	same("one at a time", infer(t, resnet(t, 1, 2), images))
	same("one thread", infer(t, resnet(t, 4, 1), images))
}

// The pipeline should reach at least 0.8 of the throughput of the session alone.
func BenchmarkPipeline(b *testing.B) {
	dir, names := photographs(b)
	n := resnet(b, 8, runtime.GOMAXPROCS(0))
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	src := &Source{Classes: []string{"a", "b"}, root: root}
	for i, name := range names {
		src.Images = append(src.Images, Image{Path: name, Class: i % 2})
	}
	for b.Loop() {
		if _, err := Extract(b.Context(), src, n, Options{Out: b.TempDir()}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(names))/b.Elapsed().Seconds(), "images/s")
}

func BenchmarkSession(b *testing.B) {
	_, names := photographs(b)
	n := resnet(b, 8, runtime.GOMAXPROCS(0))
	for b.Loop() {
		for range len(names) / n.Model.Batch {
			if err := n.run(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(names))/b.Elapsed().Seconds(), "images/s")
}

func BenchmarkDecode(b *testing.B) {
	dir, names := photographs(b)
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	d := newDecoder(root, ImageNet())
	for i := 0; b.Loop(); i++ {
		if l := d.load(b.Context(), names[i%len(names)]); l.crop == nil {
			b.Fatal(l.reason)
		}
	}
}
