package tempfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What a killed process left is removed at the next start; what is in use, young, or somebody else's, is not.
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
	used, err := File(target)
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
	last, err := File(target)
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
