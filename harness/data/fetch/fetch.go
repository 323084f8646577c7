// Package fetch downloads the photographs of a data set from its authors' server and unpacks
// them. It knows no data set and decodes no picture.
//
// An interrupted transfer is resumed. The hash of an archive is compared with the one that
// its authors publish, or else with the one that was recorded when it first came. A file that
// fails is renamed, kept, and fetched again.
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

// ErrOffline is wrapped by errors that say a server cannot be reached at all.
var ErrOffline = errors.New("the server cannot be reached")

// ErrSource is wrapped by errors that say the server answered, but not with the expected
// file: it is not there, too large, cut short, on another host, or has another hash.
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

// refuse returns an ErrSource. Its cause is the error among args, if there is one.
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
	// Progress is called now and then with the bytes of an archive that are there and those
	// it has in all, -1 if the server does not say. nil is silent.
	Progress func(name string, done, total int64)

	// The others are set by tests; their zero values stand for the package's constants.
	client       *http.Client
	retryDelay   time.Duration
	stallTimeout time.Duration
	limits       limits
}

// Fetched says what was fetched.
type Fetched struct {
	Archives []Record // in the order of the archives
	// Damaged lists the files that failed a check and were renamed; new ones were fetched.
	Damaged []Damaged
	Files   int   // unpacked
	Bytes   int64 // unpacked
	// Unpacked is false if the folder existed: then nothing was done.
	Unpacked bool
}

// Damaged is a file that failed a check.
type Damaged struct {
	Path   string // its new name
	Reason string // continues a sentence that begins with the file
}

// Fetch downloads archives into the folder downloads, verifying and using those that are
// there, and unpacks them together into the folder dir. dir appears only when it is complete;
// if it exists, nothing is done. Files that a killed Fetch left behind are removed first. The
// error wraps ErrOffline, ErrSource, ctx's error or that of the file system.
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

// replace fetches the archive again that cannot be unpacked, unless it has the hash that its
// authors publish. The record of the broken one goes with it: a hash that was never of a good
// file says nothing.
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
	if err := os.Remove(moved); err != nil { // the same bytes lie at path
		return err
	}
	return broken
}

// withDamaged adds to an error where the renamed files are.
func withDamaged(err error, damaged []Damaged) error {
	if err == nil {
		return nil
	}
	for _, d := range damaged {
		err = fmt.Errorf("%w\n%s is kept; it %s", err, d.Path, d.Reason)
	}
	return err
}

// lock makes the folder of downloads and keeps other processes from fetching into it.
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

// removeLeftovers removes the temporary files of a Fetch that was killed. The caller has the
// lock: nobody uses them.
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
