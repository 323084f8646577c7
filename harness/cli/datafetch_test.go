package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ssdl runs a command line and returns its exit code and output.
func ssdl(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Main(context.Background(), nil, args, nil, &out, &err)
	return code, out.String(), err.String()
}

// authors serves archives with the names of Stanford40's.
func authors(t *testing.T, archives map[string][]string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for name, files := range archives {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, f := range files {
			w, err := z.Create(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(w, "content of ", f)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		mux.HandleFunc("/mirror/"+name, func(w http.ResponseWriter, _ *http.Request) { w.Write(b.Bytes()) })
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestDataFetch(t *testing.T) {
	s := authors(t, map[string][]string{
		"Stanford40_JPEGImages.zip":  {"JPEGImages/applauding_001.jpg", "JPEGImages/applauding_002.jpg", "JPEGImages/running_001.JPG"},
		"Stanford40_ImageSplits.zip": {"ImageSplits/actions.txt"},
	})
	to := filepath.Join(t.TempDir(), "images")
	args := []string{"data", "fetch", "stanford40", "--to", to, "--from", s.URL + "/mirror/"}
	code, stdout, stderr := ssdl(t, args...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	dir := filepath.Join(to, "stanford40")
	for _, want := range []string{
		"stanford40: 3 photographs in " + dir + " (4 files",
		"Stanford40_ImageSplits.zip: ", "no hash", "licence: ", "cite: B. Yao",
		"next: ssdl features --images " + dir + " --model resnet50.onnx --out data/stanford40",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "has 9532 photographs according to its authors, not 3") {
		t.Errorf("the number of photographs is not doubted:\n%s", stderr)
	}
	for _, path := range []string{"stanford40/JPEGImages/running_001.JPG", "stanford40/ImageSplits/actions.txt", "downloads/Stanford40_JPEGImages.zip", "downloads/Stanford40_JPEGImages.zip.json"} {
		if _, err := os.Stat(filepath.Join(to, path)); err != nil {
			t.Error(err)
		}
	}
	// A file that fails its check is renamed, named, and fetched again.
	archive := filepath.Join(to, "downloads", "Stanford40_JPEGImages.zip")
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(archive, []byte("rotten"), 0o644)); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = ssdl(t, args...)
	if kept, err := filepath.Glob(archive + "*.damaged*"); err != nil || code != exitOK || len(kept) != 1 || !strings.Contains(stderr, "ssdl: "+kept[0]+" is kept beside the new file: it ") {
		t.Errorf("a damaged archive: exit code %d, kept %v (%v): %s%s", code, kept, err, stdout, stderr)
	}
	// Once more there is nothing to do; with the archives alone no server is needed.
	s.Close()
	if code, stdout, stderr := ssdl(t, args...); code != exitOK || !strings.Contains(stdout, "unpacked earlier") {
		t.Errorf("the second time: exit code %d: %s%s", code, stdout, stderr)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := ssdl(t, args...); code != exitOK || !strings.Contains(stdout, "(4 files") {
		t.Errorf("from the archives: exit code %d: %s%s", code, stdout, stderr)
	}
}

// Without a network, or without the file on the server, the error says how to get it by hand.
func TestDataFetchTellsTheManualWay(t *testing.T) {
	gone := authors(t, nil)
	offline := authors(t, nil)
	offline.Close()
	for _, c := range []struct{ url, want string }{
		{gone.URL, "404 Not Found"},
		{offline.URL, "cannot be reached"},
	} {
		to := filepath.Join(t.TempDir(), "images")
		code, _, stderr := ssdl(t, "data", "fetch", "uiuc-se", "--to", to, "--from", c.url)
		if code != exitNoData {
			t.Errorf("exit code %d", code)
		}
		for _, want := range []string{
			c.want, "By hand: put these files into " + filepath.Join(to, "downloads"), c.url + "/event_dataset.rar",
			"http://vision.stanford.edu/lijiali/event_dataset/",
		} {
			if !strings.Contains(stderr, want) {
				t.Errorf("the message lacks %q:\n%s", want, stderr)
			}
		}
		if _, err := os.Stat(filepath.Join(to, "uiuc-se")); err == nil {
			t.Error("a folder was made")
		}
	}
}

func TestFindPhotographs(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		n     int
		root  string
	}{
		"one folder for all":     {[]string{"JPEGImages/a.jpg", "JPEGImages/b.png", "ImageSplits/a.txt"}, 2, "."},
		"a folder per class":     {[]string{"event/img/polo/1.jpg", "event/img/rowing/1.JPEG", "event/readme.txt"}, 2, "event/img"},
		"folders of other depth": {[]string{"x/a/1.jpg", "x/b/c/1.jpg"}, 2, "x"},
		"nothing in between":     {[]string{"1.jpg", "2.jpg"}, 2, "."},
		"at the top as well":     {[]string{"1.jpg", "a/2.jpg"}, 2, "."},
		"none":                   {[]string{"a/readme.txt"}, 0, "."},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			path := filepath.Join(dir, f)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		n, root, err := findPhotographs(dir)
		if err != nil || n != c.n || root != filepath.Join(dir, c.root) {
			t.Errorf("%s: %d in %s, want %d in %s: %v", name, n, root, c.n, c.root, err)
		}
	}
}

func TestDataCroissant(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	npy := func(name, descr, shape string, values []byte) {
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
		b := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
		if err := os.WriteFile(filepath.Join(dir, name), append(append(b, header...), values...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	npy("features.npy", "|i1", "(2, 3)", []byte{1, 2, 3, 4, 5, 6})
	npy("labels.npy", "|i1", "(2,)", []byte{0, 1})
	code, stdout, stderr := ssdl(t, "data", "croissant", dir)
	if code != exitOK || !json.Valid([]byte(stdout)) || !strings.Contains(stdout, `"conformsTo"`) {
		t.Errorf("exit code %d: %s", code, stdout)
	}
	if !strings.Contains(stderr, "license, creators, url, date_published. Add them to meta.json") {
		t.Errorf("what is missing is not told: %s", stderr)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("the folder of the data has %v: %v", left, err)
	}
	file := filepath.Join(t.TempDir(), "croissant.json")
	if code, said, stderr := ssdl(t, "data", "croissant", dir, "-o", file); code != exitOK || said != "" {
		t.Errorf("exit code %d: %s%s", code, said, stderr)
	}
	if written, err := os.ReadFile(file); err != nil || string(written) != stdout {
		t.Errorf("%s: %v\n%s", file, err, written)
	}
}
