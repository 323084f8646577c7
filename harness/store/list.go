package store

import (
	"context"
	"database/sql"
	"time"
)

// Listed is a run as a list shows it.
type Listed struct {
	UID, JobKey              string
	Dataset, Method, Pretext string
	Eval                     string
	Seed                     uint64
	Status                   Status
	Error                    string
	Started                  time.Time
	Wall                     time.Duration
	Metrics                  map[string]float64 // those that were asked for
}

// Listing says which runs are listed. Empty fields do not narrow it.
type Listing struct {
	Dataset string
	Part    string // the name of the method or of the pretext
	Status  Status
	// Offset runs are passed over; at most Limit are listed, all of them if it is 0.
	Offset, Limit int
	// Metrics are the names of the metrics that are read.
	Metrics []string
}

const listed = ` FROM runs r JOIN jobs j ON j.id = r.job
	WHERE (?1 = '' OR j.dataset = ?1) AND (?2 = '' OR j.method = ?2 OR j.pretext = ?2) AND (?3 = '' OR r.status = ?3)`

// List lists runs, the last recorded ones first, and says how many there are in all.
func (s *Store) List(ctx context.Context, l Listing) (runs []Listed, all int, err error) {
	limit := l.Limit
	if limit == 0 {
		limit = -1
	}
	err = s.read(ctx, "list runs", func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*)`+listed, l.Dataset, l.Part, l.Status).Scan(&all); err != nil {
			return err
		}
		var ids []int64
		values := map[int64]map[string]float64{}
		rows, err := tx.QueryContext(ctx, `SELECT r.id, r.uid, j.key, j.dataset, j.method, j.pretext, j.eval, j.seed, r.status, r.error, r.started, r.wall`+
			listed+` ORDER BY r.id DESC LIMIT ?4 OFFSET ?5`, l.Dataset, l.Part, l.Status, limit, l.Offset)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, seed int64
			var r Listed
			if err := rows.Scan(&id, &r.UID, &r.JobKey, &r.Dataset, &r.Method, &r.Pretext, &r.Eval, &seed, &r.Status, &r.Error, (*instant)(&r.Started), (*seconds)(&r.Wall)); err != nil {
				return err
			}
			r.Seed, r.Metrics = uint64(seed), map[string]float64{}
			ids, values[id] = append(ids, id), r.Metrics
			runs = append(runs, r)
		}
		if err := rows.Err(); err != nil || len(l.Metrics) == 0 {
			return err
		}
		return readMetrics(ctx, tx, ids, values, l.Metrics...)
	})
	return runs, all, err
}
