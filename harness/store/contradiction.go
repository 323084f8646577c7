package store

import (
	"context"
	"database/sql"
	"fmt"
)

// prediction is a result of one job, by one code in one environment: ok runs that predicted the same classes.
type prediction struct {
	key, code string // of the job; the fingerprints of method, pretext and protocol
	env, hash string // EnvID; PredictionsHash
	uid       string // of the last of these runs
	added     bool   // whether that run is new
}

// refuseContradictions refuses runs of one job that differ in their predictions although the same code
// ran in the same environment. It checks the pairs of which one run was added after the row last.
func refuseContradictions(ctx context.Context, tx *sql.Tx, last int64, opts MergeOptions) error {
	var all []prediction
	if err := eachRow(ctx, tx, `
		SELECT j.key, concat_ws(' ', r.method_code, r.pretext_code, r.protocol_code), r.env, p.sha256, r.uid, max(r.id) > ?1
		FROM main.runs r JOIN main.jobs j ON j.id = r.job JOIN main.predictions p INDEXED BY predictions_hashes ON p.run = r.id
		WHERE r.status = 'ok' AND r.method_code || r.pretext_code || r.protocol_code <> '' AND r.job IN (SELECT job FROM main.runs WHERE id > ?1)
		GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
		func(rows *sql.Rows) error {
			var p prediction
			err := rows.Scan(&p.key, &p.code, &p.env, &p.hash, &p.uid, &p.added)
			all = append(all, p)
			return err
		}, last); err != nil {
		return err
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].key == all[0].key && all[n].code == all[0].code {
			n++
		}
		group := all[:n]
		all = all[n:]
		if n == 1 {
			continue
		}
		jobs, err := readJobs(ctx, tx, []string{group[0].key})
		if err != nil {
			return err
		}
		j := jobs[group[0].key].value
		if opts.Deterministic != nil && !opts.Deterministic(j) {
			continue
		}
		if err := comparePredictions(ctx, tx, j, group, opts); err != nil {
			return err
		}
	}
	return nil
}

// comparePredictions compares the predictions of runs of the job j by the same code in environments that
// compute the same bits.
func comparePredictions(ctx context.Context, tx *sql.Tx, j Job, list []prediction, opts MergeOptions) error {
	known := newSharedRows()
	var alike [][]prediction // of environments that compute the same bits; each hash once
	for _, p := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		place := len(alike)
		for i := range alike {
			same, err := sameBits(ctx, tx, known, alike[i][0].env, p.env, opts)
			if err != nil {
				return err
			}
			if same {
				place = i
				break
			}
		}
		if place == len(alike) {
			alike = append(alike, nil)
		}
		seen := false
		for _, q := range alike[place] {
			if q.hash == p.hash {
				seen = true
			} else if q.added || p.added {
				return fmt.Errorf("runs %s and %s of %s on %s, seed %d, contradict each other: the same code in the same environment gave other predictions. One of the two is wrong: run the job again, and leave out the file with the wrong run",
					q.uid, p.uid, j.Name(), j.Dataset, j.Seed)
			}
		}
		if !seen || p.added {
			alike[place] = append(alike[place], p)
		}
	}
	return nil
}

func sameBits(ctx context.Context, tx *sql.Tx, known *sharedRows, a, b string, opts MergeOptions) (bool, error) {
	if a == b || opts.SameBits == nil {
		return a == b, nil
	}
	left, err := known.env(ctx, tx, a)
	if err != nil {
		return false, err
	}
	right, err := known.env(ctx, tx, b)
	return err == nil && opts.SameBits(left.value, right.value), err
}
