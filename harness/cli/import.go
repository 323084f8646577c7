package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ssdl/harness/archive"
	"ssdl/harness/provenance"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/harness/tempfile"
)

type importCmd struct {
	Files []string `arg:"" help:"Archives (of ssdl archive) or files of runs (runs.db)."`
	dataFlags
	resultsFlag
	DryRun           bool     `help:"Only say what would be added, and which cells would change."`
	Prefer           string   `enum:"ours,theirs" default:"ours" placeholder:"ours|theirs" help:"Whose result tables show if both have one (default: ours)."`
	Shards           bool     `help:"The files are stores of shards (ssdl run --shard): their runs count as recorded here."`
	RequireSignature []string `sep:"," placeholder:"KEY" help:"Files of public ssh keys, KEY.pub or allowed_signers: only archives that one of these keys signed are imported."`
}

// Help is printed below the flags.
func (importCmd) Help() string {
	return "Each run is added once, by its id; all files are added or none. Every hash is checked, and every metric is recomputed from the predictions. " +
		"A file that contradicts the store, is damaged or was not made by ssdl is refused by name.\n\n" +
		"Imported runs keep their origin, and tables name it. They fill cells that had no result. Other cells change only with --prefer theirs.\n\n" +
		"Specs of an archive that are not built in are written to specs/ in the results folder."
}

// source is a file to import, with a note about its author and the specs of its archive.
type source struct {
	store.Source
	note  string
	specs []archive.File
}

func (c *importCmd) Run(e *env) (err error) {
	var trusted archive.TrustedKeys
	if len(c.RequireSignature) > 0 {
		if trusted, err = archive.ReadTrustedKeys(c.RequireSignature...); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	dir, err := tempfile.System()
	if err != nil {
		return err
	}
	defer dir.Remove()
	var sources []store.Source
	var specs []archive.File
	for i, name := range c.Files {
		s, err := c.unpacked(e, name, filepath.Join(dir.Path, fmt.Sprint(i)), trusted)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s: %s\n", name, s.note)
		sources, specs = append(sources, s.Source), append(specs, s.specs...)
	}
	opts := mergeOptions()
	if opts.Shards = c.Shards; c.Shards && c.Prefer == "theirs" {
		return fail(exitUsage, "--prefer theirs has no use beside --shards: the earliest run of a job is current")
	}
	if err := c.announce(e, opts, sources); err != nil || c.DryRun {
		return err
	}
	st, err := e.openStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer closeStore(st, &err)
	if c.Prefer == "theirs" {
		opts.Prefer = store.PreferTheirs
	}
	m, err := st.Merge(e.ctx, opts, sources...)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	fmt.Fprintf(e.stdout, "added: %s\n", merged(m))
	return c.writeSpecs(e, specs)
}

// mergeOptions are options to verify each run and to refuse contradicting results.
func mergeOptions() store.MergeOptions {
	return store.MergeOptions{
		Verify: run.Verify,
		SameBits: func(a, b map[string]string) bool {
			return provenance.BuildDifference(a, b) == ""
		},
		// An external program may be random.
		Deterministic: func(j store.Job) bool { return j.Method.Command == nil && j.Pretext.Command == nil },
	}
}

// announce tries the import on copies and says which cells of the built-in specs it changes.
func (c *importCmd) announce(e *env, opts store.MergeOptions, sources []store.Source) (err error) {
	st, done, err := e.quietStoreOrEmpty(c.resultsFlag)
	if err != nil {
		return err
	}
	defer done()
	try := func(prefer store.Prefer) (store.Merged, []results.CellChange, error) {
		opts.Prefer = prefer
		trial, m, err := st.DryRun(e.ctx, opts, sources...)
		if err != nil {
			return m, nil, &exitError{exitUsage, err}
		}
		changes, err := c.changes(e, st, trial)
		closeStore(trial, &err)
		return m, changes, err
	}
	m, theirs, err := try(store.PreferTheirs)
	if err != nil {
		return err
	}
	changed := slices.DeleteFunc(slices.Clone(theirs), func(x results.CellChange) bool { return !x.HadValue() })
	filled := 0
	for _, x := range theirs {
		if !x.HadValue() && x.Is.State == results.OK {
			filled++
		}
	}
	if c.DryRun {
		fmt.Fprintf(e.stdout, "would be added: %s\n", merged(m))
	}
	if filled > 0 {
		fmt.Fprintf(e.stdout, "cells of the built-in specs that get a value: %d\n", filled)
	}
	if c.Prefer == "theirs" {
		return printChanges(e, "Cells that change", changed)
	}
	_, ours, err := try(store.PreferOurs)
	if err != nil {
		return err
	}
	more := slices.DeleteFunc(ours, func(x results.CellChange) bool { return !x.HadValue() })
	if err := printChanges(e, "Cells that get more seeds", more); err != nil {
		return err
	}
	kept := slices.DeleteFunc(changed, func(x results.CellChange) bool {
		return slices.ContainsFunc(more, func(y results.CellChange) bool { return y.Table == x.Table && y.Row == x.Row && y.Column == x.Column })
	})
	return printChanges(e, "Cells that stay as they are, and would change with --prefer theirs", kept)
}

// merged says what a merge adds.
func merged(m store.Merged) string {
	return fmt.Sprintf("%s, %s, %s, %s; known already: %s",
		report.Count(m.Runs, "run", "runs"), report.Count(m.Jobs, "job", "jobs"),
		report.Count(m.Datasets, "data set", "data sets"), report.Count(m.Splits, "split", "splits"), report.Count(m.Known, "run", "runs"))
}

// printChanges prints changes, if there are any.
func printChanges(e *env, heading string, list []results.CellChange) error {
	if len(list) == 0 {
		return nil
	}
	return report.OfChanges(heading, list).Write(e.stdout, "text")
}

// changes lists the cells of the built-in specs in which two stores differ.
func (c *importCmd) changes(e *env, was, is *store.Store) ([]results.CellChange, error) {
	var out []results.CellChange
	for _, name := range spec.Names() {
		sel := specSelection{dataFlags: c.dataFlags, resultsFlag: c.resultsFlag}
		recorded, err := is.Datasets(e.ctx)
		if err != nil {
			return nil, err
		}
		for _, d := range recorded { // is has those of was too
			if s, err := spec.Load(name); err == nil && (slices.Contains(s.Datasets, d.Name) || results.ColumnOf(d.Name).StandsFor != "") && !slices.Contains(sel.Datasets, d.Name) {
				sel.Datasets = append(sel.Datasets, d.Name)
			}
		}
		if len(sel.Datasets) == 0 {
			continue
		}
		var tables []results.Table
		for _, st := range []*store.Store{was, is} {
			p, err := e.planOf(st, sel, name)
			if err != nil {
				return nil, err
			}
			t, err := results.TableOf(p, false)
			if err != nil {
				return nil, err
			}
			tables = append(tables, t)
		}
		out = append(out, results.Changes(tables[0], tables[1])...)
	}
	return out, nil
}

// unpacked returns the file of runs to import: name itself, or the one in the archive name, which it unpacks
// into dir.
func (c *importCmd) unpacked(e *env, name, dir string, trusted archive.TrustedKeys) (s source, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return s, &exitError{exitUsage, err}
	}
	if !info.Mode().IsRegular() {
		return s, fail(exitUsage, "%s is a folder or a special file, not an archive (zip) or a file of runs (SQLite)", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return s, &exitError{exitUsage, err}
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if n == 0 && err != io.EOF {
		return s, &exitError{exitUsage, fmt.Errorf("%s cannot be read: %w", name, err)}
	}
	s.Name = name
	switch head := string(head[:n]); {
	case head == "SQLite format 3\x00":
		if len(c.RequireSignature) > 0 {
			return s, fail(exitUsage, "%s is a plain file of runs and has no signature: ask for an archive (`ssdl archive --sign KEY`), or import it without --require-signature", name)
		}
		s.Path, s.note = name, "a plain file of runs, which has no signature"
		return s, nil
	case n > 4 && head[:4] == "PK\x03\x04":
		if err := os.Mkdir(dir, 0o700); err != nil {
			return s, err
		}
		contents, err := archive.Extract(e.ctx, name, dir, trusted)
		if err != nil {
			return s, &exitError{exitUsage, err}
		}
		s.specs = contents.Specs
		s.Path, s.SHA256, s.note = filepath.Join(dir, archive.StoreFile), contents.SHA256, "not signed: its author is unknown"
		if sig := contents.Signature; sig != nil {
			s.note = "signed by the key " + sig.Fingerprint
			s.Signer = sig.Fingerprint
			if sig.Signer != "" {
				s.note += " of " + sig.Signer
				s.Signer = sig.Signer + " (" + sig.Fingerprint + ")"
			} else {
				s.note += "; --require-signature compares it with the keys that you trust"
			}
		}
		return s, nil
	}
	return s, fail(exitUsage, "%s is neither an archive (zip) nor a file of runs (SQLite)", name)
}
