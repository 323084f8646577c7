package data

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find returns the path of the data set called name in the first root that has it: the folder
// root/name with a features.npy, or the file root/name.npz, .mat, .csv, .NPZ, .MAT or .CSV, in this
// order. A name with a path separator is never found. The set may still be unusable: Load says why.
func Find(name string, roots []string) (path string, ok bool) {
	if name == "" || name != filepath.Base(name) || !filepath.IsLocal(name) {
		return "", false
	}
	for _, root := range roots {
		if isFile(filepath.Join(root, name, "features.npy")) {
			return filepath.Join(root, name), true
		}
		for _, ext := range formats {
			if path := filepath.Join(root, name+ext); isFile(path) {
				return path, true
			}
		}
	}
	return "", false
}

// isFile reports whether path exists and is not a folder. It finds pipes and devices too, so that
// Load refuses them by name.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Info describes a set by its headers alone.
type Info struct {
	Name, Path string
	Format     string // npy, npz, mat or csv
	DType      string
	Samples    int
	Dim        int
	Classes    int // 0 if only a full load can tell
	Official   bool
}

// Inspect reads the headers of the set at path. Load may still find faults in the content. A .csv
// file has no header, so Inspect reads all of it.
func Inspect(path string) (Info, error) {
	c, err := open(path, true)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Name: c.name, Path: path, Format: c.format, DType: c.dtype,
		Samples: c.features.rows, Dim: c.features.cols, Classes: len(c.meta.Classes),
		Official: c.format == "npy" && isFile(filepath.Join(path, "official_split.npy")),
	}, nil
}

// Listing is a set that List found: its Info, or the reason why it is unusable.
type Listing struct {
	Info
	Err error
}

// Names lists the data sets in the roots, in alphabetical order. It skips roots that do not exist.
func Names(roots []string) ([]string, error) {
	names := map[string]bool{}
	for _, root := range roots {
		entries, err := os.ReadDir(root)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
		for _, e := range entries {
			name := e.Name()
			if ext := filepath.Ext(name); !e.IsDir() && slices.Contains(formats, ext) {
				name = strings.TrimSuffix(name, ext)
			}
			names[name] = true
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool {
		_, ok := Find(name, roots)
		return !ok
	})
	return slices.Sorted(maps.Keys(names)), nil
}

// List inspects every set that Names lists.
func List(roots []string) ([]Listing, error) {
	names, err := Names(roots)
	if err != nil {
		return nil, err
	}
	var out []Listing
	for _, name := range names {
		path, ok := Find(name, roots)
		if !ok { // deleted since Names saw it
			continue
		}
		info, err := Inspect(path)
		if err != nil {
			info = Info{Name: name, Path: path}
		}
		out = append(out, Listing{info, err})
	}
	return out, nil
}
