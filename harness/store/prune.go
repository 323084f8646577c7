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

// SupersededRun is a run that is no result and will be none, or one that is forgotten.
type SupersededRun struct {
	UID     string
	Dataset string
	Name    string // of the method, or "pretext+method"
	Eval    string
	Seed    uint64
	Status  Status
	Why     string
}

// superseded are the runs that were replaced, and the attempts that failed at a job that has a
// current run since. What failed after that run, as a repetition with other code does, is no such
// attempt; and an imported run tells nothing of the attempts made here.
const superseded = `
	SELECT r.uid, j.dataset, j.pretext, j.method, j.eval, j.seed, r.status,
		CASE WHEN p.uid IS NOT NULL THEN 'replaced by ' || p.new ELSE 'failed, and went well later' END
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

// readPruned reads runs with the reason why they go.
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

// prunedPath is the file of what Prune removed last.
func (s *Store) prunedPath() string { return s.abs + ".pruned" }

// Prune removes the superseded runs, and then gives the space of what is gone back to the file
// system. Results stay, and so do failed attempts at jobs that have none; that a run was replaced
// stays known, so that an import does not bring it back as a result. What is removed is kept in a file beside the
// store, in place of what was removed the time before: see Undo. Where an entry without a run behind it
// supersedes another, the error is a Fault, and nothing is removed.
func (s *Store) Prune(ctx context.Context) ([]SupersededRun, error) {
	return s.prune(ctx, "remove superseded runs", readSuperseded, nil)
}

// prune removes the runs that read lists, as Prune says. after, if there is one, is called with their uids, a JSON
// list, once they are removed.
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

// removeRuns removes runs with what belongs to them, and what no other run refers to.
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

// keepPruned copies the runs of these uids, a JSON list, to the file that Undo reads. The caller holds the
// file against other writers, so that the readers see what it sees.
func (s *Store) keepPruned(ctx context.Context, uids string) (err error) {
	tmp := s.prunedPath() + ".new"
	remove := func() error { return errors.Join(removeStore(tmp), os.RemoveAll(tmp+".lock")) }
	if err := remove(); err != nil { // of a process that was killed
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
	if dir, err := os.Open(filepath.Dir(tmp)); err == nil { // some systems sync no folder
		dir.Sync()
		dir.Close()
	}
	return nil
}

// removeStore removes a file of runs, if it is there, with what SQLite kept beside it.
func removeStore(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// syncFile makes sure that a file is on the disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Undo brings back the runs that Prune removed last, as they were, whatever was recorded since. It
// does so once: the error is fs.ErrNotExist if there is nothing to bring back.
func (s *Store) Undo(ctx context.Context) (runs int, err error) {
	const doing = "bring back superseded runs"
	if s.w == nil {
		return 0, fileError(fmt.Errorf("store: %s: cannot %s: it was opened for reading only", s.path, doing))
	}
	if _, err := os.Stat(s.prunedPath()); errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("store: %s: cannot %s: none were removed, or they are back already: %w", s.path, doing, err)
	}
	kept, err := Open(ctx, s.prunedPath()) // converts it, if an earlier program wrote it
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

// shrink rewrites the file without what is unused in it. doing is what that is for.
func (s *Store) shrink(ctx context.Context, doing string) error {
	return s.withWriter(ctx, doing, func(conn *sql.Conn) error {
		err := s.retryLocked(ctx, func() error {
			_, err := conn.ExecContext(ctx, "VACUUM")
			return err
		})
		s.shortenLog(ctx, conn) // which has the whole file now
		return s.explain(doing, err)
	})
}
