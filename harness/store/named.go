package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
)

// Named is what the file has under a name key, whatever the data and the versions were.
type Named struct {
	Found      []Found // the results, the latest last
	Failed     int     // attempts that failed at jobs of this name
	LastStatus Status  // how the latest of these ended,
	LastError  string  // and why
}

// Found is a job that has a result.
type Found struct {
	Key, DatasetHash string
	Identity         []byte
	Result           Result
}

// Named returns what is known under each of the name keys that there are jobs of. Of the results'
// metrics it reads those that are asked for, or all if none is: a report of a thousand runs shows one.
func (s *Store) Named(ctx context.Context, nameKeys []string, metrics ...string) (map[string]Named, error) {
	const doing = "read results by name"
	list, err := json.Marshal(nameKeys)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	out := map[string]Named{}
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		if err := readNamed(ctx, tx, string(list), out, metrics); err != nil {
			return err
		}
		return readNamedFailures(ctx, tx, string(list), out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// NameOf returns the name key under which a job was recorded; empty if there is no such job.
func (s *Store) NameOf(ctx context.Context, key string) (string, error) {
	var name string
	err := s.read(ctx, "read the name of job "+key, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT name_key FROM jobs WHERE key = ?`, key).Scan(&name)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return name, err
}

// HasSplits tells whether there are splits of a kind.
func (s *Store) HasSplits(ctx context.Context, kind string) (has bool, err error) {
	err = s.read(ctx, "read splits", func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM splits WHERE kind = ?)`, kind).Scan(&has)
	})
	return has, err
}

func readNamed(ctx context.Context, tx *sql.Tx, names string, out map[string]Named, only []string) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT k.value, j.key, j.dataset_hash, j.identity,
			r.id, r.uid, r.started, r.wall, r.cpu, r.peak, r.env, r.method_code, r.pretext_code
		FROM (SELECT DISTINCT value FROM json_each(?)) k
		JOIN jobs j ON j.name_key = k.value
		JOIN runs r ON r.id = (SELECT f.run FROM finished f WHERE f.job = j.id)
		ORDER BY r.started, r.uid`, names)
	if err != nil {
		return err
	}
	defer rows.Close()
	var ids []int64
	metrics := map[int64]map[string]float64{}
	for rows.Next() {
		var name string
		var run int64
		var f Found
		r := &f.Result
		if err := rows.Scan(&name, &f.Key, &f.DatasetHash, &f.Identity,
			&run, &r.UID, (*instant)(&r.Started), (*seconds)(&r.Wall), (*seconds)(&r.CPU), (*orZero)(&r.Peak), &r.EnvID, &r.MethodCode, &r.PretextCode); err != nil {
			return err
		}
		r.Metrics = map[string]float64{}
		ids, metrics[run] = append(ids, run), r.Metrics
		n := out[name]
		n.Found = append(n.Found, f)
		out[name] = n
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return readMetrics(ctx, tx, ids, metrics, only...)
}

func readNamedFailures(ctx context.Context, tx *sql.Tx, names string, out map[string]Named) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT k.value, r.status, r.error
		FROM (SELECT DISTINCT value FROM json_each(?)) k
		JOIN jobs j ON j.name_key = k.value
		JOIN runs r ON r.job = j.id AND r.status <> 'ok'
		ORDER BY r.started, r.uid`, names)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var status Status
		var text string
		if err := rows.Scan(&name, &status, &text); err != nil {
			return err
		}
		n := out[name]
		n.Failed, n.LastStatus, n.LastError = n.Failed+1, status, text
		out[name] = n
	}
	return rows.Err()
}
