// Package tempfile makes temporary files and folders, and files that appear only when they are complete. A
// temporary file lies beside the path that it is for, under a name that begins with a dot. The next one for the
// same path removes those that a killed process left.
package tempfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ssdl/harness/filelock"
)

// Write lets write fill the file at path, which appears or is replaced only when it is complete and on the
// disk.
func Write(path string, mode os.FileMode, write func(io.Writer) error) error {
	tmp, err := create(path)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w; the folder must exist and be writable", path, err)
	}
	defer os.Remove(tmp.Name()) // renamed unless there was an error
	out := bufio.NewWriterSize(tmp, 1<<20)
	if err = write(out); err == nil {
		err = errors.Join(out.Flush(), tmp.Chmod(mode), tmp.Sync())
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// create makes an empty file beside path, which is locked while it is open.
func create(path string) (*os.File, error) {
	sweep(path)
	f, err := os.CreateTemp(filepath.Dir(path), pattern(path))
	if err == nil {
		filelock.TryLock(f) // on a file system without locks a file that a killed process leaves is not removed
	}
	return f, err
}

// Folder is a temporary folder.
type Folder struct {
	Path string
	lock *os.File
}

// NewFolder makes an empty folder beside path.
func NewFolder(path string) (*Folder, error) {
	sweep(path)
	dir, err := os.MkdirTemp(filepath.Dir(path), pattern(path))
	if err != nil {
		return nil, err
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	filelock.TryLock(lock)
	return &Folder{dir, lock}, nil
}

// System makes an empty folder in the system's folder for temporary files.
func System() (*Folder, error) { return NewFolder(filepath.Join(os.TempDir(), "ssdl")) }

// Remove removes the folder with its content.
func (f *Folder) Remove() error {
	f.lock.Close()
	return os.RemoveAll(f.Path)
}

// pattern is the pattern of the names of temporary files for path; digits replace the star.
func pattern(path string) string { return "." + filepath.Base(path) + "-*" }

// youngest is the age from which an unlocked file is removed: a younger one may be about to be locked.
const youngest = time.Minute

// sweep removes the temporary files for path that killed processes left, as far as it can.
func sweep(path string) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	prefix := strings.TrimSuffix(pattern(path), "*")
	for _, e := range entries {
		digits, ours := strings.CutPrefix(e.Name(), prefix)
		if !ours || digits == "" || strings.Trim(digits, "0123456789") != "" || !(e.IsDir() || e.Type().IsRegular()) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= youngest {
			removeUnlocked(filepath.Join(dir, e.Name()))
		}
	}
}

func removeUnlocked(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	free, err := filelock.TryLock(f)
	f.Close()
	if free && err == nil {
		os.RemoveAll(path)
	}
}
