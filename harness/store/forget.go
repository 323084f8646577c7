package store

import (
	"context"
	"database/sql"
	"encoding/json"
)

// ofJobs selects all runs of the jobs with these keys, a JSON list.
const ofJobs = `
	SELECT r.uid, j.dataset, j.pretext, j.method, j.eval, j.seed, r.status, 'no spec has its setting'
	FROM runs r JOIN jobs j ON j.id = r.job WHERE j.key IN (SELECT value FROM json_each(?))
	ORDER BY j.dataset, j.pretext, j.method, j.eval, j.seed, r.started, r.uid`

// RunsOf lists all runs of the jobs with these keys: those that Forget would remove.
func (s *Store) RunsOf(ctx context.Context, keys []string) (list []SupersededRun, err error) {
	const doing = "list the runs of jobs"
	jobs, err := json.Marshal(keys)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		list, err = readPruned(ctx, tx, ofJobs, string(jobs))
		return err
	})
	return list, err
}

// Forget removes all runs of the jobs with these keys, also current ones, and the entries of supersession
// among them. Like Prune it keeps a copy for Undo.
func (s *Store) Forget(ctx context.Context, keys []string) ([]SupersededRun, error) {
	const doing = "forget the runs of jobs"
	jobs, err := json.Marshal(keys)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	return s.prune(ctx, doing, func(ctx context.Context, tx *sql.Tx) ([]SupersededRun, error) {
		return readPruned(ctx, tx, ofJobs, string(jobs))
	}, forgetSupersession)
}

// forgetSupersession removes the entries whose successor is one of these removed runs, directly or by other
// entries.
func forgetSupersession(ctx context.Context, tx *sql.Tx, uids string) error {
	_, err := tx.ExecContext(ctx, `
		WITH RECURSIVE gone (uid) AS (
			SELECT value FROM json_each(?) UNION SELECT p.uid FROM replaced p JOIN gone ON p.new = gone.uid
		) DELETE FROM replaced WHERE new IN (SELECT uid FROM gone)`, uids)
	return err
}
