package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
)

// Verify checks what the hashes of a run cannot show: that its metrics are in their range and follow from its
// predictions. The error may be a Fault.
type Verify func(RunRecord) error

// Report counts the rows that Check has read, and lists the faults.
type Report struct {
	Datasets    int     `json:"datasets"`
	Splits      int     `json:"splits"`
	Names       int     `json:"names"`
	Envs        int     `json:"envs"`
	Truths      int     `json:"truths"`
	Jobs        int     `json:"jobs"`
	Origins     int     `json:"origins"`
	Superseded  int     `json:"superseded"`
	Runs        int     `json:"runs"`
	Metrics     int     `json:"metrics"`
	Points      int     `json:"points"`
	Predictions int     `json:"predictions"`
	Repetitions int     `json:"repetitions"`
	Migrated    int     `json:"migrated"` // runs that got their hash later: see Run
	Imported    int     `json:"imported"` // runs that were not recorded here
	Faults      []Fault `json:"faults"`
}

// Check checks the whole file: its pages and references, and the hash of every job, run, environment, split,
// name and list of true classes. It calls verify, if not nil, for every run without a fault, and progress, if
// not nil, with the number of runs done. A fault does not end it; the error says why it could not go on.
func (s *Store) Check(ctx context.Context, verify Verify, progress func(done, total int)) (Report, error) {
	report, err := s.check(ctx, verify, progress)
	return report, s.explain("check it", err)
}

func (s *Store) check(ctx context.Context, verify Verify, progress func(done, total int)) (Report, error) {
	c := &checker{Report: Report{Faults: []Fault{}}, seen: map[Fault]bool{}}
	var ids []int64
	for _, part := range []struct {
		table string
		check func(context.Context, *sql.Tx) error
	}{
		{"file", c.pages},
		{"datasets", c.datasets},
		{"splits", c.splits},
		{"split_names", c.names},
		{"envs", c.envs},
		{"truths", c.truths},
		{"jobs", c.jobs},
		{"origins", c.origins},
		{"replaced", c.superseded},
		{"repetitions", c.repetitions},
		{"runs", func(ctx context.Context, tx *sql.Tx) (err error) {
			ids, err = readIDs(ctx, tx)
			return err
		}},
	} {
		if err := c.unreadable(part.table, s.view(ctx, func(tx *sql.Tx) error { return part.check(ctx, tx) })); err != nil {
			return c.Report, err
		}
	}
	if err := c.runs(ctx, s, ids, verify, progress); err != nil {
		return c.Report, err
	}
	return c.Report, nil
}

// checker collects what Check finds.
type checker struct {
	Report
	seen map[Fault]bool
}

// add adds faults, each once: runs that share a faulty row repeat its fault.
func (c *checker) add(faults ...Fault) {
	for _, f := range faults {
		if !c.seen[f] {
			c.seen[f] = true
			c.Faults = append(c.Faults, f)
		}
	}
}

// unreadable adds a fault if err says that a table is damaged. It returns any other error, such as a
// cancellation or a lock of another process.
func (c *checker) unreadable(table string, err error) error {
	var e sqlite3.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &e) && e.Code != sqlite3.ErrCorrupt && e.Code != sqlite3.ErrNotADB && e.Code != sqlite3.ErrIoErr:
		return err
	}
	c.add(Fault{Table: table, What: "content", Is: "unreadable: " + err.Error()})
	return nil
}

// pages lets SQLite check the structure of the file and its foreign keys.
func (c *checker) pages(ctx context.Context, tx *sql.Tx) error {
	if err := eachRow(ctx, tx, "PRAGMA integrity_check", func(rows *sql.Rows) error {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			c.add(Fault{"file", "", "structure", "damaged: " + strings.ReplaceAll(line, "\n", " "), ""})
		}
		return nil
	}); err != nil {
		return err
	}
	return eachRow(ctx, tx, `SELECT "table", coalesce(rowid, ''), parent FROM pragma_foreign_key_check`, func(rows *sql.Rows) error {
		var table, row, parent string
		if err := rows.Scan(&table, &row, &parent); err != nil {
			return err
		}
		c.add(Fault{"file", "", "row " + row + " of " + table, "without its row of " + parent, ""})
		return nil
	})
}

func (c *checker) datasets(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT `+datasetColumns+` FROM datasets ORDER BY hash`, func(rows *sql.Rows) error {
		_, fault, err := scanDataset(rows.Scan)
		if err != nil {
			return err
		}
		if fault != nil {
			c.add(*fault)
		}
		c.Datasets++
		return nil
	})
}

// splits finds splits with more samples than their data set.
func (c *checker) splits(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT s.hash, s.train + s.test, d.samples FROM splits s JOIN datasets d ON d.hash = s.dataset ORDER BY s.hash`, func(rows *sql.Rows) error {
		var hash string
		var parts, samples int64
		if err := rows.Scan(&hash, &parts, &samples); err != nil {
			return err
		}
		if parts > samples {
			c.add(Fault{"splits", hash, "number of samples", strconv.FormatInt(parts, 10), fmt.Sprintf("at most %d", samples)})
		}
		c.Splits++
		return nil
	})
}

// names finds names that give a split to a data set that is not its own.
func (c *checker) names(ctx context.Context, tx *sql.Tx) error {
	if err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM dataset_names) + (SELECT count(*) FROM split_names)`).Scan(&c.Names); err != nil {
		return err
	}
	return eachRow(ctx, tx, `SELECT n.asked, n.seed, n.dataset, s.dataset FROM split_names n JOIN splits s ON s.hash = n.split
		WHERE n.dataset <> s.dataset ORDER BY 1, 2, 3`, func(rows *sql.Rows) error {
		var asked, dataset, want string
		var seed int64
		if err := rows.Scan(&asked, &seed, &dataset, &want); err != nil {
			return err
		}
		c.add(Fault{"split_names", fmt.Sprintf("%s, seed %d", asked, uint64(seed)), "data set", dataset, want})
		return nil
	})
}

func (c *checker) envs(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT id, facts FROM envs ORDER BY id`, func(rows *sql.Rows) error {
		var id string
		var facts []byte
		if err := rows.Scan(&id, &facts); err != nil {
			return err
		}
		if _, fault := decodeEnv(id, facts); fault != nil {
			c.add(*fault)
		}
		c.Envs++
		return nil
	})
}

func (c *checker) truths(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT sha256, samples, classes FROM truths ORDER BY sha256`, func(rows *sql.Rows) error {
		var hash string
		var n int64
		var classes sql.RawBytes
		if err := rows.Scan(&hash, &n, &classes); err != nil {
			return err
		}
		if _, fault := readClasses("truths", hash, n, classes, hash); fault != nil {
			c.add(*fault)
		}
		c.Truths++
		return nil
	})
}

func (c *checker) jobs(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT `+jobColumns+`, coalesce(s.dataset, '') FROM jobs j LEFT JOIN splits s ON s.hash = j.split_hash ORDER BY j.key`, func(rows *sql.Rows) error {
		var r jobRow
		var dataset string
		if err := rows.Scan(append(r.dest(), &dataset)...); err != nil {
			return err
		}
		switch _, fault := r.job(); {
		case fault != nil:
			c.add(*fault)
		case dataset != r.datasetHash:
			c.add(Fault{"jobs", r.key, "split", "one of data set " + dataset, "one of data set " + r.datasetHash})
		}
		c.Jobs++
		return nil
	})
}

func (c *checker) origins(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT name, sha256, imported FROM origins ORDER BY id`, func(rows *sql.Rows) error {
		var name, hash, imported string
		if err := rows.Scan(&name, &hash, &imported); err != nil {
			return err
		}
		if t, err := time.Parse(stamp, imported); err != nil || t.Format(stamp) != imported {
			c.add(Fault{"origins", name, "time", strconv.Quote(imported), "a time in the form of " + stamp})
		}
		if len(hash) != len(sum(nil)) || !isHex(hash) {
			c.add(Fault{"origins", name, "hash", strconv.Quote(hash), "a SHA-256"})
		}
		c.Origins++
		return nil
	})
}

func (c *checker) superseded(ctx context.Context, tx *sql.Tx) error {
	found, err := supersessionFaults(ctx, tx)
	if err != nil {
		return err
	}
	c.add(found.all...)
	return tx.QueryRowContext(ctx, `SELECT count(*) FROM replaced`).Scan(&c.Superseded)
}

func (c *checker) repetitions(ctx context.Context, tx *sql.Tx) error {
	return eachRepetition(ctx, tx, "", func(_ Repetition, fault *Fault) error {
		c.Repetitions++
		if fault != nil {
			c.add(*fault)
		}
		return nil
	})
}

// readIDs lists the rows of the runs by time.
func readIDs(ctx context.Context, tx *sql.Tx) (ids []int64, err error) {
	err = eachRow(ctx, tx, `SELECT id FROM runs ORDER BY started, uid`, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func (c *checker) runs(ctx context.Context, s *Store, ids []int64, verify Verify, progress func(done, total int)) error {
	known := newSharedRows()
	done := 0
	for batch := range slices.Chunk(ids, batchSize) {
		records, err := s.readBatch(ctx, known, batch)
		if err != nil { // one by one, to find the unreadable run
			records = nil
			for _, id := range batch {
				one, err := s.readBatch(ctx, known, []int64{id})
				if err := c.unreadable(fmt.Sprintf("row %d of runs", id), err); err != nil {
					return err
				}
				records = append(records, one...)
			}
		}
		for _, r := range records {
			c.run(r, verify)
		}
		if done += len(batch); progress != nil {
			progress(done, len(ids))
		}
	}
	return nil
}

func (c *checker) run(r RunRecord, verify Verify) {
	c.Runs++
	c.Metrics += len(r.Run.Metrics)
	c.Points += len(r.Run.Series)
	if len(r.Run.Predictions) > 0 {
		c.Predictions++
	}
	if r.Run.Migrated {
		c.Migrated++
	}
	if r.Run.Origin != nil {
		c.Imported++
	}
	for _, p := range r.Run.Series {
		if math.IsInf(p.Value, 0) {
			c.add(Fault{"series", r.Run.UID, fmt.Sprintf("%s at iteration %d", p.Name, p.Iteration), fmt.Sprint(p.Value), "a finite number"})
		}
	}
	c.add(r.Faults...)
	if verify == nil || len(r.Faults) > 0 {
		return
	}
	err := verify(r)
	if err == nil {
		return
	}
	var fault Fault
	if !errors.As(err, &fault) {
		fault = Fault{Table: "runs", ID: r.Run.UID, What: "content", Is: err.Error()}
	}
	c.add(fault)
}

// eachRow calls f for every row of a query.
func eachRow(ctx context.Context, tx *sql.Tx, query string, f func(*sql.Rows) error, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
