package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mattn/go-sqlite3"

	"ssdl/harness/job"
)

// Dataset describes the data of a hash. The first description is kept.
type Dataset struct {
	Hash, Name            string
	Samples, Dim, Classes int
	Source                string // where it came from, in words
	Synthetic             bool
	ClassNames            []string // empty if unknown
	// Declared is the name in the data set's own description; empty without one. Dropped is the number of
	// zero samples that were left out.
	Declared string
	Dropped  int
}

// Split describes a division of a data set by the hash of its index lists.
type Split struct {
	Hash, Dataset string // Dataset is the hash of a recorded Dataset
	Kind          string // class, official or file
	Seed          uint64 // 0 if the kind draws nothing
	Train         int    // training samples
	Labeled       int    // training samples that keep their label
	Test          int    // test samples
}

// Job is a job with the name of its data set.
type Job struct {
	job.Job
	Dataset string // the name in the spec
}

// Status is how a run ended.
type Status string

// Only a run that is ok is a result.
const (
	StatusOK          Status = "ok"
	StatusError       Status = "error"
	StatusPanic       Status = "panic"
	StatusTimeout     Status = "timeout"
	StatusInterrupted Status = "interrupted"
	StatusMemory      Status = "out of memory"
)

// Run is one attempt at a job.
type Run struct {
	UID     string // from NewUID
	JobKey  string // set by readers; Record takes it empty or as the key of the job
	Status  Status
	Error   string    // what went wrong; empty exactly if Status is StatusOK
	Started time.Time // kept to the microsecond, in UTC
	Wall    time.Duration
	CPU     time.Duration
	Peak    int64 // bytes of memory, 0 if unknown
	// Env describes program and machine: commit, Go version, GOAMD64, BLAS, processor, system.
	// Equal ones are stored once; EnvID, set by readers, is the hash.
	Env   map[string]string
	EnvID string
	Code  job.Fingerprints
	// Reason is why the job was run again; empty for its first run.
	Reason string
	// Replaces is the uid of the run that this one supersedes, if any.
	Replaces string
	// Origin says where an imported run came from; nil for a run that was recorded here. Hash is the
	// SHA-256 of the record. Migrated says that the hash was made later, since the run is of a schema
	// before 4. Readers set the three.
	Origin   *Origin
	Hash     string
	Migrated bool

	Metrics     map[string]float64 // finite
	Series      []Point            // at most one per name and iteration
	Predictions []int              // 0-based classes in the order of the split
	Truth       []int              // true classes in this order; empty if unknown
	Command     *Command           // nil unless an external program was run
}

// Command is the outcome of the external program that a run called.
type Command struct {
	State    string // how it ended: ok, crashed, invalid output and so on
	Confined string // what it had no access to: no, files, files and network
	// Stdout and Stderr are the end of its output, as UTF-8.
	Stdout, Stderr string
}

// Point is a value of the trace of a fit.
type Point struct {
	Name      string
	Iteration int
	Value     float64 // finite
}

// NewUID returns a fresh identifier of a run: 128 random bits in hexadecimal.
func NewUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// durable is the wall time up to which a power cut may lose a run: its record reaches the disk only when the
// write-ahead log is next moved into the file.
const durable = time.Second

// Record writes a run of a job with all its parts, or nothing. The data set and the split of the job
// must be registered. It refuses a value that is not finite, by name, so that no table can show one.
//
// To record a run that was cancelled, use context.WithoutCancel.
func (s *Store) Record(ctx context.Context, job Job, run Run) error {
	doing := fmt.Sprintf("record run %s of %s on %s, seed %d", run.UID, job.Name(), job.Dataset, job.Seed)
	if err := check(job, run); err != nil {
		return fmt.Errorf("store: %s: cannot %s: %w", s.path, doing, err)
	}
	facts, env, err := encodeEnv(run.Env)
	if err != nil {
		return fmt.Errorf("store: %s: cannot %s: %w", s.path, doing, err)
	}
	write := s.write
	if run.Wall > durable {
		write = s.writeDurably
	}
	return write(ctx, doing, func(tx *sql.Tx) error {
		jobID, key, err := insertJob(ctx, tx, job)
		if err != nil {
			return err
		}
		if err := insertEnv(ctx, tx, env, facts); err != nil {
			return err
		}
		return insertRun(ctx, tx, jobID, key, env, run)
	})
}

// encodeEnv returns an environment as the store keeps it, and its hash.
func encodeEnv(env map[string]string) (facts []byte, id string, err error) {
	if env == nil {
		env = map[string]string{}
	}
	facts, err = json.Marshal(env) // sorts the keys
	return facts, sum(facts), err
}

// insertEnv inserts an environment, and repairs a damaged one.
func insertEnv(ctx context.Context, tx *sql.Tx, id string, facts []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO envs (id, facts) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET facts = excluded.facts WHERE facts <> excluded.facts`, id, string(facts))
	return err
}

// insertJob inserts a job unless it is known, and returns its row id and its key.
func insertJob(ctx context.Context, tx *sql.Tx, j Job) (id int64, key string, err error) {
	identity := j.Encode()
	key = job.KeyOf(identity)
	_, err = tx.ExecContext(ctx, `INSERT INTO jobs
		(key, identity, dataset, dataset_hash, split_hash, method, pretext, eval, seed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
		key, string(identity), j.Dataset, j.DatasetHash, j.SplitHash, j.Method.Name, j.Pretext.Name, j.Eval, int64(j.Seed))
	if isForeignKey(err) {
		return 0, "", fmt.Errorf("its data set %s or its split %s is not recorded: call Register first", j.DatasetHash, j.SplitHash)
	}
	if err != nil {
		return 0, "", err
	}
	var has string
	if err := tx.QueryRowContext(ctx, `SELECT id, identity FROM jobs WHERE key = ?`, key).Scan(&id, &has); err != nil {
		return 0, "", err
	}
	if has != string(identity) {
		return 0, "", fmt.Errorf("its key %s is that of another job: %s", key, has)
	}
	return id, key, nil
}

// insertRun writes a run of the job in row id, whose key is key, and its parts.
func insertRun(ctx context.Context, tx *sql.Tx, job int64, key, env string, r Run) error {
	rec := canonicalRun{
		hashed: hashedRecorded, uid: r.UID, job: key, status: string(r.Status), failure: r.Error,
		started: r.Started.UTC().Format(stamp), wall: r.Wall.Seconds(), cpu: r.CPU.Seconds(), peak: r.Peak,
		env: env, code: r.Code, reason: r.Reason, replaces: r.Replaces,
		series: seriesHash(r.Series), predictions: classesHash(r.Predictions), truth: classesHash(r.Truth),
		metrics: sortedMetrics(r.Metrics), command: commandHash(r.Command),
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO runs (uid, job, status, error, started, wall, cpu, peak, env,
			method_code, pretext_code, protocol_code, reason, replaces, series_hash, command_hash, hashed, record_hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		rec.uid, job, rec.status, rec.failure, rec.started, rec.wall, rec.cpu, sql.NullInt64{Int64: r.Peak, Valid: r.Peak > 0}, env,
		rec.code.Method, rec.code.Pretext, rec.code.Protocol, rec.reason, rec.replaces, rec.series, rec.command, rec.hashed, rec.hash())
	if isUnique(err) {
		return errors.New("a run of this uid is there already")
	}
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}

	if r.Replaces != "" {
		var known bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM runs WHERE uid = ? AND job = ?)`, r.Replaces, job).Scan(&known); err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("it replaces run %s, which is of another job", r.Replaces)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO replaced (uid, new) VALUES (?, ?)
			ON CONFLICT (uid) DO UPDATE SET new = excluded.new
			WHERE NOT EXISTS (SELECT 1 FROM runs y WHERE y.uid = replaced.new AND y.replaces = replaced.uid)`, r.Replaces, r.UID); err != nil {
			return err
		}
	}
	if len(r.Metrics) > 0 {
		put, err := tx.PrepareContext(ctx, `INSERT INTO metrics (run, name, value) VALUES (?, ?, ?)`)
		if err != nil {
			return err
		}
		defer put.Close()
		for _, m := range rec.metrics {
			if _, err := put.ExecContext(ctx, id, m.name, m.value); err != nil {
				return err
			}
		}
	}
	if len(r.Series) > 0 {
		put, err := tx.PrepareContext(ctx, `INSERT INTO series (run, name, iteration, value) VALUES (?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer put.Close()
		for _, p := range r.Series {
			if _, err := put.ExecContext(ctx, id, p.Name, p.Iteration, p.Value); err != nil {
				return err
			}
		}
	}
	if c := r.Command; c != nil {
		if _, err := tx.ExecContext(ctx, `INSERT INTO commands (run, state, confined, stdout, stderr) VALUES (?, ?, ?, ?, ?)`,
			id, c.State, c.Confined, []byte(c.Stdout), []byte(c.Stderr)); err != nil {
			return err
		}
	}
	if len(r.Predictions) > 0 {
		truth := sql.NullString{String: rec.truth, Valid: rec.truth != ""}
		if truth.Valid {
			if _, err := tx.ExecContext(ctx, `INSERT INTO truths (sha256, samples, classes) VALUES (?, ?, ?)
				ON CONFLICT (sha256) DO UPDATE SET samples = excluded.samples, classes = excluded.classes
				WHERE samples <> excluded.samples OR classes <> excluded.classes`,
				truth, len(r.Truth), encode(r.Truth)); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO predictions (run, samples, classes, sha256, truth) VALUES (?, ?, ?, ?, ?)`,
			id, len(r.Predictions), encode(r.Predictions), rec.predictions, truth); err != nil {
			return err
		}
	}
	return nil
}

// write runs f in a transaction of the writer.
func (s *Store) write(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	return s.withWriter(ctx, doing, func(conn *sql.Conn) error { return s.transact(ctx, conn, doing, f) })
}

// writeDurably is write for records that a power cut must not lose: this transaction and all before it are
// on the disk when it returns.
func (s *Store) writeDurably(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	return s.withWriter(ctx, doing, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil {
			return s.explain(doing, err)
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous = NORMAL")
		return s.transact(ctx, conn, doing, f)
	})
}

// withWriter calls f with the connection that writes.
func (s *Store) withWriter(ctx context.Context, doing string, f func(*sql.Conn) error) error {
	if s.w == nil {
		return fileError(fmt.Errorf("store: %s: cannot %s: it was opened for reading only", s.path, doing))
	}
	conn, err := s.w.Conn(ctx)
	if err != nil {
		return s.explain(doing, err)
	}
	defer conn.Close()
	return f(conn)
}

// transact runs f in a transaction of conn, once the write-ahead log is short enough. It fails if the file
// was deleted or replaced.
func (s *Store) transact(ctx context.Context, conn *sql.Conn, doing string, f func(tx *sql.Tx) error) error {
	if err := s.waitForLog(ctx, conn); err != nil {
		return s.explain(doing, err)
	}
	var tx *sql.Tx
	err := s.retryLocked(ctx, func() (err error) {
		tx, err = conn.BeginTx(ctx, nil) // immediate: it has the write lock once it has begun
		return err
	})
	if err != nil {
		return s.explain(doing, err)
	}
	defer tx.Rollback()
	if err := s.checkInPlace(); err != nil {
		return s.explain(doing, err)
	}
	if err := f(tx); err != nil {
		return s.explain(doing, err)
	}
	if err := tx.Commit(); err != nil {
		return s.explain(doing, err)
	}
	s.shortenLog(ctx, conn)
	return nil
}

// stamp is the form of a time: of fixed width, so that it sorts as text.
const stamp = "2006-01-02T15:04:05.000000Z"

// encode packs classes, one byte each below 128.
func encode(classes []int) []byte {
	b := make([]byte, 0, len(classes))
	for _, c := range classes {
		b = binary.AppendUvarint(b, uint64(c))
	}
	return b
}

// PredictionsHash is the SHA-256 of predicted classes, as the store records it.
func PredictionsHash(classes []int) string { return sum(encode(classes)) }

// decode is the inverse of encode for n classes.
func decode(b []byte, n int) ([]int, error) {
	classes := make([]int, 0, n)
	for len(b) > 0 {
		c, size := binary.Uvarint(b)
		if size <= 0 || c > math.MaxInt32 {
			return nil, fmt.Errorf("the predictions break off after %d of %d", len(classes), n)
		}
		classes = append(classes, int(c))
		b = b[size:]
	}
	if len(classes) != n {
		return nil, fmt.Errorf("there are %d predictions instead of %d", len(classes), n)
	}
	return classes, nil
}

func isForeignKey(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.ExtendedCode == sqlite3.ErrConstraintForeignKey
}

func isUnique(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.ExtendedCode == sqlite3.ErrConstraintUnique
}

// encodeNames encodes the names of classes as a JSON list, [] if there are none.
func encodeNames(names []string) (string, error) {
	if len(names) == 0 {
		return "[]", nil
	}
	raw, err := json.Marshal(names)
	return string(raw), err
}
