package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ssdl/harness/archive"
	"ssdl/harness/store"
)

type importCmd struct {
	Files []string `arg:"" help:"Archives (of ssdl archive) or files of runs (runs.db)."`
	resultsFlag
}

// Help is what ssdl import --help adds.
func (importCmd) Help() string {
	return "Each run is added once, by its uid; all files are added or none. A file that contradicts the store, is damaged or was not made by ssdl is refused by name."
}

func (c *importCmd) Run(e *env) error {
	dir, err := os.MkdirTemp("", "ssdl-import-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var sources []store.Source
	for i, name := range c.Files {
		path, err := unpacked(e, name, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		sources = append(sources, store.Source{Name: name, Path: path})
	}
	st, err := e.openStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer st.Close()
	m, err := st.Merge(e.ctx, sources...)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	fmt.Fprintf(e.stdout, "%d runs added, %d known; %d jobs, %d data sets, %d splits added\n", m.Runs, m.Known, m.Jobs, m.Datasets, m.Splits)
	return nil
}

// unpacked is the path of the file of runs that name is, or that it has in its archive,
// which is unpacked into dir.
func unpacked(e *env, name, dir string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", &exitError{exitUsage, err}
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if n == 0 && err != io.EOF { // a folder, say
		return "", &exitError{exitUsage, fmt.Errorf("%s cannot be read: %w", name, err)}
	}
	switch head := string(head[:n]); {
	case head == "SQLite format 3\x00":
		return name, nil
	case n > 4 && head[:4] == "PK\x03\x04":
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
		if err := archive.Extract(e.ctx, name, dir); err != nil {
			return "", &exitError{exitUsage, err}
		}
		return filepath.Join(dir, archive.StoreFile), nil
	}
	return "", fail(exitUsage, "%s is neither an archive (zip) nor a file of runs (SQLite)", name)
}
