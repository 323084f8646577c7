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
	"unicode"
	"unicode/utf8"

	"github.com/nwaples/rardecode/v2"
)

// Limits bound what archives may become on the disk.
type Limits struct {
	Files int   // in all
	File  int64 // bytes of one file
	Total int64 // bytes of all files
}

// DefaultLimits leave room for several times the largest set of photographs there is.
var DefaultLimits = Limits{Files: 100_000, File: 256 << 20, Total: 8 << 30}

const (
	// maxDirectory bounds what is read of a zip file to list it, in bytes: some 200,000
	// entries, and the list in memory stays below 200 MB.
	maxDirectory = 32 << 20
	// maxDictionary bounds the memory of the RAR decoder, in bytes. WinRAR's largest for
	// the old format is 4 MiB.
	maxDictionary = 64 << 20
	// maxName bounds the path of an entry in bytes, maxDepth in elements.
	maxName, maxDepth = 512, 8
)

// Unpack unpacks archives (.zip or .rar, told by their content) together into the new folder
// dir, and returns the number of its files and their bytes. Everything happens in a folder
// beside it that gets the name dir at the end, or is removed: dir is never half there.
//
// An archive is refused as a whole, with an error that wraps ErrSource, if an entry is
// anything but a file or a folder inside dir, occurs twice (letter case apart), is
// encrypted, differs from its checksum or exceeds what its header or the limits say. What
// Windows and macOS leave behind (Thumbs.db, .DS_Store, __MACOSX) is left out.
func Unpack(ctx context.Context, archives []string, dir string, limits Limits) (files int, size int64, err error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return 0, 0, fmt.Errorf("folder for the files: %w", err)
	}
	tmp, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+"-*")
	if err != nil {
		return 0, 0, fmt.Errorf("folder for the files: %w", err)
	}
	defer os.RemoveAll(tmp) // nothing is left after the renaming
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return 0, 0, err
	}
	defer root.Close()
	u := &unpacker{ctx: ctx, root: root, limits: limits, seen: map[string]bool{}}
	for _, a := range archives {
		if err := u.archive(a); err != nil {
			return 0, 0, fmt.Errorf("unpacking %s: %w", a, err)
		}
	}
	if u.files == 0 {
		return 0, 0, fmt.Errorf("unpacking %s: %w: it holds no files", strings.Join(archives, ", "), ErrSource)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return 0, 0, err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return 0, 0, err
	}
	return u.files, u.size, nil
}

// kindOf tells "zip" from "rar" by the first bytes of a file, which it returns; "" is neither.
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

// unpacker writes entries into root. Root itself keeps every path below the folder, links
// included; the checks before it are there to say what is wrong.
type unpacker struct {
	ctx    context.Context
	root   *os.Root
	limits Limits
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

func (u *unpacker) archive(path string) error {
	kind, _, err := kindOf(path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
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
	return fmt.Errorf("%w: it is neither a .zip nor a .rar archive", ErrSource)
}

func (u *unpacker) zip(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	r := &budget{r: f, left: maxDirectory}
	z, err := zip.NewReader(r, st.Size())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	r.left = -1
	// The headers first: an archive that says of itself what it must not be is refused
	// before anything is written.
	ahead := unpacker{limits: u.limits, seen: maps.Clone(u.seen), files: u.files, folders: u.folders, size: u.size}
	for _, e := range z.File {
		if e.Flags&1 != 0 {
			return fmt.Errorf("%w: %q is encrypted", ErrSource, e.Name)
		}
		if _, _, err := ahead.admit(zipEntry(e)); err != nil {
			return err
		}
	}
	for _, e := range z.File {
		if err := u.put(zipEntry(e), func() (io.ReadCloser, error) { return e.Open() }); err != nil {
			return err
		}
	}
	return nil
}

func zipEntry(e *zip.File) entry {
	return entry{e.Name, e.Mode(), int64(min(e.UncompressedSize64, 1<<62))}
}

// budget ends the reading of an archive's list that is larger than any real one.
type budget struct {
	r    io.ReaderAt
	left int64 // -1: no end
}

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, fmt.Errorf("its list of files has more than %d MB", maxDirectory>>20)
		}
	}
	return b.r.ReadAt(p, off)
}

func (u *unpacker) rar(f *os.File) (err error) {
	// The decoder runs over bytes of strangers; a fault in it is the archive's, not the program's.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the archive is damaged (%v)", ErrSource, p)
		}
	}()
	r, err := rardecode.NewReader(f, rardecode.MaxDictionarySize(maxDictionary))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrSource, err)
		}
		e := entry{h.Name, h.Mode(), h.UnPackedSize}
		if h.IsDir { // whatever the attributes of its system say
			e.mode |= fs.ModeDir
		}
		switch {
		case h.Encrypted || h.HeaderEncrypted:
			return fmt.Errorf("%w: %q is encrypted", ErrSource, h.Name)
		case h.LinkType != rardecode.LinkTypeNone:
			e.mode |= fs.ModeSymlink
		case h.UnKnownSize || e.size < 0:
			return fmt.Errorf("%w: the size of %q is not known", ErrSource, h.Name)
		}
		if err := u.put(e, func() (io.ReadCloser, error) { return io.NopCloser(r), nil }); err != nil {
			return err
		}
	}
}

// put writes an entry, whose content open gives.
func (u *unpacker) put(e entry, open func() (io.ReadCloser, error)) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	name, skip, err := u.admit(e)
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
		return fmt.Errorf("%w: %q: %w", ErrSource, e.name, err)
	}
	defer r.Close()
	w, err := u.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer w.Close()
	// One byte more than the header says: to see that there is more, and to reach the end,
	// where the readers compare the checksum.
	n, err := io.Copy(w, contextReader{u.ctx, io.LimitReader(fromArchive{r, e.name}, e.size+1)})
	if err != nil {
		return err
	}
	if n != e.size {
		return fmt.Errorf("%w: %q does not have the %d bytes that its header says", ErrSource, e.name, e.size)
	}
	return w.Close()
}

// fromArchive tells errors of the archive from those of the disk.
type fromArchive struct {
	r    io.Reader
	name string
}

func (f fromArchive) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %q: %w", ErrSource, f.name, err)
	}
	return n, err
}

// admit decides by its header whether an entry is unpacked, counts it, and returns its path
// below the folder, with slashes.
func (u *unpacker) admit(e entry) (name string, skip bool, err error) {
	refuse := func(format string, args ...any) (string, bool, error) {
		return "", false, fmt.Errorf("%w: %s", ErrSource, fmt.Sprintf(format, args...))
	}
	name = strings.TrimSuffix(e.name, "/")
	switch {
	case !utf8.ValidString(name):
		return refuse("the name %q is not UTF-8", e.name)
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return refuse("the name %q has control characters", e.name)
	case strings.ContainsAny(name, `\:`):
		return refuse("the name %q has a backslash or a colon; expected a path with slashes", e.name)
	case name != path.Clean(name) || !filepath.IsLocal(filepath.FromSlash(name)) || name == ".":
		return refuse("the name %q does not lead to a place inside the folder", e.name)
	case len(name) > maxName || strings.Count(name, "/") >= maxDepth:
		return refuse("the name %.40q... is too long or too deep", e.name)
	case !e.mode.IsDir() && !e.mode.IsRegular():
		return refuse("%q is a link or a device; expected files and folders", e.name)
	}
	base := path.Base(name)
	if strings.EqualFold(base, "thumbs.db") || base == ".DS_Store" || name == "__MACOSX" || strings.HasPrefix(name, "__MACOSX/") {
		return name, true, nil
	}
	if e.mode.IsDir() {
		if u.folders++; u.folders > u.limits.Files {
			return refuse("more than the %d folders that are accepted", u.limits.Files)
		}
		return name, false, nil
	}
	if u.files++; u.files > u.limits.Files {
		return refuse("more than the %d files that are accepted", u.limits.Files)
	}
	key := strings.ToLower(name)
	if u.seen[key] {
		return refuse("%q occurs twice", e.name)
	}
	u.seen[key] = true
	if e.size < 0 || e.size > u.limits.File {
		return refuse("%q has %d bytes, more than the %d that are accepted", e.name, e.size, u.limits.File)
	}
	if u.size += e.size; u.size > u.limits.Total {
		return refuse("the files have more than the %d bytes that are accepted", u.limits.Total)
	}
	return name, false, nil
}
