package cli

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ssdl/harness/data/features"
)

// featuresLine runs a command line and returns its exit code and output.
func featuresLine(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Main(t.Context(), nil, args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// TestFeatures goes the whole way from images to a checked data set, with a network that
// gives the means of the channels; testdata/features.txt has what needs no library.
func TestFeatures(t *testing.T) {
	if os.Getenv(features.LibraryVar) == "" {
		t.Skip("$" + features.LibraryVar + " is not set: no ONNX Runtime (make ort)")
	}
	dir := t.TempDir()
	for c, class := range []string{"dark", "light", "single"} {
		for i := range []int{4, 4, 1}[c] {
			img := image.NewRGBA(image.Rect(0, 0, 20+i, 15))
			for p := range img.Pix {
				img.Pix[p] = uint8(60*c + 3*i + p%50)
			}
			img.SetRGBA(0, 0, color.RGBA{uint8(i), uint8(c), 0, 255})
			var b bytes.Buffer
			if err := png.Encode(&b, img); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "photos", class, fmt.Sprintf("%d.png", i)), b.Bytes())
			if c == 1 && i == 0 {
				put(t, filepath.Join(dir, "photos", class, "same.png"), b.Bytes())
			}
		}
	}
	model := filepath.Join("..", "data", "features", "testdata", "means.onnx")
	photos, out := filepath.Join(dir, "photos"), filepath.Join(dir, "set")
	code, stdout, stderr := featuresLine(t, "features", "--images", photos, "--model", model, "--out", out, "--batch", "3")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		"set: 10 samples x 3 features, 3 classes of 1 to 5 samples\n",
		"class single has one image",
		"1 set of equal files (--drop-duplicates keeps one of each):\n  light/0.png = light/same.png\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%s\nlacks %q", stdout, want)
		}
	}
	code, stdout, stderr = featuresLine(t, "data", "check", out)
	if want := "set: 10 samples x 3 features (float32), 3 classes of 1 to 5 samples"; code != exitOK || !strings.HasPrefix(stdout, want) {
		t.Errorf("data check: exit %d, %s%s", code, stdout, stderr)
	}

	code, _, stderr = featuresLine(t, "features", "--images", photos, "--model", model, "--out", out)
	if code != exitUsage || !strings.Contains(stderr, "has a features.npy already") {
		t.Errorf("a set was not kept: exit %d, %s", code, stderr)
	}

	put(t, filepath.Join(photos, "dark", "bad.jpg"), nil)
	out = filepath.Join(dir, "other")
	code, stdout, stderr = featuresLine(t, "features", "--images", photos, "--model", model, "--out", out, "--drop-duplicates")
	if code != exitFailedRuns || !strings.Contains(stdout, "other: 9 samples") || !strings.Contains(stdout, "dark/bad.jpg: the file is empty") ||
		!strings.Contains(stdout, "1 duplicate left out") || !strings.Contains(stderr, "1 file was left out as unusable") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}

	out = filepath.Join(dir, "strict")
	code, stdout, stderr = featuresLine(t, "features", "--images", photos, "--model", model, "--out", out, "--strict")
	if code != exitNoData || stdout != "1 file cannot be used:\n  dark/bad.jpg: the file is empty\n" || !strings.Contains(stderr, "1 file cannot be used, so nothing was written") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("--strict wrote something: %v", err)
	}

	code, _, stderr = featuresLine(t, "features", "--images", photos, "--model", filepath.Join(dir, "absent.onnx"), "--out", filepath.Join(dir, "third"))
	if code != exitNoData || !strings.Contains(stderr, "absent.onnx") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	for range 2 { // the library can be opened anew
		if code, stdout, _ = featuresLine(t, "doctor"); code != exitOK || !strings.Contains(stdout, "ONNX Runtime 1.") {
			t.Errorf("exit %d, %s", code, stdout)
		}
	}
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
