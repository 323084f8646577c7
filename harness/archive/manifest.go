package archive

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// The manifest lists the SHA-256 of all other files in the form of sha256sum; the signature signs the manifest.
// `sha256sum -c SHA256SUMS` checks the files, `ssh-keygen -Y verify -n ssdl` the signature.
const (
	manifestFile  = "SHA256SUMS"
	signatureFile = manifestFile + ".sig"
)

// manifest makes the manifest of files, sorted by name.
func manifest(files map[string]fileInfo) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s  %s\n", files[name].hash, name)
	}
	return b.Bytes()
}

// isSeal reports whether a file is the manifest or its signature, which the metadata does not list.
func isSeal(name string) bool { return name == manifestFile || name == signatureFile }

// checkManifest compares the unpacked files with the manifest, and returns the manifest. Archives of older
// versions have none.
func checkManifest(root *os.Root, found map[string]fileInfo) ([]byte, error) {
	info, ok := found[manifestFile]
	if !ok {
		if _, ok := found[signatureFile]; ok {
			return nil, fmt.Errorf("it has a signature, but no %s", manifestFile)
		}
		return nil, nil
	}
	if info.size > maxMetadata {
		return nil, fmt.Errorf("its %s has %d bytes; at most %d are read", manifestFile, info.size, maxMetadata)
	}
	raw, err := root.ReadFile(manifestFile)
	if err != nil {
		return nil, err
	}
	files := maps.Clone(found)
	maps.DeleteFunc(files, func(name string, _ fileInfo) bool { return isSeal(name) })
	if want := manifest(files); !bytes.Equal(raw, want) {
		return nil, fmt.Errorf("its %s does not list its files: %s", manifestFile, firstDifference(string(raw), string(want)))
	}
	return raw, nil
}

// firstDifference describes the first difference of two manifests, on one line.
func firstDifference(is, want string) string {
	left, right := strings.Split(is, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(left), len(right))-1 && left[i] == right[i] {
		i++
	}
	return fmt.Sprintf("line %d is %.200q, expected %q", i+1, left[i], right[i])
}
