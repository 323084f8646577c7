package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"ssdl/harness/job"
)

// Repetition is the outcome of computing a run again.
type Repetition struct {
	Run     string    // uid
	Started time.Time // kept to the microsecond, in UTC
	Workers int
	Env     map[string]string // of the repetition; EnvID, set by readers, is its hash
	EnvID   string
	Code    job.Fingerprints
	// Differs names the first difference; empty if every bit was the same.
	Differs string
}

// hash is the SHA-256 of the repetition: the line "ssdl repetition 1", and its fields in the form of
// canonicalRun.appendTo.
func (r Repetition) hash() string {
	b := appendText([]byte("ssdl repetition 1\n"), r.Run)
	b = appendText(b, r.Started.UTC().Format(stamp))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Workers))
	for _, s := range [...]string{r.EnvID, r.Code.Method, r.Code.Pretext, r.Code.Protocol, r.Differs} {
		b = appendText(b, s)
	}
	return sum(b)
}

// RecordRepetition records a repetition. Its run must be in the store.
func (s *Store) RecordRepetition(ctx context.Context, r Repetition) error {
	doing := "record the repetition of run " + r.Run
	facts, env, err := encodeEnv(r.Env)
	if err != nil {
		return fmt.Errorf("store: %s: cannot %s: %w", s.path, doing, err)
	}
	r.EnvID = env
	return s.writeDurably(ctx, doing, func(tx *sql.Tx) error {
		if err := insertEnv(ctx, tx, env, facts); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO repetitions (uid, started, workers, env, method_code, pretext_code, protocol_code, differs, record_hash)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.Run, r.Started.UTC().Format(stamp), r.Workers, env, r.Code.Method, r.Code.Pretext, r.Code.Protocol, r.Differs, r.hash())
		if isForeignKey(err) {
			return notRecorded("run")
		}
		return err
	})
}

// Repetitions lists the repetitions of runs by time, without those that are not as they were recorded; Check
// reports these.
func (s *Store) Repetitions(ctx context.Context, uids []string) ([]Repetition, error) {
	const doing = "read repetitions"
	only, err := json.Marshal(uids)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	var list []Repetition
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		known := newSharedRows()
		return eachRepetition(ctx, tx, `WHERE uid IN (SELECT value FROM json_each(?))`, func(r Repetition, fault *Fault) error {
			if fault != nil {
				return nil
			}
			env, err := known.env(ctx, tx, r.EnvID)
			if err != nil || env.fault != nil {
				return err
			}
			r.Env = env.value
			list = append(list, r)
			return nil
		}, string(only))
	})
	return list, err
}

// eachRepetition calls f for the repetitions that the SQL clause where selects, by time, with their faults
// and without their environments.
func eachRepetition(ctx context.Context, tx *sql.Tx, where string, f func(Repetition, *Fault) error, args ...any) error {
	type found struct {
		Repetition
		fault *Fault
	}
	var all []found
	if err := eachRow(ctx, tx, `SELECT id, uid, started, workers, env, method_code, pretext_code, protocol_code, differs, record_hash
		FROM repetitions `+where+` ORDER BY started, id`, func(rows *sql.Rows) error {
		var r found
		var id int64
		var started, hash string
		if err := rows.Scan(&id, &r.Run, &started, &r.Workers, &r.EnvID, &r.Code.Method, &r.Code.Pretext, &r.Code.Protocol, &r.Differs, &hash); err != nil {
			return err
		}
		at, err := time.Parse(stamp, started)
		if r.Started = at; err != nil {
			r.fault = &Fault{"repetitions", strconv.FormatInt(id, 10), "start time", strconv.Quote(started), "a time in the form of " + stamp}
		} else if is := r.hash(); is != hash {
			r.fault = &Fault{"repetitions", strconv.FormatInt(id, 10), "record hash", is, hash}
		}
		all = append(all, r)
		return nil
	}, args...); err != nil {
		return err
	}
	for _, r := range all {
		if err := f(r.Repetition, r.fault); err != nil {
			return err
		}
	}
	return nil
}
