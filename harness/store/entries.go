package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
)

// Entry is a run, without its series and predictions, and what it was a run of.
type Entry struct {
	Job     Job
	Run     Run
	Counts  bool // whether it is the run that counts for its job
	Dataset Dataset
	Split   Split
}

// atOnce is how many runs Each reads with one query.
const atOnce = 500

// Each calls f for the runs of the jobs of these keys, or of all jobs if keys is nil:
// by data set, pretext, method, evaluation and seed, then by time. The order does not
// depend on that in which the runs were recorded or imported. It ends with the first error
// of f, which it returns.
func (s *Store) Each(ctx context.Context, keys []string, f func(Entry) error) error {
	const doing = "read the runs"
	var stopped error
	err := s.read(ctx, doing, func(tx *sql.Tx) error {
		uids, counts, err := readUIDs(ctx, tx, keys)
		if err != nil {
			return err
		}
		datasets, splits := map[string]Dataset{}, map[string]Split{}
		for batch := range slices.Chunk(uids, atOnce) {
			runs, err := readBatch(ctx, tx, batch)
			if err != nil {
				return err
			}
			for _, uid := range batch {
				e := Entry{Run: runs[uid], Counts: counts[uid]}
				if e.Job, err = readJob(ctx, tx, e.Run.JobKey); err != nil {
					return err
				}
				if e.Dataset, err = cached(datasets, e.Job.DatasetHash, func(hash string) (Dataset, error) { return readDataset(ctx, tx, hash) }); err != nil {
					return err
				}
				if e.Split, err = cached(splits, e.Job.SplitHash, func(hash string) (Split, error) { return readSplit(ctx, tx, hash) }); err != nil {
					return err
				}
				if stopped = f(e); stopped != nil {
					return nil
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return stopped
}

// readUIDs lists the runs that Each goes through, and which of them count.
func readUIDs(ctx context.Context, tx *sql.Tx, keys []string) (uids []string, counts map[string]bool, err error) {
	list, err := json.Marshal(keys) // null if it is nil
	if err != nil {
		return nil, nil, err
	}
	counts = map[string]bool{}
	err = each(ctx, tx, fmt.Sprintf(`
		SELECT r.uid, EXISTS (SELECT 1 FROM finished f WHERE f.run = r.id) FROM %s
		ORDER BY j.dataset, j.pretext, j.method, j.eval, j.seed < 0, j.seed, j.key, r.started, r.uid`, jobsOf(keys)),
		func(rows *sql.Rows) error {
			var uid string
			var counted bool
			if err := rows.Scan(&uid, &counted); err != nil {
				return err
			}
			uids = append(uids, uid)
			counts[uid] = counted
			return nil
		}, string(list))
	return uids, counts, err
}

func jobsOf(keys []string) string {
	if keys == nil {
		return `jobs j JOIN runs r ON r.job = j.id WHERE ? = 'null'`
	}
	return `(SELECT DISTINCT value FROM json_each(?)) k JOIN jobs j ON j.key = k.value JOIN runs r ON r.job = j.id`
}

func readBatch(ctx context.Context, tx *sql.Tx, uids []string) (map[string]Run, error) {
	list, err := json.Marshal(uids)
	if err != nil {
		return nil, err
	}
	runs, _, err := readRuns(ctx, tx, "r.uid IN (SELECT value FROM json_each(?))", string(list))
	if err != nil {
		return nil, err
	}
	byUID := make(map[string]Run, len(runs))
	for _, r := range runs {
		byUID[r.UID] = r
	}
	return byUID, nil
}

// cached returns what is known under hash, and reads it the first time.
func cached[T any](known map[string]T, hash string, read func(string) (T, error)) (T, error) {
	v, ok := known[hash]
	if ok {
		return v, nil
	}
	v, err := read(hash)
	if err == nil {
		known[hash] = v
	}
	return v, err
}

func readDataset(ctx context.Context, tx *sql.Tx, hash string) (d Dataset, err error) {
	var names []byte
	if err := tx.QueryRowContext(ctx, `SELECT hash, name, samples, dim, classes, source, synthetic, class_names FROM datasets WHERE hash = ?`, hash).
		Scan(&d.Hash, &d.Name, &d.Samples, &d.Dim, &d.Classes, &d.Source, &d.Synthetic, &names); err != nil {
		return d, err
	}
	return d, json.Unmarshal(names, &d.ClassNames)
}

func readSplit(ctx context.Context, tx *sql.Tx, hash string) (p Split, err error) {
	var seed int64
	err = tx.QueryRowContext(ctx, `SELECT hash, dataset, kind, seed, train, labeled, test FROM splits WHERE hash = ?`, hash).
		Scan(&p.Hash, &p.Dataset, &p.Kind, &seed, &p.Train, &p.Labeled, &p.Test)
	p.Seed = uint64(seed)
	return p, err
}
