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
	Metrics                  map[string]float64 // those of Listing.Metrics
	// Fault is set if the run is not as it was recorded. Then there are no metrics.
	Fault *Fault
}

// Listing selects runs. An empty field selects all.
type Listing struct {
	Dataset string
	Part    string // the name of the method or of the pretext
	Status  Status
	// Offset is the number of runs to skip, Limit the most to list; 0 is no limit.
	Offset, Limit int
	// Metrics are the names of the metrics to read.
	Metrics []string
}

const listed = ` FROM runs r JOIN jobs j ON j.id = r.job
	WHERE (?1 = '' OR j.dataset = ?1) AND (?2 = '' OR j.method = ?2 OR j.pretext = ?2) AND (?3 = '' OR r.status = ?3)`

// List lists runs, the last recorded first, and counts all that the listing selects. It checks each as
// Finished does.
func (s *Store) List(ctx context.Context, l Listing) (runs []Listed, all int, err error) {
	limit := l.Limit
	if limit == 0 {
		limit = -1
	}
	err = s.read(ctx, "list runs", func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*)`+listed, l.Dataset, l.Part, l.Status).Scan(&all); err != nil {
			return err
		}
		named := newMetricParser(l.Metrics)
		type found struct {
			runRow
			Listed
		}
		var list []found
		if err := eachRow(ctx, tx, `SELECT `+runColumns+`, j.key, j.identity, j.dataset, j.method, j.pretext, j.eval, j.seed
			FROM runs r JOIN jobs j ON j.id = r.job LEFT JOIN predictions p INDEXED BY predictions_hashes ON p.run = r.id
			WHERE r.id IN (SELECT r.id`+listed+` ORDER BY r.id DESC LIMIT ?4 OFFSET ?5) ORDER BY r.id DESC`,
			func(rows *sql.Rows) error {
				var r found
				var seed int64
				var identity sql.RawBytes
				if err := rows.Scan(append(r.dest(), &r.JobKey, &identity, &r.Dataset, &r.Method, &r.Pretext, &r.Eval, &seed)...); err != nil {
					return err
				}
				r.Seed = uint64(seed)
				if r.Fault = r.split(); r.Fault == nil {
					r.Fault = checkKey(r.job, identity)
				}
				list = append(list, r)
				return nil
			}, l.Dataset, l.Part, l.Status, limit, l.Offset); err != nil {
			return err
		}
		var buf []byte
		for _, r := range list {
			var err error
			if r.metrics, err = readMetrics(ctx, tx, r.id); err != nil {
				return err
			}
			var damaged, times *Fault
			buf, damaged = r.check(buf)
			r.UID, r.Status, r.Error = r.uid, Status(r.status), r.failure
			r.Started, r.Wall, _, times = r.times()
			if r.Fault = firstFault(r.Fault, damaged, times); r.Fault == nil && len(l.Metrics) > 0 {
				r.Metrics = named.choose(r.metrics)
			}
			runs = append(runs, r.Listed)
		}
		return nil
	})
	return runs, all, err
}
