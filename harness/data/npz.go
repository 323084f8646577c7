package data

import (
	"archive/zip"
	"io"
	"slices"
	"strings"
)

// maxDeflate is how far DEFLATE can shrink: an entry that claims to unpack to more is a lie.
const maxDeflate = 1032

// readNPZ reads the arrays called names from a .npz archive of size bytes. No entry is
// unpacked beyond the size that its .npy header and the archive's directory both give, and
// every checksum is verified.
func readNPZ(path string, r io.ReaderAt, size int64, names []string, headerOnly bool) (map[string]*array, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, bad(path, "not a complete zip archive (%v); write it with numpy.savez", err)
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
			return nil, bad(path, "has two arrays %s", name)
		}
		entries[name] = f
	}
	out := map[string]*array{}
	for _, name := range names {
		f := entries[name]
		if f == nil {
			return nil, bad(path, "has no array %s, only %s; write it with numpy.savez(file, X=..., y=...)", name, listed(found))
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
		return nil, bad(place, "is encrypted; write it with numpy.savez")
	case packed > uint64(size):
		return nil, bad(place, "claims %d packed bytes in an archive of %d", packed, size)
	case unpacked > 8*maxValues+maxHeader:
		return nil, bad(place, "claims to unpack to %d bytes, expected at most %d", unpacked, uint64(8*maxValues))
	case f.Method == zip.Store && unpacked != packed, unpacked > maxDeflate*(packed+1):
		return nil, bad(place, "claims to unpack from %d to %d bytes, which is impossible", packed, unpacked)
	}
	r, err := f.Open()
	if err != nil {
		return nil, bad(place, "%v", err)
	}
	defer r.Close()
	return readNPY(place, r, int64(unpacked), headerOnly)
}

// listed joins at most eight names for an error.
func listed(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	if len(names) > 8 {
		names = append(slices.Clone(names[:8]), "...")
	}
	return strings.Join(names, ", ")
}
