package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// sharedRows caches the rows that runs share, by hash.
type sharedRows struct {
	envs     map[string]checked[map[string]string]
	truths   map[string]checked[[]int]
	datasets map[string]checked[Dataset]
	splits   map[string]checked[Split]
	origins  map[int64]*Origin
}

// checked is a value read from the file, and its fault, if any.
type checked[T any] struct {
	value T
	fault *Fault
}

func newSharedRows() *sharedRows {
	return &sharedRows{
		envs: map[string]checked[map[string]string]{}, truths: map[string]checked[[]int]{},
		datasets: map[string]checked[Dataset]{}, splits: map[string]checked[Split]{}, origins: map[int64]*Origin{},
	}
}

// cached returns the value of hash, and reads it the first time.
func cached[T any](known map[string]checked[T], hash string, read func() (checked[T], error)) (checked[T], error) {
	if v, ok := known[hash]; ok {
		return v, nil
	}
	v, err := read()
	if err == nil {
		known[hash] = v
	}
	return v, err
}

func (k *sharedRows) env(ctx context.Context, tx *sql.Tx, id string) (checked[map[string]string], error) {
	return cached(k.envs, id, func() (checked[map[string]string], error) {
		env, fault, err := readEnv(ctx, tx, id)
		if errors.Is(err, sql.ErrNoRows) {
			return checked[map[string]string]{fault: missing("envs", id)}, nil
		}
		return checked[map[string]string]{env, fault}, err
	})
}

// truth returns the list of true classes of a hash; nil for the empty hash.
func (k *sharedRows) truth(ctx context.Context, tx *sql.Tx, hash string) (checked[[]int], error) {
	if hash == "" {
		return checked[[]int]{}, nil
	}
	return cached(k.truths, hash, func() (found checked[[]int], err error) {
		var n int64
		var classes []byte
		err = tx.QueryRowContext(ctx, `SELECT samples, classes FROM truths WHERE sha256 = ?`, hash).Scan(&n, &classes)
		if errors.Is(err, sql.ErrNoRows) {
			found.fault = missing("truths", hash)
			return found, nil
		}
		if err == nil {
			found.value, found.fault = readClasses("truths", hash, n, classes, hash)
		}
		return found, err
	})
}

func (k *sharedRows) dataset(ctx context.Context, tx *sql.Tx, hash string) (checked[Dataset], error) {
	return cached(k.datasets, hash, func() (checked[Dataset], error) {
		d, fault, err := readDataset(ctx, tx, hash)
		if errors.Is(err, sql.ErrNoRows) {
			return checked[Dataset]{fault: missing("datasets", hash)}, nil
		}
		return checked[Dataset]{d, fault}, err
	})
}

func (k *sharedRows) split(ctx context.Context, tx *sql.Tx, hash string) (checked[Split], error) {
	return cached(k.splits, hash, func() (checked[Split], error) {
		p, err := readSplit(ctx, tx, hash)
		if errors.Is(err, sql.ErrNoRows) {
			return checked[Split]{fault: missing("splits", hash)}, nil
		}
		return checked[Split]{value: p}, err
	})
}

// missing is the fault of a row that another refers to.
func missing(table, id string) *Fault { return &Fault{table, id, "row", "missing", "there"} }

// readEnv reads the environment of an id, which is the hash of its facts.
func readEnv(ctx context.Context, tx *sql.Tx, id string) (map[string]string, *Fault, error) {
	var facts []byte
	if err := tx.QueryRowContext(ctx, `SELECT facts FROM envs WHERE id = ?`, id).Scan(&facts); err != nil {
		return nil, nil, err
	}
	env, fault := decodeEnv(id, facts)
	return env, fault, nil
}

func decodeEnv(id string, facts []byte) (env map[string]string, fault *Fault) {
	if is := sum(facts); is != id {
		return nil, &Fault{"envs", id, "hash", is, id}
	}
	if err := json.Unmarshal(facts, &env); err != nil {
		return nil, &Fault{"envs", id, "content", "unreadable: " + err.Error(), ""}
	}
	return env, nil
}

// readClasses decodes n classes and checks them against their hash.
func readClasses(table, id string, n int64, classes []byte, hash string) ([]int, *Fault) {
	if is := sum(classes); is != hash {
		return nil, &Fault{table, id, "hash", is, hash}
	}
	if n > int64(len(classes)) { // one byte each at least
		return nil, &Fault{table, id, "number", strconv.FormatInt(n, 10), fmt.Sprintf("at most %d", len(classes))}
	}
	list, err := decode(classes, int(n))
	if err != nil {
		return nil, &Fault{table, id, "content", "unreadable: " + err.Error(), ""}
	}
	return list, nil
}

// sameLength returns a fault if a run does not have as many predictions as true classes.
func sameLength(uid string, predictions, truth []int) *Fault {
	if truth == nil || len(truth) == len(predictions) {
		return nil
	}
	return &Fault{"predictions", uid, "number", strconv.Itoa(len(predictions)), strconv.Itoa(len(truth))}
}

// readRecords reads the runs of these row ids in their order, without missing ones, and checks all
// hashes.
func readRecords(ctx context.Context, tx *sql.Tx, known *sharedRows, ids []int64) ([]RunRecord, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	in := string(list)
	type part struct {
		row     runRow
		n       sql.NullInt64
		classes []byte
		points  []Point
		command *Command
		fault   *Fault
	}
	parts := make(map[int64]*part, len(ids))
	var keys []string
	if err := eachRow(ctx, tx, `SELECT `+runColumns+`, p.samples, p.classes
		FROM json_each(?) k JOIN runs r ON r.id = k.value LEFT JOIN jobs j ON j.id = r.job LEFT JOIN predictions p ON p.run = r.id`,
		func(rows *sql.Rows) error {
			p := &part{}
			err := rows.Scan(append(p.row.dest(), &p.n, &p.classes)...)
			p.fault = p.row.split()
			parts[p.row.id] = p
			keys = append(keys, p.row.job)
			return err
		}, in); err != nil {
		return nil, err
	}
	if err := eachRow(ctx, tx, `SELECT m.run, m.name, m.value FROM json_each(?) k JOIN metrics m ON m.run = k.value ORDER BY m.run, m.name`,
		func(rows *sql.Rows) error {
			var id int64
			var m measured
			err := rows.Scan(&id, &m.name, &m.value)
			if p := parts[id]; p != nil {
				p.row.metrics = append(p.row.metrics, m)
			}
			return err
		}, in); err != nil {
		return nil, err
	}
	if err := eachRow(ctx, tx, `SELECT s.run, s.name, s.iteration, s.value FROM json_each(?) k JOIN series s ON s.run = k.value ORDER BY s.run, s.name, s.iteration`,
		func(rows *sql.Rows) error {
			var id int64
			var at Point
			err := rows.Scan(&id, &at.Name, &at.Iteration, &at.Value)
			if p := parts[id]; p != nil {
				p.points = append(p.points, at)
			}
			return err
		}, in); err != nil {
		return nil, err
	}
	if err := eachRow(ctx, tx, `SELECT c.run, c.state, c.confined, c.stdout, c.stderr FROM json_each(?) k JOIN commands c ON c.run = k.value`,
		func(rows *sql.Rows) error {
			var id int64
			var c Command
			err := rows.Scan(&id, &c.State, &c.Confined, &c.Stdout, &c.Stderr)
			if p := parts[id]; p != nil {
				p.command = &c
			}
			return err
		}, in); err != nil {
		return nil, err
	}
	jobs, err := readJobs(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	if known.origins, err = readOrigins(ctx, tx); err != nil { // an import may have added some
		return nil, err
	}
	var out []RunRecord
	var buf []byte
	for _, id := range ids {
		p := parts[id]
		if p == nil {
			continue
		}
		r, fault := RunRecord{Run: p.row.run()}, (*Fault)(nil)
		add := func(f *Fault) {
			if f != nil && !slices.Contains(r.Faults, *f) {
				r.Faults = append(r.Faults, *f)
			}
		}
		add(p.fault)
		r.Run.Started, r.Run.Wall, r.Run.CPU, fault = p.row.times()
		add(fault)
		if r.Run.Series = p.points; seriesHash(p.points) != p.row.series {
			add(&Fault{"series", p.row.uid, "hash", seriesHash(p.points), p.row.series})
		}
		if r.Run.Command = p.command; commandHash(p.command) != p.row.command {
			add(&Fault{"commands", p.row.uid, "hash", commandHash(p.command), p.row.command})
		}
		if p.n.Valid {
			r.Run.Predictions, fault = readClasses("predictions", p.row.uid, p.n.Int64, p.classes, p.row.predictions)
			add(fault)
		}
		if buf, fault = p.row.check(buf); fault != nil {
			add(fault)
		}
		j, ok := jobs[p.row.job]
		if !ok {
			j.fault = &Fault{"runs", p.row.uid, "job", "missing", "there"}
		}
		add(j.fault)
		r.Job = j.value
		env, err := known.env(ctx, tx, p.row.env)
		if err != nil {
			return nil, err
		}
		add(env.fault)
		r.Run.Env = env.value
		truth, err := known.truth(ctx, tx, p.row.truth)
		if err != nil {
			return nil, err
		}
		add(truth.fault)
		r.Run.Truth = slices.Clone(truth.value)
		if r.Run.Predictions != nil {
			add(sameLength(p.row.uid, r.Run.Predictions, truth.value))
		}
		dataset, err := known.dataset(ctx, tx, r.Job.DatasetHash)
		if err != nil {
			return nil, err
		}
		split, err := known.split(ctx, tx, r.Job.SplitHash)
		if err != nil {
			return nil, err
		}
		if j.fault == nil {
			add(dataset.fault)
			add(split.fault)
		}
		r.Dataset, r.Split = dataset.value, split.value
		if p.row.origin.Valid {
			r.Run.Origin = known.origins[p.row.origin.Int64]
		}
		out = append(out, r)
	}
	return out, nil
}

// run makes a Run of the row, without times, environment and parts.
func (r *runRow) run() Run {
	run := Run{
		UID: r.uid, JobKey: r.job, Status: Status(r.status), Error: r.failure, Peak: r.peak, EnvID: r.env,
		Code: r.code, Reason: r.reason, Replaces: r.replaces,
		Hash: r.recordHash, Migrated: r.hashed == hashedMigrated, Metrics: make(map[string]float64, len(r.metrics)),
	}
	for _, m := range r.metrics {
		run.Metrics[m.name] = m.value
	}
	return run
}

// readJobs returns jobs by key, with their faults.
func readJobs(ctx context.Context, tx *sql.Tx, keys []string) (map[string]checked[Job], error) {
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	jobs := make(map[string]checked[Job], len(keys))
	err = eachRow(ctx, tx, `SELECT `+jobColumns+` FROM (SELECT DISTINCT value FROM json_each(?)) k JOIN jobs j ON j.key = k.value`,
		func(rows *sql.Rows) error {
			var r jobRow
			err := rows.Scan(r.dest()...)
			j, fault := r.job()
			jobs[r.key] = checked[Job]{j, fault}
			return err
		}, string(list))
	return jobs, err
}

// datasetColumns are the columns that scanDataset reads.
const datasetColumns = `hash, name, samples, dim, classes, source, synthetic, class_names, declared, dropped`

// scanDataset reads a data set from a row of datasetColumns.
func scanDataset(scan func(...any) error) (d Dataset, fault *Fault, err error) {
	var names []byte
	if err := scan(&d.Hash, &d.Name, &d.Samples, &d.Dim, &d.Classes, &d.Source, &d.Synthetic, &names, &d.Declared, &d.Dropped); err != nil {
		return d, nil, err
	}
	if err := json.Unmarshal(names, &d.ClassNames); err != nil {
		fault = &Fault{Table: "datasets", ID: d.Hash, What: "class names", Is: "unreadable: " + err.Error()}
	}
	return d, fault, nil
}

func readDataset(ctx context.Context, tx *sql.Tx, hash string) (Dataset, *Fault, error) {
	return scanDataset(tx.QueryRowContext(ctx, `SELECT `+datasetColumns+` FROM datasets WHERE hash = ?`, hash).Scan)
}

func readSplit(ctx context.Context, tx *sql.Tx, hash string) (p Split, err error) {
	var seed int64
	err = tx.QueryRowContext(ctx, `SELECT hash, dataset, kind, seed, train, labeled, test FROM splits WHERE hash = ?`, hash).
		Scan(&p.Hash, &p.Dataset, &p.Kind, &seed, &p.Train, &p.Labeled, &p.Test)
	p.Seed = uint64(seed)
	return p, err
}
