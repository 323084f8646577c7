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

// Merged counts what Merge found in the files, each run once.
type Merged struct {
	Runs     int // added
	Known    int // there already, with the same content
	Jobs     int // added
	Datasets int // added
	Splits   int // added
	// Changed lists the jobs whose current run is another than before, sorted by key. It is empty unless
	// the files are preferred.
	Changed []CurrentChange
}

// CurrentChange is a job whose current run has changed.
type CurrentChange struct {
	Job     Job
	Was, Is string // uids
}

// Source is a file to merge.
type Source struct {
	Name string // for messages and origins: the name that the user gave
	Path string
	// SHA256 is the hash of the archive Name that Path was unpacked from; empty if Name is the file itself.
	SHA256 string
	Signer string // who signed it; empty without a signature
}

// Prefer says whose result is current if both the store and a file have one.
type Prefer int

// Only PreferTheirs changes results that were there.
const (
	PreferOurs Prefer = iota
	PreferTheirs
)

// MergeOptions say how files are merged.
type MergeOptions struct {
	Prefer Prefer
	// Verify is called for every run of the files; see Check. Nil checks only the hashes.
	Verify Verify
	// SameBits reports whether two environments compute the same bits; nil means that only equal ones do.
	SameBits func(a, b map[string]string) bool
	// Shards says that the files are stores of shards: their runs and repetitions are treated as recorded
	// here, and Prefer is ignored.
	Shards bool
	// Deterministic reports whether all runs of a job must predict the same; nil means that all jobs must.
	Deterministic func(Job) bool
}

// Merge adds the content of other files of runs. A run is identified by its uid and added once. Files of
// an older schema are converted in a copy; only the store's own file is written.
//
// It adds everything or nothing. It refuses, by name: a run, job, data set or split that the store has with
// other content; two ok runs of one job, by the same code in the same environment, with different
// predictions; a file that is damaged, or that another program made or changed. If descriptions differ (the
// name and source of a data set, the kind of a split, the meaning of a name), the store's is kept, and then
// that of the earlier file.
//
// Current runs stay current: imported runs rank after those that are there, and the files supersede only
// their own runs. With PreferTheirs the runs of the files rank before all others, and the files supersede
// any run.
func (s *Store) Merge(ctx context.Context, opts MergeOptions, files ...Source) (Merged, error) {
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
	failed := make([]error, len(files)) // by file, so that the error is always that of the first
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
	if len(copies) > 1 { // into one file first, so that one transaction on the store is enough
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

// noRoom adds to an error of a full disk that the disk is that of the temporary folder dir.
func noRoom(name, dir string, err error) error {
	if !isDiskFull(err) {
		return err
	}
	return fmt.Errorf("store: %s: cannot import: no room in %s for a copy. Free some, or set TMPDIR to another folder (%w)", name, filepath.Dir(dir), err)
}

// DryRun merges files into a copy of the store, which may be read-only. Closing the copy removes it.
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
	if m, err = trial.Merge(ctx, opts, files...); err != nil {
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
		all.path = strings.Join(names, ", ") // for the message of a conflict
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

// mergeFrom attaches a file as "other" and runs f in a transaction that sees both.
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
