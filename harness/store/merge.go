package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"ssdl/harness/tempfile"
)

// Merged counts what Merge found in the files, each run once however many files have it.
type Merged struct {
	Runs     int // added
	Known    int // there already, the same in everything
	Jobs     int // added, and so are the following
	Datasets int
	Splits   int
	// Changed lists the jobs that had a current run and have another now, by key. It is empty unless
	// the files are preferred.
	Changed []CurrentChange
}

// CurrentChange is a job whose current run is another than before.
type CurrentChange struct {
	Job     Job
	Was, Is string // uids
}

// Source is a file to be merged.
type Source struct {
	Name string // what messages and origins call it: the name that its user knows
	Path string
	// SHA256 is that of the file called Name where Path was unpacked from it; empty where both are one.
	SHA256 string
	Signer string // who signed it; empty without a signature
}

// Prefer says whose results are current where both the store and a file have one.
type Prefer int

// Without PreferTheirs no import changes a result that was there.
const (
	PreferOurs Prefer = iota
	PreferTheirs
)

// MergeOptions say how files are merged. The zero value is that of Merge.
type MergeOptions struct {
	Prefer Prefer
	// Verify is called for every run of the files; see Check. Nil verifies no more than the hashes.
	Verify Verify
	// SameBits reports whether two environments compute the same bits; nil says so of equal ones alone.
	SameBits func(a, b map[string]string) bool
	// Shards says that the files are parts of this store that its own program recorded elsewhere, one after the
	// other: their runs count as recorded here. Prefer is of no use then.
	Shards bool
	// Deterministic reports whether all runs of a job must predict the same; nil says so of every job.
	Deterministic func(Job) bool
}

// Merge adds to the file what other files of runs hold: those of other machines, and of
// other people. A run is known by its uid and added once. Files of an older schema are
// converted on a copy; no file but the store's own is written to.
//
// All of it is added, or nothing: a run that the store has under the same uid with other
// content, and a job, data set or split of the same hash with other content, are refused
// by name. So are two ok runs of one job, by the same code in the same environment, that predict
// something else, and a file that is damaged, that another program made or changed, or whose
// rows a reader could not trust. Of what may differ (the name and source of a data set, how
// a split came about, what a name stands for) that of the store stays, and then that of the
// earlier file.
//
// What was current stays current: imported runs come after those that are there, and what the files say
// to be superseded applies to the runs that came with them.
func (s *Store) Merge(ctx context.Context, files ...Source) (Merged, error) {
	return s.MergeWith(ctx, MergeOptions{}, files...)
}

// MergeWith is Merge with options. With PreferTheirs the runs of the files come before those that are
// there, also those that were imported before, and what the files say to be superseded applies to all.
func (s *Store) MergeWith(ctx context.Context, opts MergeOptions, files ...Source) (Merged, error) {
	if s.w == nil {
		return Merged{}, fileError(fmt.Errorf("store: %s: cannot import: it was opened for reading only", s.path))
	}
	if len(files) == 0 {
		return Merged{}, nil
	}
	tmp, err := tempfile.System()
	if err != nil {
		return Merged{}, fmt.Errorf("store: %s: cannot import: %w", s.path, err)
	}
	defer tmp.Remove()
	dir := tmp.Path
	copies := make([]Source, len(files))
	failed := make([]error, len(files)) // the first file at fault is named, whichever is read first
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		copies[i] = Source{Name: f.Name, Path: filepath.Join(dir, fmt.Sprintf("%d.db", i))}
		g.Go(func() error {
			if err := f.copyTo(ctx, copies[i].Path, opts); err != nil {
				failed[i] = noRoom(f.Name, dir, err)
			}
			return nil
		})
	}
	g.Wait()
	for _, err := range failed {
		if err != nil {
			return Merged{}, err
		}
	}
	from := copies[0]
	if len(copies) > 1 { // first among themselves, so that one transaction does for all
		if from, err = mergeIntoOne(ctx, filepath.Join(dir, "all.db"), copies); err != nil {
			return Merged{}, noRoom("the files", dir, err)
		}
	}
	mode := mergeMode{imports: !opts.Shards, theirs: opts.Prefer == PreferTheirs && !opts.Shards}
	return s.mergeFrom(ctx, from, func(ctx context.Context, tx *sql.Tx) (Merged, error) {
		m, last, err := mergeTables(ctx, tx, mode)
		if err != nil {
			return m, err
		}
		return m, refuseContradictions(ctx, tx, last, opts)
	})
}

// noRoom says of an error of a full disk that it is that of the temporary folder dir.
func noRoom(name, dir string, err error) error {
	if !isDiskFull(err) {
		return err
	}
	return fmt.Errorf("store: %s: cannot import: no room in %s for a copy. Free some, or set TMPDIR to another folder (%w)", name, filepath.Dir(dir), err)
}

// DryRun merges files into a copy, as MergeWith would merge them into the store, which may be one that
// is only read. Closing the copy removes it.
func (s *Store) DryRun(ctx context.Context, opts MergeOptions, files ...Source) (_ *Store, m Merged, err error) {
	dir, err := tempfile.System()
	if err != nil {
		return nil, m, fmt.Errorf("store: %s: cannot try the import: %w", s.path, err)
	}
	defer func() {
		if err != nil {
			dir.Remove()
		}
	}()
	path := filepath.Join(dir.Path, filepath.Base(s.path))
	if err := s.Backup(ctx, path); err != nil {
		return nil, m, err
	}
	trial, err := openCopy(ctx, path)
	if err != nil {
		return nil, m, err
	}
	trial.path, trial.trialDir = s.path, dir
	if m, err = trial.MergeWith(ctx, opts, files...); err != nil {
		return nil, Merged{}, errors.Join(err, trial.Close())
	}
	return trial, m, nil
}

// mergeIntoOne merges files into a new one at path.
func mergeIntoOne(ctx context.Context, path string, files []Source) (_ Source, err error) {
	all, err := openCopy(ctx, path)
	if err != nil {
		return Source{}, err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	var names []string
	for _, f := range files {
		all.path = strings.Join(names, ", ") // for messages: what a conflict is with
		if _, err := all.mergeFrom(ctx, f, func(ctx context.Context, tx *sql.Tx) (Merged, error) {
			m, _, err := mergeTables(ctx, tx, mergeMode{})
			return m, err
		}); err != nil {
			return Source{}, err
		}
		names = append(names, f.Name)
	}
	return Source{Name: strings.Join(names, ", "), Path: path}, nil
}

// mergeFrom merges a file, which f does as part of a transaction that sees it as "other".
func (s *Store) mergeFrom(ctx context.Context, from Source, f func(context.Context, *sql.Tx) (Merged, error)) (m Merged, err error) {
	doing := "import " + from.Name
	conn, err := s.w.Conn(ctx)
	if err != nil {
		return Merged{}, s.explain(doing, err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ? AS other", dsn(from.Path, s.wait, "mode=ro")); err != nil {
		return Merged{}, s.explain(doing, err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "DETACH DATABASE other")
	err = s.transact(ctx, conn, doing, func(tx *sql.Tx) (err error) {
		m, err = f(ctx, tx)
		return err
	})
	if err != nil {
		return Merged{}, err
	}
	return m, nil
}

// now is a time as the store keeps it.
func now() string { return time.Now().UTC().Format(stamp) }
