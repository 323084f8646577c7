package store

import (
	"context"
	"database/sql"
	"time"
)

// Computation names jobs that take about equally long: those of one composition on one data set.
type Computation struct {
	Dataset string // the hash of the data
	Method  string // empty if the pseudo labels themselves are scored
	Pretext string // empty if the method learns from the true labels
}

// WallTimes returns the mean wall time of the ok runs of each computation.
func (s *Store) WallTimes(ctx context.Context) (map[Computation]time.Duration, error) {
	times := map[Computation]time.Duration{}
	err := s.read(ctx, "read wall times", func(tx *sql.Tx) error {
		return eachRow(ctx, tx, `SELECT j.dataset_hash, j.method, j.pretext, avg(r.wall) FROM runs r JOIN jobs j ON j.id = r.job
			WHERE r.status = 'ok' GROUP BY 1, 2, 3`, func(rows *sql.Rows) error {
			var c Computation
			var mean float64
			err := rows.Scan(&c.Dataset, &c.Method, &c.Pretext, &mean)
			times[c] = seconds(mean)
			return err
		})
	})
	return times, err
}
