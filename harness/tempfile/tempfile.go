// Package tempfile makes temporary files and folders, and files that appear only when they are complete. A
// temporary file lies beside the path that it is for, under a name that begins with a dot. The next one for the
// same path removes those that a killed process left.
package tempfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ssdl/harness/filelock"
)

// Write lets write fill the file at path, which appears or is replaced only when it is complete and on the
// disk. It follows links, and writes devices and pipes directly. A new file has mode, less what the umask takes.
func Write(path string, mode os.FileMode, write func(io.Writer) error) error {
	path, direct, err := resolve(path)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	if direct {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w", path, err)
		}
		return errors.Join(write(f), f.Close())
	}
	tmp, err := create(path, mode)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w; the folder must exist and be writable", path, err)
	}
	defer os.Remove(tmp.Name()) // renamed unless there was an error
	out := bufio.NewWriterSize(tmp, 1<<20)
	if err = write(out); err == nil {
		err = errors.Join(out.Flush(), tmp.Sync())
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// resolve follows links. It reports whether the file must be written in place: a device, a pipe.
func resolve(path string) (_ string, direct bool, err error) {
	is, err := os.Stat(path)
	if err == nil && !is.Mode().IsRegular() {
		return path, !is.IsDir(), nil // a folder fails later
	}
	if link, err := os.Lstat(path); err != nil || link.Mode().Type() != fs.ModeSymlink {
		return path, false, nil
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, false, fmt.Errorf("it is a link to nothing: %w", err)
	}
	return to, false, nil
}

// create makes an empty file beside path, which is locked while it is open.
func create(path string, mode os.FileMode) (*os.File, error) {
	sweep(path)
	for {
		name := filepath.Join(filepath.Dir(path), prefix(path, filePart)+strconv.FormatUint(uint64(rand.Uint32()), 10))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode) // unlike os.CreateTemp, with the umask
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			filelock.TryLock(f) // on a file system without locks a file that a killed process leaves is not removed
		}
		return f, err
	}
}

// Folder is a temporary folder.
type Folder struct {
	Path string
	lock *os.File
}

// NewFolder makes an empty folder beside path.
func NewFolder(path string) (*Folder, error) {
	sweep(path)
	dir, err := os.MkdirTemp(filepath.Dir(path), prefix(path, folderPart)+"*")
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

// Parts of the names of temporary files and folders, which no file of a user has.
const filePart, folderPart = "ssdl-file", "ssdl-folder"

// prefix begins the names of temporary files or folders for path; digits follow.
func prefix(path, part string) string { return "." + filepath.Base(path) + "." + part + "-" }

// youngest is the age from which an unlocked file is removed: a younger one may be about to be locked.
const youngest = time.Minute

// sweep removes the temporary files and folders for path that killed processes left, as far as it can.
func sweep(path string) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		part := filePart
		switch {
		case e.IsDir():
			part = folderPart
		case !e.Type().IsRegular():
			continue
		}
		digits, ours := strings.CutPrefix(e.Name(), prefix(path, part))
		if !ours || digits == "" || strings.Trim(digits, "0123456789") != "" {
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
