package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ssdl/harness/job"
)

// Result is the run that counts for a job: the earliest that is OK and was not replaced.
type Result struct {
	UID       string
	Started   time.Time
	Wall, CPU time.Duration
	Peak      int64  // bytes, 0 if unknown
	EnvID     string // see Env
	// MethodCode and PretextCode are those of Run.
	MethodCode, PretextCode string
	Metrics                 map[string]float64
}

// Finished returns the results of those jobs that have one, by key. Of their metrics it reads
// those that are named, or all if none is: a report of a thousand runs shows one.
func (s *Store) Finished(ctx context.Context, keys []string, metrics ...string) (map[string]Result, error) {
	const doing = "read results"
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	results := make(map[string]Result, len(keys))
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			SELECT j.key, r.id, r.uid, r.started, r.wall, r.cpu, r.peak, r.env, r.method_code, r.pretext_code
			FROM json_each(?) k
			JOIN jobs j ON j.key = k.value
			JOIN runs r ON r.id = (SELECT f.run FROM finished f WHERE f.job = j.id)`, string(list))
		if err != nil {
			return err
		}
		defer rows.Close()
		var ids []int64
		values := map[int64]map[string]float64{}
		for rows.Next() {
			var key string
			var id int64
			var r Result
			if err := rows.Scan(&key, &id, &r.UID, (*instant)(&r.Started), (*seconds)(&r.Wall), (*seconds)(&r.CPU), (*orZero)(&r.Peak), &r.EnvID, &r.MethodCode, &r.PretextCode); err != nil {
				return err
			}
			r.Metrics = map[string]float64{}
			results[key], values[id] = r, r.Metrics
			ids = append(ids, id)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return readMetrics(ctx, tx, ids, values, metrics...)
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// readMetrics fills the maps of the runs ids, with the metrics of these names alone if there are any.
func readMetrics(ctx context.Context, tx *sql.Tx, ids []int64, into map[int64]map[string]float64, only ...string) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	query, args := `SELECT m.run, m.name, m.value FROM json_each(?) k JOIN metrics m ON m.run = k.value`, []any{string(list)}
	if len(only) > 0 {
		query += ` AND m.name IN (?` + strings.Repeat(`, ?`, len(only)-1) + `)`
		for _, name := range only {
			args = append(args, name)
		}
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names := map[string]string{} // one string for the same name of many runs
	for rows.Next() {
		var run int64
		var raw sql.RawBytes
		var value float64
		if err := rows.Scan(&run, &raw, &value); err != nil {
			return err
		}
		name, ok := names[string(raw)]
		if !ok {
			name = string(raw)
			names[name] = name
		}
		into[run][name] = value
	}
	return rows.Err()
}

// State is what the file knows of a job that is about to be run.
type State struct {
	UID    string // the run that counts, empty if there is none
	Failed int    // attempts that failed, whether or not another went well
	// LastStatus, LastError and LastUID tell of the latest of those that failed.
	LastStatus Status
	LastError  string
	LastUID    string
	// LastMethodCode and LastPretextCode are of that run too.
	LastMethodCode, LastPretextCode string
}

// State returns what is known of the jobs of these keys, in their order.
func (s *Store) State(ctx context.Context, keys []string) ([]State, error) {
	const doing = "read the state of jobs"
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	states := make([]State, len(keys))
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		return each(ctx, tx, `
			SELECT k.key,
				coalesce((SELECT r.uid FROM finished f JOIN runs r ON r.id = f.run WHERE f.job = j.id), ''),
				(SELECT count(*) FROM runs WHERE job = j.id AND status <> 'ok'),
				coalesce(l.status, ''), coalesce(l.error, ''), coalesce(l.uid, ''), coalesce(l.method_code, ''), coalesce(l.pretext_code, '')
			FROM json_each(?) k
			JOIN jobs j ON j.key = k.value
			LEFT JOIN runs l ON l.id = (SELECT id FROM runs WHERE job = j.id AND status <> 'ok' ORDER BY started DESC, uid DESC LIMIT 1)`,
			func(rows *sql.Rows) error {
				var i int
				var st State
				if err := rows.Scan(&i, &st.UID, &st.Failed, &st.LastStatus, &st.LastError, &st.LastUID, &st.LastMethodCode, &st.LastPretextCode); err != nil {
					return err
				}
				states[i] = st
				return nil
			}, string(list))
	})
	if err != nil {
		return nil, err
	}
	return states, nil
}

// Earlier returns, for each job, the jobs with a result that asked the same question of other
// data, of another split or of an earlier version; the latest result comes last.
func (s *Store) Earlier(ctx context.Context, jobs []Job) ([][]job.Job, error) {
	type group struct {
		dataset, method, pretext, eval string
		seed                           uint64
	}
	groups := map[group][]int{} // places in jobs
	for i, j := range jobs {
		g := group{j.Dataset, j.Method.Name, j.Pretext.Name, j.Eval, j.Seed}
		groups[g] = append(groups[g], i)
	}
	out := make([][]job.Job, len(jobs))
	err := s.read(ctx, "read the results of earlier versions", func(tx *sql.Tx) error {
		for g, places := range groups {
			if err := each(ctx, tx, `
				SELECT j.identity FROM jobs j JOIN finished f ON f.job = j.id JOIN runs r ON r.id = f.run
				WHERE j.dataset = ? AND j.method = ? AND j.pretext = ? AND j.seed = ? AND j.eval = ? ORDER BY r.started, r.uid`,
				func(rows *sql.Rows) error {
					var identity []byte
					if err := rows.Scan(&identity); err != nil {
						return err
					}
					was, err := job.Decode(identity)
					if err != nil {
						return err
					}
					for _, i := range places {
						if jobs[i].SameQuestion(was) {
							out[i] = append(out[i], was)
						}
					}
					return nil
				}, g.dataset, g.method, g.pretext, int64(g.seed), g.eval); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// RunByUID returns a run with all that was recorded of it, and its job. The error is
// fs.ErrNotExist if there is none.
func (s *Store) RunByUID(ctx context.Context, uid string) (Job, Run, error) {
	var job Job
	var run Run
	doing := "read run " + uid
	err := s.read(ctx, doing, func(tx *sql.Tx) error {
		runs, ids, err := readRuns(ctx, tx, "r.uid = ?", uid)
		if err != nil {
			return err
		}
		if len(runs) == 0 {
			return notRecorded("run")
		}
		run = runs[0]
		if err := readParts(ctx, tx, ids[0], &run); err != nil {
			return err
		}
		job, err = readJob(ctx, tx, run.JobKey)
		return err
	})
	return job, run, err
}

// readRuns returns runs with their metrics, and their rows.
func readRuns(ctx context.Context, tx *sql.Tx, where string, arg any) (runs []Run, ids []int64, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT r.id, r.uid, j.key, r.status, r.error, r.started, r.wall, r.cpu, r.peak, e.id, e.facts, r.method_code, r.pretext_code, r.reason
		FROM runs r JOIN jobs j ON j.id = r.job JOIN envs e ON e.id = r.env
		WHERE `+where+` ORDER BY r.started, r.uid`, arg)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	metrics := map[int64]map[string]float64{}
	for rows.Next() {
		var id int64
		var r Run
		var facts []byte
		if err := rows.Scan(&id, &r.UID, &r.JobKey, &r.Status, &r.Error, (*instant)(&r.Started), (*seconds)(&r.Wall), (*seconds)(&r.CPU), (*orZero)(&r.Peak), &r.EnvID, &facts, &r.MethodCode, &r.PretextCode, &r.Reason); err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(facts, &r.Env); err != nil {
			return nil, nil, err
		}
		r.Metrics = map[string]float64{}
		metrics[id] = r.Metrics
		runs, ids = append(runs, r), append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	return runs, ids, readMetrics(ctx, tx, ids, metrics)
}

// readParts adds the series and the predictions of the run in row id.
func readParts(ctx context.Context, tx *sql.Tx, id int64, r *Run) error {
	rows, err := tx.QueryContext(ctx, `SELECT name, iteration, value FROM series WHERE run = ? ORDER BY name, iteration`, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p Point
		if err := rows.Scan(&p.Name, &p.Iteration, &p.Value); err != nil {
			return err
		}
		r.Series = append(r.Series, p)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var n int
	var classes, truth []byte
	var hash string
	var truthHash sql.NullString
	err = tx.QueryRowContext(ctx, `
		SELECT p.samples, p.classes, p.sha256, t.classes, t.sha256 FROM predictions p LEFT JOIN truths t ON t.sha256 = p.truth
		WHERE p.run = ?`, id).Scan(&n, &classes, &hash, &truth, &truthHash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if sum(classes) != hash || truth != nil && sum(truth) != truthHash.String {
		return errors.New("its predictions or true classes do not have the hash they were recorded with: the file was changed")
	}
	if r.Predictions, err = decode(classes, n); err != nil || truth == nil {
		return err
	}
	r.Truth, err = decode(truth, n)
	return err
}

// readJob returns the job of a key. Its row must say what its identity says.
func readJob(ctx context.Context, tx *sql.Tx, key string) (Job, error) {
	var j Job
	var identity []byte
	var datasetHash, splitHash, method, pretext, eval string
	var seed int64
	err := tx.QueryRowContext(ctx, `
		SELECT identity, dataset, dataset_hash, split_hash, method, pretext, eval, seed
		FROM jobs WHERE key = ?`, key).
		Scan(&identity, &j.Dataset, &datasetHash, &splitHash, &method, &pretext, &eval, &seed)
	if err != nil {
		return Job{}, err
	}
	if job.KeyOf(identity) != key {
		return Job{}, fmt.Errorf("the key %s of a job is not the hash of its identity: the file was changed", key)
	}
	if j.Job, err = job.Decode(identity); err != nil {
		return Job{}, fmt.Errorf("job %s: %w", key, err)
	}
	for _, c := range []struct{ what, is, row string }{
		{"data set", j.DatasetHash, datasetHash},
		{"split", j.SplitHash, splitHash},
		{"method", j.Method.Name, method},
		{"pretext", j.Pretext.Name, pretext},
		{"evaluation", j.Eval, eval},
		{"seed", strconv.FormatUint(j.Seed, 10), strconv.FormatUint(uint64(seed), 10)},
	} {
		if c.is != c.row {
			return Job{}, fmt.Errorf("job %s: its %s is %q by its identity and %q by its row: the file was changed", key, c.what, c.is, c.row)
		}
	}
	return j, nil
}

// read runs f on one state of the file, whatever is written meanwhile.
func (s *Store) read(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	tx, err := s.r.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(doing, err)
	}
	defer tx.Rollback()
	return s.explain(doing, f(tx))
}
