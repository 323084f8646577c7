package store

import (
	"context"
	"database/sql"
)

// hashMigrated gives the runs of a file of a schema before 4 their record hashes, and marks them. Its queries
// fit schema 4, since later migrations run after it.
func hashMigrated(ctx context.Context, tx *sql.Tx) (after func() error, err error) {
	return func() error {
		var runs []runRow
		if err := eachRow(ctx, tx, `
			SELECT r.id, r.uid, j.key, r.status, r.error, r.started, r.wall, r.cpu, coalesce(r.peak, 0), r.env,
				r.method_code, r.pretext_code, r.protocol_code, r.reason, r.replaces, coalesce(p.sha256, ''), coalesce(p.truth, '')
			FROM runs r JOIN jobs j ON j.id = r.job LEFT JOIN predictions p ON p.run = r.id`,
			func(rows *sql.Rows) error {
				var r runRow
				err := rows.Scan(&r.id, &r.uid, &r.job, &r.status, &r.failure, &r.started, &r.wall, &r.cpu, &r.peak, &r.env,
					&r.code.Method, &r.code.Pretext, &r.code.Protocol, &r.reason, &r.replaces, &r.predictions, &r.truth)
				runs = append(runs, r)
				return err
			}); err != nil {
			return err
		}
		put, err := tx.PrepareContext(ctx, `UPDATE runs SET series_hash = ?, hashed = ?, record_hash = ? WHERE id = ?`)
		if err != nil {
			return err
		}
		defer put.Close()
		for _, r := range runs {
			if r.metrics, err = readMetrics(ctx, tx, r.id); err != nil {
				return err
			}
			points, err := readSeries(ctx, tx, r.id)
			if err != nil {
				return err
			}
			r.hashed, r.series = hashedMigrated, seriesHash(points)
			if _, err := put.ExecContext(ctx, r.series, r.hashed, r.hash(), r.id); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// readSeries reads the series of the run in row id by name and iteration.
func readSeries(ctx context.Context, tx *sql.Tx, id int64) (points []Point, err error) {
	err = eachRow(ctx, tx, `SELECT name, iteration, value FROM series WHERE run = ? ORDER BY name, iteration`, func(rows *sql.Rows) error {
		var p Point
		err := rows.Scan(&p.Name, &p.Iteration, &p.Value)
		points = append(points, p)
		return err
	}, id)
	return points, err
}
