package fetch

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/nwaples/rardecode/v2"

	"ssdl/harness/data/untrusted"
)

// limits bound the unpacked files.
type limits struct {
	files int   // number of files
	file  int64 // bytes of one file
	total int64 // bytes of all files
}

// defaultLimits leave room for several times the largest known set of photographs.
var defaultLimits = limits{files: 100_000, file: 256 << 20, total: 8 << 30}

const (
	// maxDirectory bounds the list of entries of a zip file, in bytes: about 200,000 entries, below
	// 200 MB in memory.
	maxDirectory = 32 << 20
	// maxDictionary bounds the memory of the RAR decoder, in bytes. WinRAR uses at most 4 MiB in
	// the old format.
	maxDictionary = 64 << 20
	// maxName bounds the path of an entry in bytes, maxDepth in elements; maxElement bounds an
	// element in bytes.
	maxName, maxDepth, maxElement = 512, 8, 255
)

// unpack unpacks archives (.zip or .rar, by content) together into the new folder dir, and returns
// the number of files and their bytes. It writes to a temporary folder beside dir and renames it at
// the end: dir is never incomplete.
//
// An archive is refused as a whole if an entry is neither file nor folder, lies outside dir, occurs
// twice (ignoring letter case), is encrypted, or exceeds its header or the limits. The error wraps
// ErrSource. It is a *brokenError if an entry cannot be decompressed or differs from its checksum.
// Files that Windows and macOS add (Thumbs.db, .DS_Store, __MACOSX) are skipped.
func unpack(ctx context.Context, archives []string, dir string, l limits) (files int, size int64, err error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return 0, 0, fmt.Errorf("folder for the files: %w", err)
	}
	tmp := temporaryFolder(dir)
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return 0, 0, fmt.Errorf("folder for the files: %w", err)
	}
	defer os.RemoveAll(tmp) // does nothing after the rename
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return 0, 0, err
	}
	defer root.Close()
	u := &unpacker{ctx: ctx, root: root, limits: l, seen: map[string]bool{}}
	for i, a := range archives {
		u.path = a
		if err := u.archive(); err != nil {
			if broken := (*brokenError)(nil); errors.As(err, &broken) {
				broken.index = i
			}
			return 0, 0, err
		}
	}
	if u.files == 0 {
		return 0, 0, refuse(strings.Join(archives, ", "), "no files are in it")
	}
	if err := os.Rename(tmp, dir); err != nil {
		return 0, 0, err
	}
	return u.files, u.size, nil
}

// temporaryFolder is the folder that becomes dir.
func temporaryFolder(dir string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".unpacking")
}

// brokenError says that an archive is damaged, for example by a bad transfer. It is an ErrSource.
type brokenError struct {
	error
	index int // of the archive
}

func (e *brokenError) Unwrap() error { return e.error }

// kindOf returns "zip" or "rar" by the first bytes of a file, "" for any other, and those bytes.
func kindOf(path string) (kind string, head []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	head = make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	head = head[:n]
	switch s := string(head); {
	case strings.HasPrefix(s, "PK\x03\x04"):
		kind = "zip"
	case strings.HasPrefix(s, "Rar!\x1a\x07"):
		kind = "rar"
	}
	return kind, head, nil
}

// unpacker writes entries into root. os.Root confines every path and link to the folder; the checks
// before it give better messages.
type unpacker struct {
	ctx    context.Context
	path   string // of the archive
	root   *os.Root
	limits limits
	seen   map[string]bool // names of files, lower case
	files  int
	size   int64

	folders int
}

// entry is one entry of an archive.
type entry struct {
	name string // as in the archive
	mode fs.FileMode
	size int64 // bytes, as its header says
}

// refuse and broken return errors about the current archive; broken says that it is damaged.
func (u *unpacker) refuse(format string, args ...any) error {
	return refuse(u.path, format, args...)
}

func (u *unpacker) broken(format string, args ...any) error {
	return &brokenError{error: u.refuse(format, args...)}
}

func (u *unpacker) archive() error {
	kind, _, err := kindOf(u.path)
	if err != nil {
		return err
	}
	f, err := os.Open(u.path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch kind {
	case "zip":
		return u.zip(f)
	case "rar":
		return u.rar(f)
	}
	return u.refuse("is neither a .zip nor a .rar archive")
}

func (u *unpacker) zip(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := untrusted.Zip(f, st.Size(), maxDirectory)
	if err != nil {
		return u.broken("cannot be unpacked: %v", err)
	}
	// Check all headers first, so that a refused archive writes nothing.
	headers := unpacker{path: u.path, limits: u.limits, seen: maps.Clone(u.seen), files: u.files, folders: u.folders, size: u.size}
	for _, e := range z.File {
		if e.Flags&1 != 0 {
			return u.refuse("%q is encrypted", e.Name)
		}
		if _, _, err := headers.check(zipEntry(e)); err != nil {
			return err
		}
	}
	for _, e := range z.File {
		if err := u.extract(zipEntry(e), func() (io.ReadCloser, error) { return e.Open() }); err != nil {
			return err
		}
	}
	return nil
}

func zipEntry(e *zip.File) entry {
	return entry{e.Name, e.Mode(), int64(min(e.UncompressedSize64, 1<<62))}
}

func (u *unpacker) rar(f *os.File) (err error) {
	// A panic of the decoder is an error of the archive: its bytes are untrusted.
	defer func() {
		if p := recover(); p != nil {
			err = u.broken("is damaged (%v)", p)
		}
	}()
	r, err := rardecode.NewReader(f, rardecode.MaxDictionarySize(maxDictionary))
	if err != nil {
		return u.broken("cannot be unpacked: %v", err)
	}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return u.broken("cannot be unpacked: %v", err)
		}
		e := entry{h.Name, h.Mode(), h.UnPackedSize}
		if h.IsDir { // the attributes may not say so
			e.mode |= fs.ModeDir
		}
		switch {
		case h.Encrypted || h.HeaderEncrypted:
			return u.refuse("%q is encrypted", h.Name)
		case h.LinkType != rardecode.LinkTypeNone:
			e.mode |= fs.ModeSymlink
		case h.UnKnownSize || e.size < 0:
			return u.refuse("the size of %q is unknown", h.Name)
		}
		if err := u.extract(e, func() (io.ReadCloser, error) { return io.NopCloser(r), nil }); err != nil {
			return err
		}
	}
}

// extract writes an entry; open returns its content.
func (u *unpacker) extract(e entry, open func() (io.ReadCloser, error)) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	name, skip, err := u.check(e)
	if err != nil || skip {
		return err
	}
	local := filepath.FromSlash(name)
	if e.mode.IsDir() {
		return u.root.MkdirAll(local, 0o755)
	}
	if err := u.root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	r, err := open()
	if err != nil {
		return u.broken("%q: %v", e.name, err)
	}
	defer r.Close()
	w, err := u.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer w.Close()
	// Read one byte more than the header says: this reveals extra bytes, and at the end the reader
	// compares the checksum.
	n, err := io.Copy(w, contextReader{u.ctx, io.LimitReader(archiveReader{r, u, e.name}, e.size+1)})
	if err != nil {
		return err
	}
	if n != e.size {
		return u.broken("%q does not have the %d bytes that its header says", e.name, e.size)
	}
	return w.Close()
}

// archiveReader marks its errors as errors of the archive, not of the disk.
type archiveReader struct {
	r    io.Reader
	u    *unpacker
	name string
}

func (a archiveReader) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = a.u.broken("%q: %v", a.name, err)
	}
	return n, err
}

// check validates the header of an entry, counts the entry, and returns its path below the folder,
// with slashes. skip says to leave it out.
func (u *unpacker) check(e entry) (name string, skip bool, err error) {
	refuse := func(format string, args ...any) (string, bool, error) {
		return "", false, u.refuse(format, args...)
	}
	name = strings.TrimSuffix(e.name, "/")
	switch {
	case !utf8.ValidString(name):
		return refuse("the name %q is not UTF-8", e.name)
	case untrusted.HasControl(name):
		return refuse("the name %q has control characters", e.name)
	case strings.ContainsAny(name, `\:`):
		return refuse("the name %q has a backslash or a colon; expected a path with slashes", e.name)
	case name != path.Clean(name) || !filepath.IsLocal(filepath.FromSlash(name)) || name == ".":
		return refuse("the name %q is not a path inside the folder", e.name)
	case len(name) > maxName:
		return refuse("the name %.40q... has %d bytes, expected at most %d", e.name, len(name), maxName)
	case strings.Count(name, "/") >= maxDepth:
		return refuse("the name %.40q... has %d elements, expected at most %d", e.name, 1+strings.Count(name, "/"), maxDepth)
	case longestElement(name) > maxElement:
		return refuse("the name %.40q... has an element of %d bytes, expected at most %d", e.name, longestElement(name), maxElement)
	case !e.mode.IsDir() && !e.mode.IsRegular():
		return refuse("%q is a link or a device; expected files and folders", e.name)
	}
	base := path.Base(name)
	if strings.EqualFold(base, "thumbs.db") || base == ".DS_Store" || name == "__MACOSX" || strings.HasPrefix(name, "__MACOSX/") {
		return name, true, nil
	}
	if e.mode.IsDir() {
		if u.folders++; u.folders > u.limits.files {
			return refuse("has more than %d folders", u.limits.files)
		}
		return name, false, nil
	}
	if u.files++; u.files > u.limits.files {
		return refuse("has more than %d files", u.limits.files)
	}
	key := strings.ToLower(name)
	if u.seen[key] {
		return refuse("%q occurs twice", e.name)
	}
	u.seen[key] = true
	if e.size < 0 || e.size > u.limits.file {
		return refuse("%q has %d bytes, expected at most %d", e.name, e.size, u.limits.file)
	}
	if u.size += e.size; u.size > u.limits.total {
		return refuse("has files of more than %d bytes", u.limits.total)
	}
	return name, false, nil
}

// longestElement returns the length of the longest element of a path, in bytes.
func longestElement(name string) int {
	longest := 0
	for e := range strings.SplitSeq(name, "/") {
		longest = max(longest, len(e))
	}
	return longest
}
