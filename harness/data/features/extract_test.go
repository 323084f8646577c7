package features

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/data"
)

const fakeDim = 5

// fake is a net without a library: its features are weighted means of the image.
func fake(batch int) *Net {
	side := ImageNet().Crop
	n := &Net{
		Model:   Model{File: "fake.onnx", SHA256: "0", Input: "input", Output: "features", Batch: batch, Dim: fakeDim},
		Runtime: "none",
		in:      make([]float32, batch*3*side*side),
		out:     make([]float32, batch*fakeDim),
		close:   func() {},
	}
	n.run = func() error {
		size := 3 * side * side
		for i := range batch {
			for k := range fakeDim {
				sum := float32(3) // positive, so that no image has only zeros
				for j := k; j < size; j += 97 * (k + 1) {
					sum += n.in[i*size+j] / 4096
				}
				n.out[i*fakeDim+k] = sum
			}
		}
		return nil
	}
	return n
}

// slow delays a net, so that a test can stop it while it runs.
func slow(n *Net, by time.Duration) *Net {
	run := n.run
	n.run = func() error {
		time.Sleep(by)
		return run()
	}
	return n
}

// imageFolder writes classes of n different small images each, some of them broken.
func imageFolder(t testing.TB, classes, n int) string {
	t.Helper()
	dir := t.TempDir()
	for c := range classes {
		sub := filepath.Join(dir, fmt.Sprintf("class%d", c))
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			img := image.NewRGBA(image.Rect(0, 0, 12, 9))
			for p := range 12 * 9 {
				img.SetRGBA(p%12, p/12, color.RGBA{uint8(p * (i + 1)), uint8(40 * c), uint8(p + 7*i), 255})
			}
			b := encodePNG(t, img)
			if i%7 == 3 {
				b = b[:20]
			}
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("%03d.png", i)), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func scan(t testing.TB, dir string) *Source {
	t.Helper()
	s, err := Scan(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// results returns the files of a folder by name.
func results(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func readMeta(t testing.TB, dir string) meta {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		t.Fatal(err)
	}
	var m meta
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestExtractVariedImages: unusable images are left out with their reasons; data.Load reads the
// others.
func TestExtractVariedImages(t *testing.T) {
	dir := t.TempDir()
	want := variedImages(t, dir)
	for name, content := range map[string][]byte{"b/only.png": encodePNG(t, corners(9, 9)), "c/none.jpg": []byte("nothing")} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want["b/only.png"], want["c/none.jpg"] = "", "the content is text/plain, expected JPEG, PNG or GIF"

	out := filepath.Join(t.TempDir(), "set")
	made, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	reasons := map[string]string{}
	for name, reason := range want {
		if reason == "" {
			good++
		} else {
			reasons[name] = reason
		}
	}
	got := map[string]string{}
	for _, s := range made.Skipped {
		got[s.File] = s.Reason
	}
	if d := cmp.Diff(reasons, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "b"}, made.Classes); d != "" || made.Samples != good || made.Counts[1] != 1 {
		t.Errorf("%d samples of classes %v, counts %v", made.Samples, made.Classes, made.Counts)
	}
	if d := cmp.Diff([]string{"c"}, made.EmptyClasses); d != "" {
		t.Error(d)
	}

	set, err := data.Load(t.Context(), out, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if set.Samples() != good || set.Dim() != fakeDim || set.DType != "float32" || len(set.Files) != good {
		t.Errorf("read back: %d samples, %d features of %s", set.Samples(), set.Dim(), set.DType)
	}
	m := readMeta(t, out)
	if len(m.Skipped) != len(reasons) || len(m.FileSHA256) != good || m.Recipe.Preprocessing != ImageNet() || m.Model.SHA256 != "0" || m.Libraries["onnxruntime"] != "none" {
		t.Errorf("meta.json says %+v", m)
	}
	for i, name := range m.Files {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || digest(b) != m.FileSHA256[i] {
			t.Errorf("%s: another hash (%v)", name, err)
		}
	}
	if names := results(t, out); len(names) != 3 {
		t.Errorf("%d files are left in the folder", len(names))
	}
}

// TestFeaturesAreThoseOfTheirImage: every row is the output of the net for its image.
func TestFeaturesAreThoseOfTheirImage(t *testing.T) {
	dir := imageFolder(t, 3, 10)
	out := t.TempDir()
	if _, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	set, err := data.Load(t.Context(), out, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range infer(t, fake(1), crops(t, dir, set.Files)) {
		norm := 0.0
		for _, v := range f {
			norm += float64(v) * float64(v)
		}
		for k, v := range f {
			if want := float64(v) / math.Sqrt(norm); math.Abs(set.X.At(k, i)-want) > 1e-12 {
				t.Fatalf("%s: feature %d is %v, expected %v", set.Files[i], k, set.X.At(k, i), want)
			}
		}
		if class := set.Classes[set.Labels[i]]; !strings.HasPrefix(set.Files[i], class+"/") {
			t.Errorf("%s is of %s", set.Files[i], class)
		}
	}
}

// TestNothingDependsOnWorkersOrBatch: the bytes are the same, except for the recorded batch.
func TestNothingDependsOnWorkersOrBatch(t *testing.T) {
	dir := imageFolder(t, 3, 10)
	var first map[string]string
	for _, c := range []struct{ workers, batch int }{{1, 4}, {7, 4}, {2, 1}, {3, 100}} {
		out := t.TempDir()
		if _, err := Extract(t.Context(), scan(t, dir), fake(c.batch), Options{Out: out, Workers: c.workers}); err != nil {
			t.Fatal(err)
		}
		got := results(t, out)
		got[metaFile] = strings.Replace(got[metaFile], fmt.Sprintf(`"batch": %d`, c.batch), `"batch": 4`, 1)
		if first == nil {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Errorf("%+v: %s", c, d)
		}
	}
}

func TestOfficialSplit(t *testing.T) {
	dir := imageFolder(t, 2, 4)
	if err := os.Mkdir(filepath.Join(dir, "ImageSplits"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "JPEGImages"), 0o755); err != nil {
		t.Fatal(err)
	}
	for c := range 2 {
		for i := range 4 {
			if err := os.Rename(filepath.Join(dir, fmt.Sprintf("class%d/%03d.png", c, i)), filepath.Join(dir, fmt.Sprintf("JPEGImages/class%d_%03d.png", c, i))); err != nil {
				t.Fatal(err)
			}
		}
		for part, files := range map[string][]int{"train": {2, 3}, "test": {0, 1}} { // 3 is broken
			text := fmt.Sprintf("class%d_%03d.png\nclass%d_%03d.png\n", c, files[0], c, files[1])
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("ImageSplits/class%d_%s.txt", c, part)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Features may be beside the photographs.
	if _, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: dir}); err != nil {
		t.Fatal(err)
	}
	set, err := data.Load(t.Context(), dir, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	split, err := data.MakeSplit(set, data.SplitSpec{Kind: "official"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{2, 5}, split.Train); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{0, 1, 3, 4}, split.Test); d != "" {
		t.Error(d)
	}
}

func TestDuplicates(t *testing.T) {
	dir := imageFolder(t, 2, 3)
	copyTo := func(from, to string) {
		b, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copyTo("class0/001.png", "class0/009.png")
	copyTo("class0/001.png", "class1/000.png")
	copyTo("class1/002.png", "class1/003.png")

	out := t.TempDir()
	sum, err := Extract(t.Context(), scan(t, dir), fake(2), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	want := []Duplicate{
		{Files: []string{"class0/001.png", "class0/009.png", "class1/000.png"}, Classes: true},
		{Files: []string{"class1/002.png", "class1/003.png"}},
	}
	if d := cmp.Diff(want, sum.Duplicates); d != "" || sum.Samples != 8 || len(sum.Dropped) != 0 {
		t.Errorf("%d samples: %s", sum.Samples, d)
	}
	if d := cmp.Diff(want, readMeta(t, out).Duplicates); d != "" {
		t.Error(d)
	}

	out = t.TempDir()
	sum, err = Extract(t.Context(), scan(t, dir), fake(2), Options{Out: out, DropDuplicates: true})
	if err != nil {
		t.Fatal(err)
	}
	dropped := []Dropped{{"class0/009.png", "class0/001.png"}, {"class1/000.png", "class0/001.png"}, {"class1/003.png", "class1/002.png"}}
	if d := cmp.Diff(dropped, sum.Dropped); d != "" || sum.Samples != 5 || len(sum.Duplicates)+len(sum.Skipped) != 0 {
		t.Errorf("%d samples: %s", sum.Samples, d)
	}
	if d := cmp.Diff(dropped, readMeta(t, out).Dropped); d != "" {
		t.Error(d)
	}
}

// TestUnusableFeaturesAreLeftOut: features that data.Load would refuse are left out.
func TestUnusableFeaturesAreLeftOut(t *testing.T) {
	dir := imageFolder(t, 2, 3)
	n := fake(2)
	run, calls := n.run, 0
	n.run = func() error {
		err := run()
		switch calls++; calls {
		case 1:
			n.out[1*fakeDim+2] = float32(math.NaN()) // class0/001.png
		case 2:
			clear(n.out[:fakeDim]) // class0/002.png
		case 3:
			n.out[0] = float32(math.Inf(-1)) // class1/001.png
		}
		return err
	}
	out := t.TempDir()
	sum, err := Extract(t.Context(), scan(t, dir), n, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sum.Skipped {
		got = append(got, s.File+": "+s.Reason)
	}
	if d := cmp.Diff([]string{
		"class0/001.png: the network gives a feature that is not finite",
		"class0/002.png: the network gives zeros only",
		"class1/001.png: the network gives a feature that is not finite",
	}, got); d != "" {
		t.Error(d)
	}
	if set, err := data.Load(t.Context(), out, data.Options{}); err != nil || set.Samples() != 3 {
		t.Errorf("%v", err)
	}
}

// TestCopiesOfUnusableImages: copies of an image with unusable features are not duplicates of a
// sample, in the same batch, in a later one and after a stop.
func TestCopiesOfUnusableImages(t *testing.T) {
	dir := imageFolder(t, 2, 3)
	b, err := os.ReadFile(filepath.Join(dir, "class0/000.png"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "class0/001.png"), string(b))
	write(t, filepath.Join(dir, "class1/002.png"), string(b))
	useless := infer(t, fake(1), crops(t, dir, []string{"class0/000.png"}))[0]
	// The call at which net fails; 0 for none.
	net := func(fails int) *Net {
		n := fake(2)
		run, calls := n.run, 0
		n.run = func() error {
			if calls++; calls == fails {
				return errors.New("the power fails")
			}
			err := run()
			for f := range slices.Chunk(n.out, fakeDim) {
				if slices.Equal(f, useless) {
					f[0] = float32(math.NaN())
				}
			}
			return err
		}
		return n
	}
	whole, stopped := t.TempDir(), t.TempDir()
	sum, err := Extract(t.Context(), scan(t, dir), net(0), Options{Out: whole, DropDuplicates: true})
	if err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, s := range sum.Skipped {
		skipped = append(skipped, s.File)
	}
	if d := cmp.Diff([]string{"class0/000.png", "class0/001.png", "class1/002.png"}, skipped); d != "" || len(sum.Dropped) != 0 || sum.Samples != 3 {
		t.Errorf("%d samples, %v are the same as others; left out: %s", sum.Samples, sum.Dropped, d)
	}
	if _, err := Extract(t.Context(), scan(t, dir), net(2), Options{Out: stopped, DropDuplicates: true}); err == nil {
		t.Fatal("it was not stopped")
	}
	if _, err := Extract(t.Context(), scan(t, dir), net(0), Options{Out: stopped, DropDuplicates: true}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(results(t, whole), results(t, stopped)); d != "" {
		t.Error("after a stop:", d)
	}
}

func TestExtractNeedsTwoClasses(t *testing.T) {
	dir := tree(t, map[string]string{"a/1.jpg": "no", "b/1.jpg": "image"})
	out := t.TempDir()
	sum, err := Extract(t.Context(), scan(t, dir), fake(2), Options{Out: out})
	if err == nil || !strings.Contains(err.Error(), "0 classes") || sum == nil || len(sum.Skipped) != 2 {
		t.Errorf("%v, %+v", err, sum)
	}
	for name := range results(t, out) {
		if name != journalFile {
			t.Errorf("%s was written", name)
		}
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	want := variedImages(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b", "x.png"), encodePNG(t, corners(9, 9)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "b", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	bad, err := Check(t.Context(), scan(t, dir), 3)
	if err != nil {
		t.Fatal(err)
	}
	n := 1 // the folder
	for _, reason := range want {
		if reason != "" {
			n++
		}
	}
	if len(bad) != n || bad[0].File != "b/sub" || bad[1].File != "a/bomb.png" {
		t.Errorf("%d of %d: %+v", len(bad), n, bad)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, scan(t, dir), 3); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOutputIsNotOverwritten(t *testing.T) {
	dir := imageFolder(t, 2, 3)
	for _, name := range []string{featuresFile, labelsFile, officialFile, metaFile} {
		out := t.TempDir()
		write(t, filepath.Join(out, name), "precious")
		_, err := Extract(t.Context(), scan(t, dir), fake(2), Options{Out: out})
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(map[string]string{name: "precious"}, results(t, out)); d != "" {
			t.Error(d)
		}
	}
}

func TestTooManyValues(t *testing.T) {
	n := fake(1)
	n.Model.Dim = data.MaxValues / 5
	_, err := Extract(t.Context(), scan(t, imageFolder(t, 2, 3)), n, Options{Out: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "values that a data set may have") {
		t.Errorf("%v", err)
	}
}

func TestProgressInLines(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b, false)
	dir := imageFolder(t, 2, 10)
	if _, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: t.TempDir(), Progress: p}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"20 images to do\n", "class0/003.png: left out: the image is truncated\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q\nlacks %q", text, want)
		}
	}
	b.Reset()
	p.begin(10)
	p.start, p.lastLine = p.start.Add(-20*time.Second), p.lastLine.Add(-20*time.Second)
	p.done = 3
	p.step()
	if want := "4/10 images, 0.2 per second, 30s left\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("%q, expected %q", b.String(), want)
	}
	// A progress bar that ends early does not block.
	p = NewProgress(io.Discard, true)
	p.begin(3)
	p.step()
	p.note("a word")
	p.end()
}

func TestNPYHeader(t *testing.T) {
	var b bytes.Buffer
	if err := data.WriteNPYHeader(&b, "<f4", "(3, 2048)"); err != nil {
		t.Fatal(err)
	}
	h := b.Bytes()
	if len(h)%64 != 0 || h[len(h)-1] != '\n' || int(h[8])+int(h[9])<<8 != len(h)-10 || !slices.Equal(h[:8], []byte("\x93NUMPY\x01\x00")) {
		t.Errorf("%q", h)
	}
}

// data.Load accepts the longest names that Scan accepts.
func TestLongestNames(t *testing.T) {
	dir := imageFolder(t, 1, 3)
	long := strings.Repeat("c", data.MaxName)
	if err := os.Rename(filepath.Join(dir, "class0"), filepath.Join(dir, long)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "list.csv"), long+"/000.png,"+long+"\n"+long+"/001.png,b\n")
	src, err := Scan("", filepath.Join(dir, "list.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	out := t.TempDir()
	if _, err := Extract(t.Context(), src, fake(2), Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	if _, err := data.Load(t.Context(), out, data.Options{}); err != nil {
		t.Error(err)
	}
}
