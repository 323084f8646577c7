package archive

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
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Bounds of an archive. A store of 100,000 runs has some hundred megabytes; its text compresses to a
// tenth.
const (
	maxFiles = 100_000
	maxBytes = 16 << 30 // of all files
	maxRatio = 200      // of the size of a file to its compressed size
	freeSize = 1 << 20  // a file up to this size may have any ratio
)

// Contents describes an extracted archive.
type Contents struct {
	SHA256 string // of the archive
	// Signature is nil if the archive is not signed.
	Signature *Signature
	// Specs are the YAML files in the folder specs/, by name and in the order of names.
	Specs []File
}

// Extract unpacks the archive name into the empty folder dir and checks it against its metadata, its
// manifest and its signature. If trusted has keys, one of them must have signed it.
//
// The archive is untrusted. Before it writes anything, Extract refuses an archive that is not a plain file,
// that names a file outside of dir or a file twice, that has anything but plain files and folders, or that is
// larger than any real archive. No file may become longer than its entry says. Every file must have the size
// and the SHA-256 of ro-crate-metadata.json, and none may be missing.
func Extract(ctx context.Context, name, dir string, trusted TrustedKeys) (Contents, error) {
	f, err := openPlain(name)
	if err != nil {
		return Contents{}, err
	}
	defer f.Close()
	h := newHash()
	size, err := io.Copy(h, io.LimitReader(f, maxBytes)) // it may have grown since openPlain
	if err != nil {
		return Contents{}, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	z, err := zip.NewReader(f, size)
	if errors.Is(err, zip.ErrFormat) {
		return Contents{}, fmt.Errorf("%s is not a zip file, or it is damaged: get it again", name)
	}
	if err != nil {
		return Contents{}, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	if err := checkEntries(z.File); err != nil {
		return Contents{}, fmt.Errorf("%s is refused: %w", name, err)
	}
	root, err := os.OpenRoot(dir) // a second barrier: no name can lead out of it
	if err != nil {
		return Contents{}, err
	}
	defer root.Close()
	found := map[string]fileInfo{}
	for _, f := range z.File {
		if ctx.Err() != nil {
			return Contents{}, ctx.Err()
		}
		if f.FileInfo().IsDir() {
			continue
		}
		info, err := unpack(root, f)
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return Contents{}, fmt.Errorf("%s cannot be unpacked: no room in %s: free some, or set TMPDIR to another folder (%w)", name, dir, err)
		}
		if err != nil {
			return Contents{}, fmt.Errorf("%s is refused: %w", name, err)
		}
		found[f.Name] = info
	}
	if err := checkCrate(root, found); err != nil {
		return Contents{}, fmt.Errorf("%s is refused: %w", name, err)
	}
	made, err := checkManifest(root, found)
	if err != nil {
		return Contents{}, fmt.Errorf("%s is refused: %w", name, err)
	}
	signature, err := checkSignature(root, found, made, trusted)
	switch {
	case err != nil:
		return Contents{}, fmt.Errorf("%s is refused: %w", name, err)
	case trusted.asked() && signature == nil:
		return Contents{}, fmt.Errorf("%s is refused: it is not signed. Ask its author for a signed one, or import it without asking for a signature", name)
	case trusted.asked() && signature.Signer == "":
		return Contents{}, fmt.Errorf("%s is refused: it is signed by the key %s, which is not a valid key of %s", name, signature.Fingerprint, strings.Join(trusted.files, ", "))
	}
	specs, err := readSpecs(root, found)
	if err != nil {
		return Contents{}, fmt.Errorf("%s is refused: %w", name, err)
	}
	return Contents{h.hex(), signature, specs}, nil
}

// maxSpec bounds the size of a spec of an archive in bytes.
const maxSpec = 1 << 20

// readSpecs reads the specs of an archive.
func readSpecs(root *os.Root, found map[string]fileInfo) (specs []File, err error) {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		base, ok := strings.CutPrefix(name, "specs/")
		if !ok || path.Ext(base) != ".yaml" || strings.HasPrefix(base, ".") || strings.Contains(base, "/") {
			continue
		}
		if size := found[name].size; size > maxSpec {
			return nil, fmt.Errorf("%q has %d bytes; a spec has at most %d", name, size, maxSpec)
		}
		content, err := root.ReadFile(name)
		if err != nil {
			return nil, err
		}
		specs = append(specs, File{base, content})
	}
	return specs, nil
}

// openPlain opens a plain file of at most maxBytes: reading a pipe or a device may never end.
func openPlain(name string) (*os.File, error) {
	switch info, err := os.Stat(name); {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not an archive but a folder or a special file", name)
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s has more than %d GiB: no archive is that large", name, maxBytes>>30)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	return f, nil
}

// checkEntries checks the entries of an archive before any is read.
func checkEntries(files []*zip.File) error {
	if len(files) > maxFiles {
		return fmt.Errorf("it holds %d files; an archive has at most %d", len(files), maxFiles)
	}
	seen := map[string]bool{} // whether it is a file
	total := uint64(0)
	for _, f := range files {
		name := strings.TrimSuffix(f.Name, "/")
		if !isSafe(name) {
			return fmt.Errorf("it has a file named %q, which may lie outside of its folder: names must be relative, with forward slashes, and without .. and control characters", f.Name)
		}
		folded := strings.ToLower(name) // some file systems ignore case
		_, twice := seen[folded]
		switch {
		case twice:
			return fmt.Errorf("it holds %q twice", f.Name)
		case !f.Mode().IsRegular() && !f.Mode().IsDir():
			return fmt.Errorf("%q is a link or a special file: an archive holds plain files", f.Name)
		case f.Flags&1 != 0:
			return fmt.Errorf("%q is encrypted", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return fmt.Errorf("%q is compressed by method %d: an archive uses deflate", f.Name, f.Method)
		case f.UncompressedSize64 > maxBytes || total+f.UncompressedSize64 > maxBytes:
			return fmt.Errorf("its files take more than %d GiB: no archive is that large", maxBytes>>30)
		case f.UncompressedSize64 > freeSize && f.UncompressedSize64/maxRatio > f.CompressedSize64:
			return fmt.Errorf("%q would grow from %d to %d bytes: no table or store compresses so well", f.Name, f.CompressedSize64, f.UncompressedSize64)
		}
		seen[folded] = f.Mode().IsRegular()
		total += f.UncompressedSize64
	}
	for name := range seen {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return fmt.Errorf("%q is a file and a folder", dir)
			}
		}
	}
	return nil
}

// isSafe reports whether a name stays below the folder it is unpacked in, on any system.
func isSafe(name string) bool {
	return fs.ValidPath(name) && name != "." && filepath.IsLocal(filepath.FromSlash(name)) && utf8.ValidString(name) &&
		!strings.ContainsAny(name, `\:`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// unpack writes one file. It refuses a file that is longer than its entry says.
func unpack(root *os.Root, f *zip.File) (info fileInfo, err error) {
	if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
		return info, err
	}
	out, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	in, err := f.Open()
	if err != nil {
		return info, fmt.Errorf("%q cannot be unpacked: %w", f.Name, err)
	}
	defer in.Close()
	// One byte too many is enough to refuse it. The zip package checks the checksum at the end.
	h := newHash()
	n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(in, int64(f.UncompressedSize64)+1))
	switch {
	case errors.Is(err, zip.ErrFormat) || uint64(n) > f.UncompressedSize64:
		return info, fmt.Errorf("%q has more than the %d bytes of its entry", f.Name, f.UncompressedSize64)
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF):
		return info, fmt.Errorf("%q is damaged: %w; get the archive again", f.Name, err)
	case err != nil:
		return info, fmt.Errorf("%q cannot be unpacked: %w", f.Name, err)
	}
	return fileInfo{n, h.hex()}, nil
}
