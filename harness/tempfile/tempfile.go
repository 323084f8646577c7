// Package tempfile makes files and folders that get their name once they are complete. They lie beside the
// path they are for, under a name that begins with a point; those that a killed process left there are
// removed when the next one for the same path is made.
package tempfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ssdl/harness/filelock"
)

// File is a new empty file beside path, which is locked as long as it is open.
func File(path string) (*os.File, error) {
	sweep(path)
	f, err := os.CreateTemp(filepath.Dir(path), pattern(path))
	if err == nil {
		filelock.TryLock(f) // where a file system has no locks, nobody can tell what was left: it stays
	}
	return f, err
}

// Folder is a temporary folder.
type Folder struct {
	Path string
	lock *os.File
}

// NewFolder is a new empty folder beside path.
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

// System is a new empty folder where the system has such.
func System() (*Folder, error) { return NewFolder(filepath.Join(os.TempDir(), "ssdl")) }

// Remove removes the folder, if it is still there, with all that is in it.
func (f *Folder) Remove() error {
	f.lock.Close()
	return os.RemoveAll(f.Path)
}

// pattern is that of the names of temporary files for path; digits take the place of the star.
func pattern(path string) string { return "." + filepath.Base(path) + "-*" }

// youngest is the age from which on a file that nobody has locked was left behind: a new one is about to be
// locked.
const youngest = time.Minute

// sweep removes what killed processes left beside path. What cannot be removed stays.
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
