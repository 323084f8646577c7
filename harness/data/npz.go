package data

import (
	"archive/zip"
	"io"
	"slices"
	"strings"

	"ssdl/harness/data/untrusted"
)

// maxDeflate is the highest compression ratio that DEFLATE can reach.
const maxDeflate = 1032

// maxDirectory bounds the list of entries of a .npz file, in bytes: about ten thousand arrays.
const maxDirectory = 1 << 20

// readNPZ reads the arrays called names from a .npz archive of size bytes. It verifies every
// checksum, and that an entry unpacks to the size in both its .npy header and the archive's
// directory.
func readNPZ(path string, r io.ReaderAt, size int64, names []string, headerOnly bool) (map[string]*array, error) {
	z, err := untrusted.Zip(r, size, maxDirectory)
	if err != nil {
		return nil, Invalid(path, "is not a complete zip archive (%v). Write it with numpy.savez.", err)
	}
	entries := map[string]*zip.File{}
	var found []string
	for _, f := range z.File {
		name, isArray := strings.CutSuffix(f.Name, ".npy")
		found = append(found, name)
		if !isArray || !slices.Contains(names, name) {
			continue
		}
		if entries[name] != nil {
			return nil, Invalid(path, "has two arrays %s", name)
		}
		entries[name] = f
	}
	out := map[string]*array{}
	for _, name := range names {
		f := entries[name]
		if f == nil {
			return nil, Invalid(path, "has no array %s, only %s. Write it with numpy.savez(file, X=..., y=...).", name, listed(found))
		}
		if out[name], err = readEntry(path+": "+f.Name, f, size, headerOnly); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readEntry(place string, f *zip.File, size int64, headerOnly bool) (*array, error) {
	packed, unpacked := f.CompressedSize64, f.UncompressedSize64
	switch {
	case f.Flags&1 != 0:
		return nil, Invalid(place, "is encrypted. Write the file with numpy.savez.")
	case packed > uint64(size):
		return nil, Invalid(place, "claims %d compressed bytes in an archive of %d", packed, size)
	case unpacked > 8*MaxValues+maxHeader:
		return nil, Invalid(place, "claims to unpack to %d bytes, expected at most %d", unpacked, uint64(8*MaxValues))
	case f.Method == zip.Store && unpacked != packed, unpacked > maxDeflate*(packed+1):
		return nil, Invalid(place, "claims to unpack from %d to %d bytes, which is impossible", packed, unpacked)
	}
	r, err := f.Open()
	if err != nil {
		return nil, Invalid(place, "%v", err)
	}
	defer r.Close()
	if f.Method == zip.Store {
		packed = 0
	}
	return readNPY(place, r, int64(unpacked), int64(packed), headerOnly)
}

// listed joins the first eight names for an error.
func listed(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	var out []string
	for _, name := range names[:min(8, len(names))] {
		if len(name) > MaxName {
			name = name[:MaxName] + "..."
		}
		out = append(out, name)
	}
	if len(names) > 8 {
		out = append(out, "...")
	}
	return strings.Join(out, ", ")
}
