package store

import (
	"context"
	"database/sql"
	"time"
)

// MeanWall is the mean wall time of the finished runs of a method, a pretext and a data set.
type MeanWall struct {
	Dataset, Method, Pretext string
	Runs                     int
	Wall                     time.Duration
}

// MeanWalls returns the mean wall times of what has finished, in the order of the names.
func (s *Store) MeanWalls(ctx context.Context) (walls []MeanWall, err error) {
	err = s.read(ctx, "read wall times", func(tx *sql.Tx) error {
		return eachRow(ctx, tx, `SELECT j.dataset, j.method, j.pretext, count(*), avg(r.wall)
			FROM runs r JOIN jobs j ON j.id = r.job WHERE r.status = 'ok'
			GROUP BY j.dataset, j.method, j.pretext ORDER BY j.dataset, j.method, j.pretext`,
			func(rows *sql.Rows) error {
				var m MeanWall
				var seconds float64
				if err := rows.Scan(&m.Dataset, &m.Method, &m.Pretext, &m.Runs, &seconds); err != nil {
					return err
				}
				m.Wall = time.Duration(seconds * float64(time.Second))
				walls = append(walls, m)
				return nil
			})
	})
	return walls, err
}
