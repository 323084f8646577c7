package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
)

// RunRecord is a run with all its parts, its job, its data set and its split.
type RunRecord struct {
	Job     Job
	Run     Run
	Current bool // whether it is the current run of its job: see Result
	Dataset Dataset
	Split   Split
	// Faults lists the hashes that are wrong.
	Faults []Fault
}

// batchSize is the number of runs read in one transaction: few enough that writers can empty the
// write-ahead log in between.
const batchSize = 500

// Each calls f for the runs of the jobs with these keys, or of all jobs if keys is nil, sorted by data
// set, pretext, method, evaluation and seed, then by time. The order does not depend on that of
// recording or importing. It leaves out runs that are recorded meanwhile, and ends with the first
// error of f, which it returns.
//
// It checks every hash. A wrong one is a fault of the run, not an error.
func (s *Store) Each(ctx context.Context, keys []string, f func(RunRecord) error) error {
	ids, current, err := s.list(ctx, keys)
	if err != nil {
		return err
	}
	known := newSharedRows()
	for batch := range slices.Chunk(ids, batchSize) {
		records, err := s.readBatch(ctx, known, batch)
		if err != nil {
			return s.explain("read the runs", err)
		}
		for i := range records {
			records[i].Current = current[records[i].Run.UID]
			if err := f(records[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readBatch reads the runs of these row ids in their order, without those that were removed.
func (s *Store) readBatch(ctx context.Context, known *sharedRows, ids []int64) (records []RunRecord, err error) {
	err = s.view(ctx, func(tx *sql.Tx) (err error) {
		records, err = readRecords(ctx, tx, known, ids)
		return err
	})
	return records, err
}

// list returns the row ids of the runs for Each, and the uids of the current ones.
func (s *Store) list(ctx context.Context, keys []string) (ids []int64, current map[string]bool, err error) {
	of := `jobs j JOIN runs r ON r.job = j.id WHERE ? = 'null'`
	if keys != nil {
		of = `(SELECT DISTINCT value FROM json_each(?)) k JOIN jobs j ON j.key = k.value JOIN runs r ON r.job = j.id`
	}
	list, err := json.Marshal(keys) // null if it is nil
	if err != nil {
		return nil, nil, err
	}
	current = map[string]bool{}
	err = s.read(ctx, "list the runs", func(tx *sql.Tx) error {
		return eachRow(ctx, tx, fmt.Sprintf(`
			SELECT r.id, r.uid, EXISTS (SELECT 1 FROM finished f WHERE f.run = r.id) FROM %s
			ORDER BY j.dataset, j.pretext, j.method, j.eval, j.seed < 0, j.seed, j.key, r.started, r.uid`, of),
			func(rows *sql.Rows) error {
				var id int64
				var uid string
				var is bool
				if err := rows.Scan(&id, &uid, &is); err != nil {
					return err
				}
				ids = append(ids, id)
				if is {
					current[uid] = true
				}
				return nil
			}, string(list))
	})
	return ids, current, err
}

// RunByUID returns a run with all its parts, and its job. The error is fs.ErrNotExist if there is
// none, and a Fault if it is not as it was recorded.
func (s *Store) RunByUID(ctx context.Context, uid string) (Job, Run, error) {
	var r RunRecord
	err := s.read(ctx, "read run "+uid, func(tx *sql.Tx) error {
		var ids []int64
		if err := eachRow(ctx, tx, `SELECT id FROM runs WHERE uid = ?`, func(rows *sql.Rows) error {
			ids = append(ids, 0)
			return rows.Scan(&ids[len(ids)-1])
		}, uid); err != nil {
			return err
		}
		if len(ids) == 0 {
			return notRecorded("run")
		}
		records, err := readRecords(ctx, tx, newSharedRows(), ids)
		if err != nil {
			return err
		}
		r = records[0]
		if len(r.Faults) > 0 {
			return r.Faults[0]
		}
		return nil
	})
	return r.Job, r.Run, err
}

// Predicted is the predictions of a run, and the true classes.
type Predicted struct {
	Predictions []int // 0-based classes in the order of the split; nil if there are none
	Truth       []int // true classes, as many, shared among runs; nil if unknown
	Classes     int   // of the data set
	// Fault is set if they are not as they were recorded. Then both lists are nil.
	Fault *Fault
}

// Predictions returns the predictions of runs by uid, without missing runs. It checks them against their
// hashes; only Finished and RunByUID check these against the record hash.
func (s *Store) Predictions(ctx context.Context, uids []string) (map[string]Predicted, error) {
	const doing = "read predictions"
	list, err := json.Marshal(uids)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	all := make(map[string]Predicted, len(uids))
	known := newSharedRows()
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		type found struct {
			uid, truth string
			Predicted
		}
		var runs []found
		if err := eachRow(ctx, tx, `
			SELECT r.uid, d.classes, p.samples, p.classes, p.sha256, coalesce(p.truth, '')
			FROM json_each(?) k JOIN runs r ON r.uid = k.value JOIN jobs j ON j.id = r.job JOIN datasets d ON d.hash = j.dataset_hash
			LEFT JOIN predictions p ON p.run = r.id`,
			func(rows *sql.Rows) error {
				var r found
				var n sql.NullInt64
				var classes sql.RawBytes
				var hash sql.NullString
				if err := rows.Scan(&r.uid, &r.Classes, &n, &classes, &hash, &r.truth); err != nil {
					return err
				}
				if hash.Valid {
					r.Predictions, r.Fault = readClasses("predictions", r.uid, n.Int64, classes, hash.String)
				}
				runs = append(runs, r)
				return nil
			}, string(list)); err != nil {
			return err
		}
		for _, r := range runs {
			truth, err := known.truth(ctx, tx, r.truth)
			if err != nil {
				return err
			}
			r.Truth = truth.value
			if r.Fault == nil {
				r.Fault = firstFault(truth.fault, sameLength(r.uid, r.Predictions, r.Truth))
			}
			if r.Fault != nil {
				r.Predictions, r.Truth = nil, nil
			}
			all[r.uid] = r.Predicted
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func firstFault(faults ...*Fault) *Fault {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}
