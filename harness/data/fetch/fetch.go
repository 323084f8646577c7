// Package fetch brings the photographs of a data set from its authors' server to a folder:
// it downloads archives so that an interrupted transfer goes on where it stopped, compares
// them with what is known of them, and unpacks them as what they are, files from strangers.
// It knows no data set and reads no picture.
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
)

// ErrOffline is wrapped by errors that say a server cannot be reached at all.
var ErrOffline = errors.New("the server cannot be reached")

// ErrSource is wrapped by errors that say the server answered, but not with the file: it is
// not there, too large, cut short, or not the one that is expected.
var ErrSource = errors.New("not the file that is expected")

// Archive is a file to fetch.
type Archive struct {
	URL    string
	Size   int64  // bytes; 0 where it is not known
	SHA256 string // hex; "" where it is not known
}

// Fetcher fetches archives into a folder and unpacks them. Its zero value is ready; the
// fields are for tests and for telling a person how far it is.
type Fetcher struct {
	// Client makes the requests; nil is one that gives up on servers that do not answer.
	Client *http.Client
	// Progress is called now and then with the bytes that are there of an archive and those
	// it has in all, -1 where the server does not say.
	Progress func(name string, done, total int64)
	// Pause is the time before the first repetition of a failed request, doubled for each
	// further one; 0 is one second.
	Pause time.Duration
	// Patience is how long a transfer may stand still before it is broken off and resumed; 0
	// is one minute.
	Patience time.Duration
	// Limits bound what is unpacked; the zero value stands for DefaultLimits.
	Limits Limits
}

// Fetched says what came.
type Fetched struct {
	Archives []Record // in the order of the archives
	Files    int      // unpacked
	Bytes    int64    // unpacked
	// Unpacked is false if the folder was there already and nothing was done.
	Unpacked bool
}

// Fetch downloads archives into the folder downloads, where those that are already there
// are verified and used, and unpacks them together into the folder dir. dir appears under
// its name only when it is complete; if it exists, nothing is done.
func (f *Fetcher) Fetch(ctx context.Context, archives []Archive, downloads, dir string) (Fetched, error) {
	var out Fetched
	switch _, err := os.Lstat(dir); {
	case err == nil:
		return out, nil
	case !errors.Is(err, fs.ErrNotExist):
		return out, err
	}
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		return out, fmt.Errorf("folder of downloads: %w", err)
	}
	var paths []string
	for _, a := range archives {
		name, err := a.name()
		if err != nil {
			return out, err
		}
		path := filepath.Join(downloads, name)
		r, err := f.Download(ctx, a, path)
		if err != nil {
			return out, err
		}
		paths = append(paths, path)
		out.Archives = append(out.Archives, r)
	}
	limits := f.Limits
	if limits == (Limits{}) {
		limits = DefaultLimits
	}
	var err error
	out.Files, out.Bytes, err = Unpack(ctx, paths, dir, limits)
	out.Unpacked = err == nil
	return out, err
}
