package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"ssdl/harness/job"
)

// State is what the store knows of the attempts at a job.
type State struct {
	UID    string // the current run, empty if there is none
	Failed int    // number of failed attempts
	// LastStatus, LastError, LastUID and LastCode describe the latest failed attempt.
	LastStatus Status
	LastError  string
	LastUID    string
	LastCode   job.Fingerprints
}

// State returns the states of the jobs with these keys, in their order.
func (s *Store) State(ctx context.Context, keys []string) ([]State, error) {
	const doing = "read the state of jobs"
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	states := make([]State, len(keys))
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, `
			SELECT k.key,
				coalesce((SELECT r.uid FROM finished f JOIN runs r ON r.id = f.run WHERE f.job = j.id), ''),
				(SELECT count(*) FROM runs WHERE job = j.id AND status <> 'ok'),
				coalesce(l.status, ''), coalesce(l.error, ''), coalesce(l.uid, ''), coalesce(l.method_code, ''), coalesce(l.pretext_code, ''), coalesce(l.protocol_code, '')
			FROM json_each(?) k
			JOIN jobs j ON j.key = k.value
			LEFT JOIN runs l ON l.id = (SELECT id FROM runs WHERE job = j.id AND status <> 'ok' ORDER BY started DESC, uid DESC LIMIT 1)`,
			func(rows *sql.Rows) error {
				var i int
				var st State
				if err := rows.Scan(&i, &st.UID, &st.Failed, &st.LastStatus, &st.LastError, &st.LastUID, &st.LastCode.Method, &st.LastCode.Pretext, &st.LastCode.Protocol); err != nil {
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

// Earlier returns, for each job, the jobs with a result that compute the same on other data, on another
// split or with another version (see job.Job.SameQuestion); the latest result comes last.
func (s *Store) Earlier(ctx context.Context, jobs []Job) ([][]job.Job, error) {
	type group struct {
		dataset, method, pretext, eval string
		seed                           uint64
	}
	groups := map[group][]int{} // indices of jobs
	for i, j := range jobs {
		g := group{j.Dataset, j.Method.Name, j.Pretext.Name, j.Eval, j.Seed}
		groups[g] = append(groups[g], i)
	}
	out := make([][]job.Job, len(jobs))
	err := s.read(ctx, "read the results of earlier versions", func(tx *sql.Tx) error {
		for g, places := range groups {
			if err := eachRow(ctx, tx, `
				SELECT j.key, j.identity FROM jobs j JOIN finished f ON f.job = j.id JOIN runs r ON r.id = f.run
				WHERE j.dataset = ? AND j.method = ? AND j.pretext = ? AND j.seed = ? AND j.eval = ? ORDER BY r.started, r.uid`,
				func(rows *sql.Rows) error {
					var key string
					var identity []byte
					if err := rows.Scan(&key, &identity); err != nil {
						return err
					}
					was, err := job.Decode(identity)
					if err != nil || checkKey(key, identity) != nil {
						return nil // damaged: Check reports it
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

// Commands returns the external programs of all jobs, the latest first.
func (s *Store) Commands(ctx context.Context) ([]job.Command, error) {
	var list []job.Command
	err := s.read(ctx, "read the programs of jobs", func(tx *sql.Tx) error {
		return eachRow(ctx, tx, `
			SELECT command FROM (
				SELECT id, json_extract(identity, '$.method.command') AS command FROM jobs WHERE method = ?1
				UNION ALL SELECT id, json_extract(identity, '$.pretext.command') FROM jobs WHERE pretext = ?1)
			WHERE command IS NOT NULL GROUP BY command ORDER BY max(id) DESC`,
			func(rows *sql.Rows) error {
				var text []byte
				if err := rows.Scan(&text); err != nil {
					return err
				}
				var c job.Command
				if err := json.Unmarshal(text, &c); err != nil {
					return nil // Check reports it
				}
				list = append(list, c)
				return nil
			}, job.ExecName)
	})
	return list, err
}

// read runs f in a transaction: f sees one state of the file although others write.
func (s *Store) read(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	return s.explain(doing, s.view(ctx, f))
}

// view is read without explain.
func (s *Store) view(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.r.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return f(tx)
}
