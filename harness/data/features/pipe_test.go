//go:build unix

package features

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Opening a pipe without a writer waits for ever.
func TestPipes(t *testing.T) {
	pipe := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
		return path
	}
	refused := func(what string, f func() error) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- f() }()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "is a named pipe") && !strings.Contains(err.Error(), "is not a folder") {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: still waiting", what)
		}
	}
	path := pipe(filepath.Join(t.TempDir(), "pipe"))
	stanford := tree(t, map[string]string{"JPEGImages/a_1.jpg": "", "ImageSplits/b_test.txt": "b_1.jpg\n"})
	pipe(filepath.Join(stanford, "ImageSplits", "a_test.txt"))
	images, out := imageFolder(t, 2, 3), t.TempDir()
	pipe(filepath.Join(out, journalFile))
	refused("the list", func() error { _, err := Scan("", path); return err })
	refused("the images", func() error { _, err := Scan(path, ""); return err })
	refused("the lists of a split", func() error { _, err := Scan(stanford, ""); return err })
	refused("the model", func() error { _, err := readModel(path); return err })
	refused("the library", func() error { _, _, err := FindLibrary(path); return err })
	refused("the journal", func() error {
		_, err := Extract(t.Context(), scan(t, images), fake(2), Options{Out: out})
		return err
	})

	pipe(filepath.Join(images, "class0", "pipe.jpg"))
	sum, err := Extract(t.Context(), scan(t, images), fake(2), Options{Out: t.TempDir()})
	if err != nil || len(sum.Skipped) != 1 || sum.Skipped[0].Reason != "the file is a named pipe, expected a regular file" {
		t.Errorf("an image: %v, %+v", err, sum)
	}
}
