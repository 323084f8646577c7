package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Record is what is known of a downloaded archive. It is kept beside it as NAME.json, so that
// a later change of the file is found even where its authors publish no hash.
type Record struct {
	URL          string    `json:"url"`
	Size         int64     `json:"size"` // bytes
	SHA256       string    `json:"sha256"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	When         time.Time `json:"when"` // of the download, or of the first look at a file put there by hand
	// Verified is true if the hash is the one the caller knew; else it is only on record.
	Verified bool `json:"verified"`
}

// name is the last element of the URL's path.
func (a Archive) name() (string, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return "", fmt.Errorf("address %q: %w", a.URL, err)
	}
	name := path.Base(u.Path)
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("address %q is not that of a file on a web server", a.URL)
	}
	return name, nil
}

// check compares a file of the given size and hash with what is known of the archive.
func (a Archive) check(path string, size int64, sum string) error {
	switch {
	case a.Size > 0 && size != a.Size:
		return fmt.Errorf("%s: %w: has %d bytes, expected %d", path, ErrSource, size, a.Size)
	case a.SHA256 != "" && !strings.EqualFold(sum, a.SHA256):
		return fmt.Errorf("%s: %w: has SHA-256 %s, expected %s", path, ErrSource, sum, strings.ToLower(a.SHA256))
	}
	return nil
}

func recordPath(path string) string { return path + ".json" }

// maxRecord bounds a record in bytes.
const maxRecord = 64 << 10

// readRecord reads the record beside path; false if there is none that can be used.
func readRecord(path string) (r Record, ok bool) {
	f, err := os.Open(recordPath(path))
	if err != nil {
		return r, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRecord))
	return r, err == nil && json.Unmarshal(b, &r) == nil
}

// write puts the record beside path, whole or not at all.
func (r Record) write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	tmp := recordPath(path) + ".tmp"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, recordPath(path))
}

// present verifies an archive that is already at path: against what the caller knows, else
// against the record of the day it came. One that was put there by hand gets a record.
func present(ctx context.Context, a Archive, path string) (r Record, ok bool, err error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if !st.Mode().IsRegular() {
		return r, false, fmt.Errorf("%s: expected a file; move it away", path)
	}
	sum, err := hashFile(ctx, path)
	if err != nil {
		return r, false, err
	}
	if err := a.check(path, st.Size(), sum); err != nil {
		return r, false, fmt.Errorf("%w; delete it to have it fetched again", err)
	}
	if err := sniff(path); err != nil {
		return r, false, fmt.Errorf("%w; delete it to have it fetched again", err)
	}
	r, known := readRecord(path)
	if known && (r.Size != st.Size() || r.SHA256 != sum) {
		return r, false, fmt.Errorf("%s: %w: has SHA-256 %s, and had %s when it came on %s; delete it to have it fetched again",
			path, ErrSource, sum, r.SHA256, r.When.Format(time.DateOnly))
	}
	if !known || r.Verified != (a.SHA256 != "") {
		if !known {
			r = Record{URL: a.URL, Size: st.Size(), SHA256: sum, When: time.Now().UTC().Truncate(time.Second)}
		}
		r.Verified = a.SHA256 != ""
		if err := r.write(path); err != nil {
			return r, false, err
		}
	}
	return r, true, nil
}

// hashFile returns the SHA-256 of a file in hex.
func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, contextReader{ctx, f}); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// contextReader ends with the context's error.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// sniff tells by its first bytes whether the file is an archive of a kind that Unpack reads.
func sniff(path string) error {
	kind, head, err := kindOf(path)
	if err != nil || kind != "" {
		return err
	}
	what := "neither a .zip nor a .rar archive"
	if h := strings.ToLower(string(head)); strings.Contains(h, "<html") || strings.Contains(h, "<!doctype") {
		what = "a web page, as servers and login pages send in place of a file that has moved"
	}
	return fmt.Errorf("%s: %w: it is %s", path, ErrSource, what)
}
