package store

import (
	"context"
	"database/sql"
	"fmt"

	"ssdl/harness/job"
)

// Spent is a run that counts for nothing any more.
type Spent struct {
	UID     string
	Dataset string
	Name    string // of the method, or "pretext+method"
	Eval    string
	Seed    uint64
	Status  Status
	Why     string
}

// spent are the runs that were replaced, and the attempts that failed at a job that has a
// result since. What failed after the result, as a repetition with other code does, is no such
// attempt.
const spent = `
	SELECT r.id, r.uid, j.dataset, j.pretext, j.method, j.eval, j.seed, r.status,
		CASE WHEN p.uid IS NOT NULL THEN 'replaced by ' || p.new ELSE 'failed, and went well later' END
	FROM runs r JOIN jobs j ON j.id = r.job LEFT JOIN replaced p ON p.uid = r.uid
	JOIN finished f ON f.job = j.id AND f.run <> r.id JOIN runs c ON c.id = f.run
	WHERE p.uid IS NOT NULL OR r.status <> 'ok' AND r.started < c.started
	ORDER BY j.dataset, j.pretext, j.method, j.eval, j.seed, r.started, r.uid`

// Spent lists the runs that Collect would remove.
func (s *Store) Spent(ctx context.Context) ([]Spent, error) {
	var list []Spent
	err := s.read(ctx, "list spent runs", func(tx *sql.Tx) (err error) {
		list, _, err = readSpent(ctx, tx)
		return err
	})
	return list, err
}

func readSpent(ctx context.Context, tx *sql.Tx) (list []Spent, ids []int64, err error) {
	rows, err := tx.QueryContext(ctx, spent)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, seed int64
		var g Spent
		var pretext, method string
		if err := rows.Scan(&id, &g.UID, &g.Dataset, &pretext, &method, &g.Eval, &seed, &g.Status, &g.Why); err != nil {
			return nil, nil, err
		}
		g.Seed, g.Name = uint64(seed), job.Compose(pretext, method)
		list, ids = append(list, g), append(ids, id)
	}
	return list, ids, rows.Err()
}

// Collect removes the spent runs, and then gives the space of what is gone back to the file
// system. Results stay, and so do failed attempts at jobs that have none; that a run was replaced
// stays known, so that an import does not bring it back to count.
func (s *Store) Collect(ctx context.Context) ([]Spent, error) {
	const doing = "remove spent runs"
	var list []Spent
	err := s.write(ctx, doing, func(tx *sql.Tx) error {
		var ids []int64
		var err error
		if list, ids, err = readSpent(ctx, tx); err != nil {
			return err
		}
		for _, id := range ids { // what belongs to a run goes with it
			if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ?`, id); err != nil {
				return err
			}
		}
		for _, orphans := range []string{
			`DELETE FROM envs WHERE id NOT IN (SELECT env FROM runs)`,
			`DELETE FROM truths WHERE sha256 NOT IN (SELECT truth FROM predictions WHERE truth IS NOT NULL)`,
		} {
			if _, err := tx.ExecContext(ctx, orphans); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(list) == 0 {
		return list, err
	}
	return list, s.shrink(ctx, fmt.Sprintf("shrink after %d runs were removed", len(list)))
}

// shrink rewrites the file without what is unused in it. doing is what that is for.
func (s *Store) shrink(ctx context.Context, doing string) error {
	return s.explain(doing, s.patiently(ctx, func() error {
		_, err := s.w.ExecContext(ctx, "VACUUM")
		return err
	}))
}
