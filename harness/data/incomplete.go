package data

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Incomplete finds folders in the roots that look like data sets but are none: they have .npy files
// and no features.npy. The keys are their names, or "" for a root that is such a folder itself.
func Incomplete(roots []string) map[string]error {
	out := map[string]error{}
	for _, root := range roots {
		entries, err := os.ReadDir(root)
		if err != nil {
			continue // Names reports it
		}
		if files := arrayFiles(entries); len(files) > 0 && out[""] == nil {
			out[""] = Invalid(root, "has %s itself. A data set is a folder in it: put features.npy and labels.npy into %s.", strings.Join(files, ", "), filepath.Join(root, "NAME"))
		}
		for _, e := range entries {
			if !e.IsDir() || out[e.Name()] != nil {
				continue
			}
			path := filepath.Join(root, e.Name())
			inside, err := os.ReadDir(path)
			if files := arrayFiles(inside); err == nil && len(files) > 0 {
				out[e.Name()] = Invalid(path, "has %s and no features.npy. A data set needs features.npy, samples x features, and labels.npy, classes from 0: rename the files.", strings.Join(files, ", "))
			}
		}
	}
	return out
}

// arrayFiles lists the .npy files of a folder; none if features.npy is among them.
func arrayFiles(entries []fs.DirEntry) []string {
	var files []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".npy" {
			files = append(files, e.Name())
		}
	}
	if slices.Contains(files, "features.npy") {
		return nil
	}
	return files
}
