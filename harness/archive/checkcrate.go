package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
)

// fileInfo is the size and the SHA-256 of a file.
type fileInfo struct {
	size int64
	hash string
}

// maxMetadata bounds the metadata and the manifest of an untrusted archive.
const maxMetadata = 64 << 20

// checkCrate compares the unpacked files with the metadata of the archive.
func checkCrate(root *os.Root, found map[string]fileInfo) error {
	info, ok := found[metadataFile]
	if !ok {
		return fmt.Errorf("it has no %s: it is not an archive of ssdl", metadataFile)
	}
	if _, ok := found[StoreFile]; !ok {
		return fmt.Errorf("it has no %s: it is not an archive of ssdl", StoreFile)
	}
	if info.size > maxMetadata {
		return fmt.Errorf("its %s has %d bytes; at most %d are read", metadataFile, info.size, maxMetadata)
	}
	raw, err := root.ReadFile(metadataFile)
	if err != nil {
		return err
	}
	var doc struct {
		Graph []struct {
			ID     string `json:"@id"`
			Type   any    `json:"@type"`
			Size   string `json:"contentSize"`
			SHA256 string `json:"sha256"`
		} `json:"@graph"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("its %s cannot be read: %w", metadataFile, err)
	}
	listed := map[string]bool{metadataFile: true}
	for _, e := range doc.Graph {
		if !isFile(e.Type) {
			continue
		}
		info, ok := found[e.ID]
		switch {
		case !ok:
			return fmt.Errorf("%q is missing", e.ID)
		case e.Size != strconv.FormatInt(info.size, 10) || e.SHA256 != info.hash:
			return fmt.Errorf("%q is not the file that its %s describes: it was changed or damaged", e.ID, metadataFile)
		}
		listed[e.ID] = true
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !listed[name] && !isSeal(name) {
			return fmt.Errorf("%q is not described in its %s", name, metadataFile)
		}
	}
	return nil
}

// isFile reports whether the @type of an entity, a text or a list, is or has "File".
func isFile(kind any) bool {
	list, ok := kind.([]any)
	return kind == "File" || ok && slices.Contains(list, any("File"))
}

type sha struct{ hash.Hash }

func newHash() sha { return sha{sha256.New()} }

func (h sha) hex() string { return hex.EncodeToString(h.Sum(nil)) }

// infoOf is the size and the hash of a content.
func infoOf(content []byte) fileInfo {
	h := newHash()
	h.Write(content)
	return fileInfo{int64(len(content)), h.hex()}
}

// hashFile is the size and the hash of a file.
func hashFile(name string) (fileInfo, error) {
	f, err := os.Open(name)
	if err != nil {
		return fileInfo{}, err
	}
	h := newHash()
	n, err := io.Copy(h, f)
	return fileInfo{n, h.hex()}, errors.Join(err, f.Close())
}
