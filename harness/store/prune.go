package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ssdl/harness/job"
)

// SupersededRun is a run that Prune or Forget removes, and why.
type SupersededRun struct {
	UID     string
	Dataset string
	Name    string // of the method, or "pretext+method"
	Eval    string
	Seed    uint64
	Status  Status
	Why     string
}

// superseded selects the runs that were replaced, and the failed attempts at a job whose current run came
// later. A failure after the current run stays, and so does one made here if the current run is imported.
const superseded = `
	SELECT r.uid, j.dataset, j.pretext, j.method, j.eval, j.seed, r.status,
		CASE WHEN p.uid IS NOT NULL THEN 'replaced by ' || p.new ELSE 'failed; a later run succeeded' END
	FROM runs r JOIN jobs j ON j.id = r.job LEFT JOIN replaced p ON p.uid = r.uid
	JOIN finished f ON f.job = j.id AND f.run <> r.id JOIN runs c ON c.id = f.run
	WHERE p.uid IS NOT NULL OR r.status <> 'ok' AND r.started < c.started AND (c.origin IS NULL OR r.origin IS NOT NULL)
	ORDER BY j.dataset, j.pretext, j.method, j.eval, j.seed, r.started, r.uid`

// Superseded lists the runs that Prune would remove.
func (s *Store) Superseded(ctx context.Context) ([]SupersededRun, error) {
	var list []SupersededRun
	err := s.read(ctx, "list superseded runs", func(tx *sql.Tx) (err error) {
		list, err = readSuperseded(ctx, tx)
		return err
	})
	return list, err
}

func readSuperseded(ctx context.Context, tx *sql.Tx) ([]SupersededRun, error) {
	return readPruned(ctx, tx, superseded)
}

// readPruned reads runs with the reason to remove them.
func readPruned(ctx context.Context, tx *sql.Tx, query string, args ...any) (list []SupersededRun, err error) {
	err = eachRow(ctx, tx, query, func(rows *sql.Rows) error {
		var seed int64
		var r SupersededRun
		var pretext, method string
		err := rows.Scan(&r.UID, &r.Dataset, &pretext, &method, &r.Eval, &seed, &r.Status, &r.Why)
		r.Seed, r.Name = uint64(seed), job.Compose(pretext, method)
		list = append(list, r)
		return err
	}, args...)
	return list, err
}

// prunedPath is the file that keeps the runs removed last.
func (s *Store) prunedPath() string { return s.abs + ".pruned" }

// Prune removes the superseded runs and shrinks the file. Current runs stay, and so do failed attempts at
// jobs without one. The entries of replaced runs stay too, so that an import does not bring these back as
// results. A file beside the store keeps the removed runs, and no earlier ones: see Undo. If an entry names a
// successor that does not exist, the error is a Fault and nothing is removed.
func (s *Store) Prune(ctx context.Context) ([]SupersededRun, error) {
	return s.prune(ctx, "remove superseded runs", readSuperseded, nil)
}

// prune removes the runs that read lists, as Prune does, and then calls after, if not nil, with their uids as a JSON
// list.
func (s *Store) prune(ctx context.Context, doing string, read func(context.Context, *sql.Tx) ([]SupersededRun, error), after func(ctx context.Context, tx *sql.Tx, uids string) error) ([]SupersededRun, error) {
	var list []SupersededRun
	err := s.write(ctx, doing, func(tx *sql.Tx) error {
		var err error
		if list, err = read(ctx, tx); err != nil || len(list) == 0 {
			return err
		}
		if wrong, err := supersessionFaults(ctx, tx); err != nil {
			return err
		} else if len(wrong.all) > 0 {
			list = nil
			return wrong.all[0]
		}
		uids := make([]string, len(list))
		for i, r := range list {
			uids[i] = r.UID
		}
		only, err := json.Marshal(uids)
		if err != nil {
			return err
		}
		if err := s.keepPruned(ctx, string(only)); err != nil {
			return fmt.Errorf("a copy of them cannot be kept in %s: %w", s.prunedPath(), err)
		}
		if err := removeRuns(ctx, tx, `uid IN (SELECT value FROM json_each(?))`, string(only)); err != nil || after == nil {
			return err
		}
		return after(ctx, tx, string(only))
	})
	if err != nil || len(list) == 0 {
		return list, err
	}
	return list, s.shrink(ctx, fmt.Sprintf("shrink after %d runs were removed", len(list)))
}

// removeRuns removes runs, their parts, and rows that no other run refers to.
func removeRuns(ctx context.Context, tx *sql.Tx, where string, arg any) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE `+where, arg); err != nil {
		return err
	}
	for _, orphans := range []string{
		`DELETE FROM envs WHERE id NOT IN (SELECT env FROM runs UNION SELECT env FROM repetitions)`,
		`DELETE FROM truths WHERE sha256 NOT IN (SELECT truth FROM predictions WHERE truth IS NOT NULL)`,
		`DELETE FROM origins WHERE id NOT IN (SELECT origin FROM runs WHERE origin IS NOT NULL)`,
	} {
		if _, err := tx.ExecContext(ctx, orphans); err != nil {
			return err
		}
	}
	return nil
}

// keepPruned copies the runs of these uids, a JSON list, to the file that Undo reads. The caller is in a
// write transaction, so readers see the runs as it does.
func (s *Store) keepPruned(ctx context.Context, uids string) (err error) {
	tmp := s.prunedPath() + ".new"
	remove := func() error { return errors.Join(removeStore(tmp), os.RemoveAll(tmp+".lock")) }
	if err := remove(); err != nil { // files of a process that was killed
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := s.vacuumInto(ctx, tmp); err != nil {
		return err
	}
	kept, err := openCopy(ctx, tmp)
	if err != nil {
		return err
	}
	err = kept.write(ctx, "keep the superseded runs", func(tx *sql.Tx) error {
		return removeRuns(ctx, tx, `uid NOT IN (SELECT value FROM json_each(?))`, uids)
	})
	if err == nil {
		err = kept.shrink(ctx, "shrink")
	}
	if err = errors.Join(err, kept.Close()); err != nil {
		return err
	}
	if err := syncFile(tmp); err != nil {
		return err
	}
	if err := removeStore(s.prunedPath()); err != nil {
		return err
	}
	if err := os.Rename(tmp, s.prunedPath()); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(tmp)); err == nil { // some systems cannot sync a folder
		dir.Sync()
		dir.Close()
	}
	return nil
}

// removeStore removes a file of runs, if it exists, with the files that SQLite keeps beside it.
func removeStore(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// syncFile writes a file through to the disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Undo brings back the runs that Prune or Forget removed last, as they were, also after further runs were
// recorded. A second call returns fs.ErrNotExist: there is nothing left to bring back.
func (s *Store) Undo(ctx context.Context) (runs int, err error) {
	const doing = "bring back superseded runs"
	if s.w == nil {
		return 0, fileError(fmt.Errorf("store: %s: cannot %s: it was opened for reading only", s.path, doing))
	}
	if _, err := os.Stat(s.prunedPath()); errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("store: %s: cannot %s: none were removed, or they were already brought back: %w", s.path, doing, err)
	}
	kept, err := Open(ctx, s.prunedPath()) // converts an older schema
	if err != nil {
		return 0, err
	}
	err = kept.read(ctx, doing, func(tx *sql.Tx) error {
		return refuse(ctx, tx, `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`, func(line string) error {
			return fmt.Errorf("it is damaged: %s", plain(line))
		})
	})
	if err = errors.Join(err, kept.Close()); err != nil {
		return 0, err
	}
	m, err := s.mergeFrom(ctx, Source{Name: s.prunedPath(), Path: s.prunedPath()}, func(ctx context.Context, tx *sql.Tx) (Merged, error) {
		m, _, err := mergeTables(ctx, tx, mergeMode{})
		return m, err
	})
	if err != nil {
		return 0, err
	}
	return m.Runs, errors.Join(removeStore(s.prunedPath()), os.RemoveAll(s.prunedPath()+".lock"))
}

// shrink rewrites the file without its free pages. doing is for messages: see explain.
func (s *Store) shrink(ctx context.Context, doing string) error {
	return s.withWriter(ctx, doing, func(conn *sql.Conn) error {
		err := s.retryLocked(ctx, func() error {
			_, err := conn.ExecContext(ctx, "VACUUM")
			return err
		})
		s.shortenLog(ctx, conn) // it has the whole file now
		return s.explain(doing, err)
	})
}
