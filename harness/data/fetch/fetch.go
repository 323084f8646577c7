// Package fetch downloads the photographs of a data set from its authors' server and unpacks them.
// It knows no data set and decodes no image.
//
// It resumes interrupted transfers. It compares the hash of an archive with the published one, or
// else with the hash recorded at the first download. A file that fails a check is renamed, kept,
// and fetched again.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"ssdl/harness/filelock"
)

// ErrOffline says that a server cannot be reached.
var ErrOffline = errors.New("the server cannot be reached")

// ErrSource says that the server answered, but not with the expected file: missing, too large, cut
// short, on another host, or with another hash.
var ErrSource = errors.New("not the expected file")

// sourceError is an ErrSource: where, what happened, what to do.
type sourceError struct {
	where, text string
	cause       error // may be nil
}

func (e *sourceError) Error() string { return e.where + ": " + e.text }

// Unwrap makes the error an ErrSource without printing its words.
func (e *sourceError) Unwrap() []error {
	if e.cause == nil {
		return []error{ErrSource}
	}
	return []error{ErrSource, e.cause}
}

// refuse returns an ErrSource. If an argument is an error, it is the cause.
func refuse(where, format string, args ...any) error {
	e := &sourceError{where: where, text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			e.cause = err
		}
	}
	return e
}

// Archive is a file to fetch.
type Archive struct {
	URL    string
	Size   int64  // bytes; 0 if the authors do not publish it
	SHA256 string // hex; "" if the authors do not publish it
}

// Fetcher fetches archives into a folder and unpacks them. Its zero value is ready.
type Fetcher struct {
	// Progress is called from time to time with the bytes of an archive that have arrived and its
	// size, -1 if the server does not say. May be nil.
	Progress func(name string, done, total int64)

	// Tests set the others; zero values mean the package's constants.
	client       *http.Client
	retryDelay   time.Duration
	stallTimeout time.Duration
	limits       limits
}

// Fetched says what was fetched.
type Fetched struct {
	Archives []Record // in the order of the archives
	// Damaged lists the files that failed a check. They were renamed and fetched again.
	Damaged []Damaged
	Files   int   // unpacked files
	Bytes   int64 // their size
	// Unpacked is false if the folder existed; Fetch then does nothing.
	Unpacked bool
}

// Damaged is a file that failed a check.
type Damaged struct {
	Path   string // its new name
	Reason string // continues a sentence that begins with the file
}

// Fetch downloads archives into the folder downloads, reuses those already there after a check, and
// unpacks them together into the folder dir. dir appears when it is complete. If it exists, Fetch
// does nothing. It removes what a killed Fetch left behind. The error wraps ErrOffline, ErrSource,
// ctx's error or one of the file system.
func (f *Fetcher) Fetch(ctx context.Context, archives []Archive, downloads, dir string) (Fetched, error) {
	var out Fetched
	switch _, err := os.Lstat(dir); {
	case err == nil:
		return out, nil
	case !errors.Is(err, fs.ErrNotExist):
		return out, err
	}
	paths := make([]string, len(archives))
	for i, a := range archives {
		name, err := a.name()
		if err != nil {
			return out, err
		}
		paths[i] = filepath.Join(downloads, name)
	}
	unlock, err := lock(downloads)
	if err != nil {
		return out, err
	}
	defer unlock()
	if err := removeLeftovers(paths, dir); err != nil {
		return out, err
	}
	for i, a := range archives {
		r, err := f.download(ctx, a, paths[i], &out.Damaged)
		if err != nil {
			return out, withDamaged(err, out.Damaged)
		}
		out.Archives = append(out.Archives, r)
	}
	err = f.unpack(ctx, paths, dir, &out)
	var broken *brokenError
	if errors.As(err, &broken) {
		err = f.replace(ctx, archives, paths, broken, &out)
		if err == nil {
			err = f.unpack(ctx, paths, dir, &out)
		}
	}
	return out, withDamaged(err, out.Damaged)
}

func (f *Fetcher) unpack(ctx context.Context, paths []string, dir string, out *Fetched) (err error) {
	l := f.limits
	if l == (limits{}) {
		l = defaultLimits
	}
	out.Files, out.Bytes, err = unpack(ctx, paths, dir, l)
	out.Unpacked = err == nil
	return err
}

// replace fetches a broken archive again, unless it has the published hash. It also removes the
// record of the broken file, whose hash proves nothing.
func (f *Fetcher) replace(ctx context.Context, archives []Archive, paths []string, broken *brokenError, out *Fetched) error {
	old := out.Archives[broken.index]
	if old.Verified {
		return broken
	}
	path := paths[broken.index]
	moved, err := rename(path)
	if err != nil {
		return err
	}
	if err := os.Remove(recordPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out.Damaged = append(out.Damaged, Damaged{moved, "cannot be unpacked: " + broken.Error()})
	r, err := f.download(ctx, archives[broken.index], path, &out.Damaged)
	if err != nil {
		return err
	}
	out.Archives[broken.index] = r
	if r.SHA256 != old.SHA256 {
		return nil
	}
	out.Damaged = out.Damaged[:len(out.Damaged)-1]
	if err := os.Remove(moved); err != nil { // path has the same bytes
		return err
	}
	return broken
}

// withDamaged adds to err where the renamed files are.
func withDamaged(err error, damaged []Damaged) error {
	if err == nil {
		return nil
	}
	for _, d := range damaged {
		err = fmt.Errorf("%w\n%s is kept; it %s", err, d.Path, d.Reason)
	}
	return err
}

// lock creates the folder of downloads and keeps other processes from fetching into it.
func lock(downloads string) (unlock func() error, err error) {
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		return nil, fmt.Errorf("folder of downloads: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(downloads, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("folder of downloads: %w", err)
	}
	held, err := filelock.TryLock(f)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: cannot be locked: %w", f.Name(), err)
	case !held:
		err = fmt.Errorf("%s: another process is fetching into this folder; wait for it, or stop it", downloads)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}

// removeLeftovers removes the temporary files of a killed Fetch. The caller holds the lock, so
// nobody uses them.
func removeLeftovers(paths []string, dir string) error {
	left := []string{temporaryFolder(dir)}
	for _, p := range paths {
		left = append(left, temporaryRecord(p), temporaryRecord(partPath(p)))
	}
	for _, p := range left {
		if err := os.RemoveAll(p); err != nil {
			return fmt.Errorf("left behind by an earlier fetch: %w", err)
		}
	}
	return nil
}
