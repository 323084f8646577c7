package tempfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The next temporary file removes those of killed processes, but none that is in use, young, or of another path.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "table.txt")
	long := time.Now().Add(-time.Hour)
	age := func(name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{".table.txt-123", ".table.txt-12a", ".other.txt-123", ".table.txt-", "table.txt-123", ".table.txt-9"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if name != ".table.txt-9" {
			age(name)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".table.txt-77", "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	age(".table.txt-77")
	used, err := create(target)
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	age(filepath.Base(used.Name()))
	folder, err := NewFolder(target)
	if err != nil {
		t.Fatal(err)
	}
	age(filepath.Base(folder.Path))
	last, err := create(target)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	want := []string{
		".other.txt-123", ".table.txt-", ".table.txt-12a", ".table.txt-9", "table.txt-123",
		filepath.Base(used.Name()), filepath.Base(folder.Path), filepath.Base(last.Name()),
	}
	slices.Sort(want)
	names := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("there is %v, want %v", got, want)
	}
	if err := folder.Remove(); err != nil {
		t.Error(err)
	}
	if slices.Contains(names(), filepath.Base(folder.Path)) {
		t.Error("the folder is still there")
	}
}

// Write replaces a file only by a complete one, and leaves no temporary file.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.txt")
	text := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		}
	}
	if err := Write(path, 0o640, text("old", nil)); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	if err := Write(path, 0o640, text("half", failed)); !errors.Is(err, failed) {
		t.Fatalf("error %v, want %v", err, failed)
	}
	content, err := os.ReadFile(path)
	entries, _ := os.ReadDir(dir)
	if err != nil || string(content) != "old" || len(entries) != 1 {
		t.Errorf("content %q, %v, entries %v", content, err, entries)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
