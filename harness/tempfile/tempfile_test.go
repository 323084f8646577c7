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
	file, folder := prefix(target, filePart), prefix(target, folderPart)
	long := time.Now().Add(-time.Hour)
	age := func(name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{file + "123", file + "12a", ".other.txt.ssdl-file-123", file, "table.txt-123", ".table.txt-123", file + "9"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if name != file+"9" {
			age(name)
		}
	}
	for _, name := range []string{folder + "77", ".table.txt-20240101", file + "78"} { // the last two are a user's
		if err := os.MkdirAll(filepath.Join(dir, name, "in"), 0o755); err != nil {
			t.Fatal(err)
		}
		age(name)
	}
	used, err := create(target, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	age(filepath.Base(used.Name()))
	made, err := NewFolder(target)
	if err != nil {
		t.Fatal(err)
	}
	age(filepath.Base(made.Path))
	last, err := create(target, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	want := []string{
		".other.txt.ssdl-file-123", file, file + "12a", file + "9", "table.txt-123", ".table.txt-123", ".table.txt-20240101", file + "78",
		filepath.Base(used.Name()), filepath.Base(made.Path), filepath.Base(last.Name()),
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
	if err := made.Remove(); err != nil {
		t.Error(err)
	}
	if slices.Contains(names(), filepath.Base(made.Path)) {
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

// A link leads to the file that is written, a pipe is written as it is, and the umask counts.
func TestWriteWhereALinkLeads(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real.txt"), filepath.Join(dir, "link.txt")
	hello := func(w io.Writer) error {
		_, err := io.WriteString(w, "hello")
		return err
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.txt", link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, 0o644, hello); err != nil {
		t.Fatal(err)
	}
	if is, err := os.Lstat(link); err != nil || is.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is now %v, %v", is.Mode(), err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "hello" {
		t.Errorf("the file has %q, %v", b, err)
	}
	if err := os.Symlink("nothing.txt", filepath.Join(dir, "loose")); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "loose"), 0o644, hello); err == nil {
		t.Error("a link to nothing was written")
	}
	if err := Write(os.DevNull, 0o644, hello); err != nil {
		t.Error(err)
	}
	if is, err := os.Stat(os.DevNull); err != nil || is.Mode().IsRegular() {
		t.Errorf("%s is now %v, %v", os.DevNull, is.Mode(), err)
	}
}
