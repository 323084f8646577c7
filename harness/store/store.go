// Package store keeps jobs and their runs in one SQLite file.
//
// A job says what to compute, a run is one attempt at it. A failed run is not a result and hides
// none. A run is written at its end, in one transaction with everything it measured: a killed process
// leaves no half run. Runs are added and never changed, and every reader checks the hash of each
// record. The choice of a tuning is not stored, since it follows from the runs.
//
// Several goroutines and several processes of one machine may write to the same file.
// Machines must not share it: each writes its own, and Merge joins them by run uid. Imported runs
// keep their origin, and change no result that was there unless the user prefers them.
//
// The callers decide what to run and what a metric means.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"ssdl/harness/tempfile"
)

// lockWait is how long a writer waits for the writers of other processes. SQLite ignores the context
// while it waits, so a writer lets it wait for lockSlice at a time and checks the context in between.
const (
	lockWait  = 30 * time.Second
	lockSlice = 200 * time.Millisecond
)

// readers is the number of connections that read at the same time.
const readers = 4

// Store is an open file of runs. Its methods may be called from several goroutines.
type Store struct {
	path string  // as it was given, for messages
	abs  string  // absolute
	w    *sql.DB // one connection; nil if read-only
	r    *sql.DB
	wait time.Duration
	// file describes the file at abs when it was opened for writing: see checkInPlace.
	file os.FileInfo
	// logFull is when the write-ahead log was last found to be in use: see shortenLog.
	logFull time.Time
	// trialDir is the folder of a copy of DryRun, which Close removes.
	trialDir *tempfile.Folder

	claiming sync.Mutex
	claims   *os.File // nil until the first Claim
}

// Open opens the file at path for reading and writing, creates it (and its folder) if
// there is none, and converts an older schema. It refuses a file of a newer ssdl or of another program.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := open(ctx, path, lockWait, "NORMAL")
	return s, fileError(err)
}

// openCopy is Open for a temporary file: no write waits for the disk.
func openCopy(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, lockWait, "OFF")
}

// open opens the file at path; synchronous is the value of SQLite's pragma.
func open(ctx context.Context, path string, wait time.Duration, synchronous string) (_ *Store, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	if info, err := os.Stat(abs); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("store: %s is a %s, not a file of runs", path, kindOf(info.Mode()))
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o777); err != nil {
		return nil, fmt.Errorf("store: cannot create the folder of %s: %w", path, err)
	}
	s := &Store{path: path, abs: abs, wait: wait}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()

	// Creation and migration need a file lock: SQLite ignores the busy timeout when two processes
	// switch a new file to WAL.
	unlock, err := lock(ctx, abs+".lock", wait)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	defer unlock()

	if s.w, err = sql.Open("sqlite3", dsn(abs, min(wait, lockSlice),
		"mode=rwc", "_txlock=immediate", "_synchronous="+synchronous, "_foreign_keys=on", "_stmt_cache_size=32")); err != nil {
		return nil, s.explain("open", err)
	}
	s.w.SetMaxOpenConns(1)
	if err := s.retryLocked(ctx, func() error { return migrate(ctx, s.w, migrations()) }); err != nil {
		return nil, s.explain("open", err)
	}
	if _, err := s.w.ExecContext(ctx, fmt.Sprintf("PRAGMA journal_size_limit = %d", logSoft)); err != nil {
		return nil, s.explain("open", err)
	}
	if s.file, err = os.Stat(abs); err != nil {
		return nil, s.explain("open", err)
	}
	if err := s.openReaders(ctx, abs); err != nil {
		return nil, s.explain("open", err)
	}
	return s, nil
}

// OpenReadOnly opens an existing file for reading. Others may write to it, and its medium may be
// read-only.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	s, err := openReadOnly(ctx, path)
	return s, fileError(err)
}

func openReadOnly(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	switch info, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("store: there is no %s: nothing has been run yet, or the file is elsewhere: %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("store: cannot read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("store: %s is a %s, not a file of runs", path, kindOf(info.Mode()))
	case info.Size() == 0 && isEmpty(abs+"-wal"):
		return nil, errHoldsNothing(path)
	}
	s := &Store{path: path, abs: abs, wait: lockWait}
	err = s.openReaders(ctx, abs)
	if isUnreadableWAL(err) && isEmpty(abs+"-wal") {
		// The folder is read-only, so SQLite cannot create the index of the log. There is no log,
		// so the file alone is complete.
		err = s.openReaders(ctx, abs, "immutable=1")
	}
	if err == nil {
		err = checkVersion(ctx, s.r, migrations())
	}
	if errors.Is(err, errNoTables) {
		s.Close()
		return nil, errHoldsNothing(path)
	}
	if err != nil {
		s.Close()
		return nil, s.explain("open", err)
	}
	return s, nil
}

// errHoldsNothing is the error of an empty file, which a process leaves that is killed while it creates the store.
func errHoldsNothing(path string) error {
	return fmt.Errorf("store: %s is empty: nothing has been run yet, or the runs are elsewhere: %w", path, fs.ErrNotExist)
}

// openReaders opens the pool of readers and tests it.
func (s *Store) openReaders(ctx context.Context, abs string, params ...string) error {
	if s.r != nil {
		s.r.Close()
	}
	var err error
	s.r, err = sql.Open("sqlite3", dsn(abs, s.wait, append(params, "mode=ro", "_query_only=1")...))
	if err != nil {
		return err
	}
	s.r.SetMaxOpenConns(readers)
	s.r.SetMaxIdleConns(readers)
	var n int
	return s.r.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n)
}

// retryLocked repeats f while another process has the file locked, until s.wait is over or ctx is
// done.
func (s *Store) retryLocked(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(s.wait)
	for {
		err := f()
		if err == nil || !isLocked(err) || time.Now().After(deadline) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// dsn is the data source name of the file at the absolute path abs.
func dsn(abs string, wait time.Duration, params ...string) string {
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	params = append(params, "_busy_timeout="+strconv.FormatInt(wait.Milliseconds(), 10))
	return "file:" + (&url.URL{Path: p}).EscapedPath() + "?" + strings.Join(params, "&")
}

func isEmpty(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// checkInPlace checks that path still leads to the open file: writes to a deleted or replaced file are lost.
func (s *Store) checkInPlace() error {
	switch info, err := os.Stat(s.abs); {
	case errors.Is(err, fs.ErrNotExist):
		return &FileError{errors.New("it was deleted while it was open: runs recorded since then are lost. Stop the process that deletes it, and start again")}
	case err != nil:
		return err
	case !os.SameFile(info, s.file):
		return &FileError{errors.New("it was replaced while it was open: runs recorded since then are lost. Stop the process that replaces it, and start again")}
	}
	return nil
}

// Close closes the file. The error says if the file was deleted or replaced meanwhile.
func (s *Store) Close() error {
	var err error
	if s.w != nil && s.file != nil {
		err = s.explain("close", s.checkInPlace())
	}
	if s.r != nil {
		err = errors.Join(err, s.r.Close()) // first: the last connection removes the log, which a reader cannot
	}
	if s.w != nil {
		err = errors.Join(err, s.w.Close())
	}
	if s.claims != nil {
		err = errors.Join(err, s.claims.Close()) // releases all claims
	}
	if s.trialDir != nil {
		err = errors.Join(err, s.trialDir.Remove())
	}
	return err
}

// Backup writes a compact copy of the file to path, which must not exist. The copy is one plain file,
// consistent even while others write; it appears when it is complete.
func (s *Store) Backup(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("store: cannot back up %s to %s: that exists already", s.path, path)
	}
	tmp, err := tempfile.NewFolder(path)
	if err != nil {
		return fmt.Errorf("store: cannot back up %s to %s: %w", s.path, path, err)
	}
	defer tmp.Remove()
	made := filepath.Join(tmp.Path, filepath.Base(path))
	if err := s.vacuumInto(ctx, made); err != nil {
		return s.explain("back up to "+path, err)
	}
	if err := os.Chmod(made, 0o644); err != nil {
		return fmt.Errorf("store: cannot back up %s to %s: %w", s.path, path, err)
	}
	if err := os.Rename(made, path); err != nil {
		return fmt.Errorf("store: cannot back up %s to %s: %w", s.path, path, err)
	}
	return nil
}

// vacuumInto writes a compact copy to path. It uses a reader, which cannot write to the file itself.
func (s *Store) vacuumInto(ctx context.Context, path string) error {
	conn, err := s.r.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = 1")
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", path)
	return err
}
