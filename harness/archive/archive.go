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

// File is a file of an archive by its name there, with forward slashes.
type File struct {
	Name    string
	Content []byte
}

// Spec is a spec that goes into an archive with what was made of its runs.
type Spec struct {
	Name    string
	Title   string
	Source  []byte    // the YAML file
	Command string    // that makes the runs, where the archive is unpacked
	Jobs    Selection // behind its cells
	// Datasets are the names of its data sets, and Seeds its seeds as the flag -s has them.
	Datasets []string
	Seeds    string
	Missing  int // runs of its cells that are not in the store
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

// ErrEmpty is why there is nothing to archive.
var ErrEmpty = errors.New("there are no runs")

// Package is what goes into an archive beside the store. Every spec must have runs; the first one is the main one.
type Package struct {
	Specs []Spec
	// Preview is a page of HTML that shows the specs; without one the archive has a plain page.
	Preview []byte
	// Documents are further files of the first folder: LICENSE, CITATION.cff.
	Documents []File
	// Author ran the program and made the archive. Publisher is an organisation; without one it is the author,
	// who then is no person.
	Author, Publisher Agent
}

// Write makes the archive path: a zip file with a copy of the whole store, the specs with
// their split files, tables and figures, documents, a page that shows them, a README, a
// description of it all as an RO-Crate, and a manifest of all hashes, which key signs if it is not nil.
// A run that is not as it was recorded, or that verify finds
// wrong, is refused.
//
// The same store and package give the same bytes, but for the signature of an ECDSA key: files come in
// the order of their names and bear the time at which the last run ended. The archive appears when it is complete; what
// others write to the store meanwhile is no part of it.
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

// historyOf reads the history of the runs of the store at path, which is the copy that the
// archive gets: the store itself may have others by then.
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

// collect lists the files of a package by name; two of one name must be the same.
func collect(p Package) (map[string][]byte, error) {
	reserved := []string{metadataFile, StoreFile, readmeFile, previewFile, manifestFile, signatureFile}
	all := map[string][]byte{}
	files := slices.Clone(p.Documents)
	for _, s := range p.Specs {
		files = slices.Concat(files, []File{{s.File(), s.Source}}, s.Splits, s.Results)
	}
	for _, f := range files {
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

// writeZip writes the store and the other files, those that describe the others first, so that a
// reader who gets the file piece by piece knows what comes.
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
