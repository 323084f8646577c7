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
	"strconv"
	"strings"
	"time"

	"ssdl/harness/data/untrusted"
)

// Record describes a downloaded archive. Stored beside it as NAME.json, it pins the hash: another
// file at the same address is refused, even if the authors publish no hash.
type Record struct {
	URL          string    `json:"url"`
	Size         int64     `json:"size"` // bytes
	SHA256       string    `json:"sha256"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	When         time.Time `json:"when"` // of the download, or of the first check of a file copied there by hand
	// Verified is true if the hash is the published one.
	Verified bool `json:"verified"`
}

// maxFileName bounds the name of an archive in bytes, so that NAME.part.json.tmp is a valid name
// too.
const maxFileName = 200

// name is the last element of the URL's path.
func (a Archive) name() (string, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return "", fmt.Errorf("address %.200q: %w", a.URL, err)
	}
	name := path.Base(u.Path)
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("address %.200q is not that of a file on a web server", a.URL)
	}
	if len(name) > maxFileName {
		return "", fmt.Errorf("address %.200q... ends in a file name of %d bytes, expected at most %d", a.URL, len(name), maxFileName)
	}
	return name, nil
}

// differs says how a file of this size and hash differs from the archive; "" if it does not.
func (a Archive) differs(size int64, sum string) string {
	switch {
	case a.Size > 0 && size != a.Size:
		return fmt.Sprintf("has %d bytes, expected %d", size, a.Size)
	case a.SHA256 != "" && !strings.EqualFold(sum, a.SHA256):
		return fmt.Sprintf("has SHA-256 %s, expected %s", sum, strings.ToLower(a.SHA256))
	}
	return ""
}

// The files beside an archive: its partial download, its record, and the record being written.
func partPath(path string) string        { return path + ".part" }
func recordPath(path string) string      { return path + ".json" }
func temporaryRecord(path string) string { return recordPath(path) + ".tmp" }

// maxRecord bounds a record in bytes.
const maxRecord = 64 << 10

// readRecord reads the record beside path. reason says why an existing record is unusable; ""
// without one.
func readRecord(path string) (r Record, ok bool, reason string) {
	b, err := untrusted.Read(recordPath(path), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, ""
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return Record{}, false, fmt.Sprintf("is no record of a download: %v", err)
	}
	return r, true, ""
}

// pinned reads the record of the complete archive at path. It renames a record without a hash.
func pinned(path string, damaged *[]Damaged) (r Record, ok bool, err error) {
	r, ok, reason := readRecord(path)
	if sum, err := hex.DecodeString(r.SHA256); ok && (err != nil || len(sum) != sha256.Size) {
		ok, reason = false, "is no record of a download: it has no SHA-256"
	}
	if reason == "" {
		return r, ok, nil
	}
	return Record{}, false, moveDamaged(recordPath(path), reason, damaged)
}

// write writes the record beside path atomically.
func (r Record) write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	tmp := temporaryRecord(path)
	if err := os.WriteFile(tmp, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, recordPath(path))
}

// existing verifies the archive at path, if there is one, against the published size and hash or
// else against its record. It renames a file that fails; ok is then false. A file copied there by
// hand gets a record.
func existing(ctx context.Context, a Archive, path string, damaged *[]Damaged) (r Record, ok bool, err error) {
	st, err := untrusted.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if !st.Mode().IsRegular() {
		return r, false, fmt.Errorf("%s: %s; move it elsewhere", path, untrusted.Check(st, st.Size()))
	}
	reason, sum := untrusted.Check(st, max(maxDownload, a.Size)), ""
	if reason == "" {
		if sum, err = hashFile(ctx, path); err != nil {
			return r, false, err
		}
		reason = a.differs(st.Size(), sum)
	}
	if reason == "" {
		if reason, err = unknownKind(path); err != nil {
			return r, false, err
		}
	}
	r, known, err := pinned(path, damaged)
	if err != nil {
		return r, false, err
	}
	if reason == "" && known && a.SHA256 == "" && r.SHA256 != sum {
		reason = fmt.Sprintf("has SHA-256 %s, and had %s on %s", sum, r.SHA256, r.When.Format(time.DateOnly))
	}
	if reason != "" {
		return r, false, moveDamaged(path, reason, damaged)
	}
	if !known || r.SHA256 != sum {
		r = Record{URL: a.URL, Size: st.Size(), SHA256: sum, When: now()}
		known = false
	}
	if verified := a.SHA256 != ""; !known || r.Verified != verified {
		r.Verified = verified
		err = r.write(path)
	}
	return r, err == nil, err
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// moveDamaged renames a file that failed a check.
func moveDamaged(path, reason string, damaged *[]Damaged) error {
	moved, err := rename(path)
	if err != nil {
		return err
	}
	*damaged = append(*damaged, Damaged{moved, reason})
	return nil
}

// rename moves a file to the first free name of path.damaged, path.damaged-2, ...
func rename(path string) (moved string, err error) {
	moved = path + ".damaged"
	for i := 2; ; i++ {
		switch _, err := os.Lstat(moved); {
		case errors.Is(err, fs.ErrNotExist):
			return moved, os.Rename(path, moved)
		case err != nil:
			return "", err
		}
		moved = path + ".damaged-" + strconv.Itoa(i)
	}
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

// contextReader fails with the context's error once the context is done.
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

// unknownKind describes a file that is no archive, by its first bytes; "" for an archive that
// unpack reads.
func unknownKind(path string) (reason string, err error) {
	kind, head, err := kindOf(path)
	if err != nil || kind != "" {
		return "", err
	}
	if h := strings.ToLower(string(head)); strings.Contains(h, "<html") || strings.Contains(h, "<!doctype") {
		return "is a web page, as servers and login pages send in place of a file that has moved", nil
	}
	return "is neither a .zip nor a .rar archive", nil
}
