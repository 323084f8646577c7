package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"ssdl/harness/store"
	"ssdl/harness/tempfile"
)

// File is a file of an archive. Its name in the archive has forward slashes.
type File struct {
	Name    string
	Content []byte
}

// Spec is a spec of an archive, with its tables and figures.
type Spec struct {
	Name    string
	Title   string
	Source  []byte    // the YAML file
	Command string    // makes the runs, in the folder of the unpacked archive
	Jobs    Selection // jobs of its cells
	// Datasets are the names of its data sets, and Seeds its seeds in the form of the flag -s.
	Datasets []string
	Seeds    string
	Missing  int // number of its runs that the store lacks
	// Splits are the index files of these jobs; specs may share them.
	Splits []File
	// Results are its tables and figures.
	Results []File
}

// File is the name of the spec in the archive.
func (s Spec) File() string { return "specs/" + s.Name + ".yaml" }

func fileNames(files []File) []string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	return names
}

// ErrEmpty says that there is nothing to archive.
var ErrEmpty = errors.New("there are no runs")

// Package is the content of an archive beside the store. Every spec must have runs; the first one is the main one.
type Package struct {
	Specs []Spec
	// Preview is a page of HTML that shows the specs; without it the archive gets a plain page.
	Preview []byte
	// Documents are further files of the top folder: LICENSE, CITATION.cff.
	Documents []File
	// Author ran the program and made the archive. Publisher is an organisation; it may be empty if the author is
	// an organisation too.
	Author, Publisher Agent
}

// files lists the files of the package but the preview.
func (p Package) files() []File {
	files := slices.Clone(p.Documents)
	for _, s := range p.Specs {
		files = slices.Concat(files, []File{{s.File(), s.Source}}, s.Splits, s.Results)
	}
	return files
}

// Write writes an archive to path: a zip file with a copy of the whole store, the specs with their split
// files, tables and figures, documents, a page that shows them, a README, a description as an RO-Crate,
// and a manifest of all hashes, which key signs unless it is nil. It refuses a run that is not as it was
// recorded, or that verify refuses.
//
// The same store and package give the same bytes, except for the signature of an ECDSA key: files are sorted
// by name, and their time is the end of the last run. The archive appears when it is complete, without runs
// that others record meanwhile.
func Write(ctx context.Context, path string, st *store.Store, p Package, verify store.Verify, key ssh.Signer) (err error) {
	small, err := collect(p)
	if err != nil {
		return err
	}
	tmp, err := tempfile.NewFolder(path)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer tmp.Remove()
	db := filepath.Join(tmp.Path, StoreFile)
	if err := st.Backup(ctx, db); err != nil {
		return err
	}
	h, err := historyOf(ctx, db, p.Specs, verify)
	if err != nil {
		return err
	}
	small[readmeFile] = readme(p, h)
	if small[previewFile] = p.Preview; p.Preview == nil {
		small[previewFile] = plainPreview(small[readmeFile])
	}
	files := map[string]fileInfo{}
	if files[StoreFile], err = hashFile(db); err != nil {
		return err
	}
	for name, content := range small {
		files[name] = infoOf(content)
	}
	if small[metadataFile], err = crate(p, files, h); err != nil {
		return err
	}
	files[metadataFile] = infoOf(small[metadataFile])
	small[manifestFile] = manifest(files)
	if key != nil {
		if small[signatureFile], err = sign(small[manifestFile], key); err != nil {
			return err
		}
	}
	made := filepath.Join(tmp.Path, "archive.zip")
	if err := writeZip(ctx, made, db, small, h.all.end); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return os.Rename(made, path)
}

// historyOf reads the history of the runs of the store at path: the copy in the archive, since the
// store itself may have more runs by then.
func historyOf(ctx context.Context, path string, specs []Spec, verify store.Verify) (*history, error) {
	st, err := store.OpenReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	h := newHistory()
	if err := Selection(nil).each(ctx, st, func(e store.RunRecord) error {
		if err := verify(e); err != nil {
			return err
		}
		var shown []string
		for _, s := range specs {
			if s.Jobs.has(e.Run.JobKey) {
				shown = append(shown, s.Name)
			}
		}
		h.add(e, shown)
		return nil
	}); err != nil {
		return nil, err
	}
	if h.runs == 0 {
		return nil, fmt.Errorf("nothing to archive: %w in the store", ErrEmpty)
	}
	for _, s := range specs {
		if h.specs[s.Name] == nil {
			return nil, fmt.Errorf("nothing to archive of %s: %w of it", s.Name, ErrEmpty)
		}
	}
	return h, nil
}

// collect returns the files of a package by name. Files of one name must have the same content.
func collect(p Package) (map[string][]byte, error) {
	reserved := []string{metadataFile, StoreFile, readmeFile, previewFile, manifestFile, signatureFile}
	all := map[string][]byte{}
	for _, f := range p.files() {
		if !isSafe(f.Name) || slices.Contains(reserved, f.Name) {
			return nil, fmt.Errorf("%q cannot be the name of a file of an archive", f.Name)
		}
		if known, ok := all[f.Name]; ok && !bytes.Equal(known, f.Content) {
			return nil, fmt.Errorf("two specs make different files %s: archive them one by one", f.Name)
		}
		all[f.Name] = f.Content
	}
	return all, nil
}

// writeZip writes the store and the other files. Metadata, manifest and signature come first, so that a reader of
// a stream knows the rest.
func writeZip(ctx context.Context, path, db string, small map[string][]byte, at time.Time) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := zip.NewWriter(f)
	put := func(name string, content io.Reader) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at.UTC().Truncate(time.Second)})
		if err != nil {
			return err
		}
		_, err = io.Copy(w, content)
		return err
	}
	first := []string{metadataFile, manifestFile, signatureFile}
	for _, name := range first {
		if content, ok := small[name]; ok {
			if err := put(name, bytes.NewReader(content)); err != nil {
				return err
			}
		}
	}
	store, err := os.Open(db)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := put(StoreFile, store); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(small)) {
		if slices.Contains(first, name) {
			continue
		}
		if err := put(name, bytes.NewReader(small[name])); err != nil {
			return err
		}
	}
	return z.Close()
}
