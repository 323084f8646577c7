package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mergeMode says which ranks the runs get. The zero value keeps those that they have in other.
type mergeMode struct {
	imports bool // the rank of a new import
	theirs  bool // the rank before all others
}

// mergeTables copies the tables of other into main, referenced rows first. The runs that it added have rows
// after last.
func mergeTables(ctx context.Context, tx *sql.Tx, mode mergeMode) (m Merged, last int64, err error) {
	columns := map[string][]string{}
	parts, err := partsOfRuns(ctx, tx)
	if err != nil {
		return m, 0, err
	}
	for _, table := range append([]string{"datasets", "splits", "dataset_names", "split_names", "envs", "truths", "jobs", "origins", "runs", "repetitions"}, parts...) {
		if columns[table], err = columnsOf(ctx, tx, table); err != nil {
			return m, 0, err
		}
	}
	if err := sameRows(ctx, tx, columns); err != nil {
		return m, 0, err
	}
	// CROSS JOIN makes SQLite begin with the few runs of other: main can have a hundred thousand.
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM other.runs o CROSS JOIN main.runs m ON m.uid = o.uid`).Scan(&m.Known); err != nil {
		return m, 0, err
	}
	if m.Known > 0 {
		if err := sameRuns(ctx, tx, parts, columns); err != nil {
			return m, 0, err
		}
	}
	before, err := currentOfBoth(ctx, tx)
	if err != nil {
		return m, 0, err
	}
	var imports int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0), coalesce(max(abs(rank)), 0) FROM main.runs`).Scan(&last, &imports); err != nil {
		return m, 0, err
	}
	rank := "o.rank"
	if mode.imports {
		if imports++; mode.theirs {
			imports = -imports
		}
		rank = fmt.Sprint(imports)
	}

	put := func(count *int, table, from string, columns []string, args ...any) {
		if err != nil {
			return
		}
		var res sql.Result
		names := strings.Join(columns, ", ")
		if res, err = tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO main.%s (%s) %s ON CONFLICT DO NOTHING`, table, names, from), args...); err != nil {
			return
		}
		if n, _ := res.RowsAffected(); count != nil { // SQLite always knows
			*count = int(n)
		}
	}
	whole := func(count *int, table, order string, columns []string) {
		put(count, table, fmt.Sprintf(`SELECT %s FROM other.%s WHERE true ORDER BY %s`, strings.Join(columns, ", "), table, order), columns)
	}
	whole(&m.Datasets, "datasets", "hash", columns["datasets"])
	whole(&m.Splits, "splits", "hash", columns["splits"])
	whole(nil, "dataset_names", "name", columns["dataset_names"])
	whole(nil, "split_names", "dataset, asked, seed", columns["split_names"])
	whole(nil, "envs", "id", columns["envs"])
	whole(nil, "truths", "sha256", columns["truths"])
	whole(&m.Jobs, "jobs", "key", without(columns["jobs"], "id"))
	whole(nil, "origins", "id", without(columns["origins"], "id"))
	run := without(columns["runs"], "id", "job", "origin", "rank")
	put(&m.Runs, "runs", `SELECT mj.id, mo.id, `+rank+`, o.`+strings.Join(run, ", o.")+`
		FROM other.runs o JOIN other.jobs oj ON oj.id = o.job JOIN main.jobs mj ON mj.key = oj.key
		LEFT JOIN other.origins oo ON oo.id = o.origin
		LEFT JOIN main.origins mo ON mo.name = oo.name AND mo.sha256 = oo.sha256 AND mo.imported = oo.imported
		WHERE NOT EXISTS (SELECT 1 FROM main.runs m WHERE m.uid = o.uid)
		ORDER BY o.started, o.uid`, append([]string{"job", "origin", "rank"}, run...))
	for _, table := range parts {
		of := without(columns[table], "run")
		put(nil, table, fmt.Sprintf(`SELECT m.id, c.%s
			FROM main.runs m JOIN other.runs o ON o.uid = m.uid JOIN other.%s c ON c.run = o.id
			WHERE m.id > ?`, strings.Join(of, ", c."), table), append([]string{"run"}, of...), last)
	}
	entries := `SELECT uid, new FROM other.replaced o WHERE true`
	if mode.imports && !mode.theirs { // not for runs that were there before
		entries += fmt.Sprintf(` AND NOT EXISTS (SELECT 1 FROM main.runs m WHERE m.uid = o.uid AND m.id <= %d)`, last)
	}
	put(nil, "replaced", entries+` ORDER BY uid`, []string{"uid", "new"})
	if !mode.imports { // what another program verified is no evidence here
		repetition := without(columns["repetitions"], "id")
		put(nil, "repetitions", `SELECT o.`+strings.Join(repetition, ", o.")+` FROM other.repetitions o JOIN main.runs m ON m.uid = o.uid
			WHERE NOT EXISTS (SELECT 1 FROM main.repetitions r WHERE r.uid = o.uid AND r.record_hash = o.record_hash)
			ORDER BY o.started, o.id`, repetition)
	}
	if err != nil {
		return m, 0, err
	}
	if mode.theirs {
		if _, err := tx.ExecContext(ctx, `UPDATE main.runs SET rank = `+rank+` WHERE origin IS NOT NULL AND uid IN (SELECT uid FROM other.runs)`); err != nil {
			return m, 0, err
		}
	}
	for _, q := range []string{
		// Older files lack the names of classes: add them.
		`UPDATE main.datasets AS m SET class_names = o.class_names
			FROM other.datasets o WHERE o.hash = m.hash AND m.class_names = '[]' AND o.class_names <> '[]'`,
		// A file whose runs were all known is no origin.
		`DELETE FROM main.origins WHERE id NOT IN (SELECT origin FROM main.runs WHERE origin IS NOT NULL)`,
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return m, 0, err
		}
	}
	if err := checkReplaced(ctx, tx); err != nil {
		return m, 0, err
	}
	after, err := currentOfBoth(ctx, tx)
	if err != nil {
		return m, 0, err
	}
	m.Changed, err = changesOf(ctx, tx, before, after)
	return m, last, err
}

// currentOfBoth returns the current runs of main, by key, of the jobs that other has too.
func currentOfBoth(ctx context.Context, tx *sql.Tx) (map[string]string, error) {
	current := map[string]string{}
	err := eachRow(ctx, tx, `SELECT m.key, r.uid FROM other.jobs o JOIN main.jobs m ON m.key = o.key
		JOIN main.runs r ON r.id = (SELECT f.run FROM main.finished f WHERE f.job = m.id)`, func(rows *sql.Rows) error {
		var key, uid string
		err := rows.Scan(&key, &uid)
		current[key] = uid
		return err
	})
	return current, err
}

// changesOf lists the jobs that have another current run than before, by key.
func changesOf(ctx context.Context, tx *sql.Tx, before, after map[string]string) ([]CurrentChange, error) {
	var keys []string
	for key, was := range before {
		if after[key] != was {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	jobs, err := readJobs(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	var changes []CurrentChange
	for _, key := range keys {
		changes = append(changes, CurrentChange{jobs[key].value, before[key], after[key]})
	}
	return changes, nil
}

// checkReplaced refuses entries that would remove results: the successor of a run must be an ok run of
// its job, and each job with an ok run must keep a current one. A successor may itself have been replaced
// and removed.
func checkReplaced(ctx context.Context, tx *sql.Tx) error {
	if err := refuse(ctx, tx, `SELECT p.uid FROM main.replaced p JOIN main.runs a ON a.uid = p.uid JOIN main.runs b ON b.uid = p.new
		WHERE b.job <> a.job OR b.status <> 'ok' ORDER BY 1`, func(uid string) error {
		return fmt.Errorf("it says that run %s was replaced by a run that failed or is of another job", uid)
	}); err != nil {
		return err
	}
	return refuse(ctx, tx, `SELECT j.key FROM main.jobs j
		WHERE EXISTS (SELECT 1 FROM main.runs r WHERE r.job = j.id AND r.status = 'ok')
		  AND NOT EXISTS (SELECT 1 FROM main.finished f WHERE f.job = j.id) ORDER BY 1`, func(key string) error {
		return fmt.Errorf("it says that every run of job %s was replaced, so that none would be current", key)
	})
}

// sameRows refuses rows of the same hash with different content.
func sameRows(ctx context.Context, tx *sql.Tx, columns map[string][]string) error {
	for _, t := range []struct{ what, table, key, same string }{
		{"data set", "datasets", "hash", "samples dim classes"},
		{"split", "splits", "hash", "train labeled test"},
		{"environment", "envs", "id", strings.Join(columns["envs"], " ")},
		{"list of true classes", "truths", "sha256", strings.Join(columns["truths"], " ")},
		{"job", "jobs", "key", "identity"},
	} {
		query := fmt.Sprintf(`SELECT o.%[2]s FROM other.%[1]s o JOIN main.%[1]s m ON m.%[2]s = o.%[2]s WHERE NOT (%[3]s) ORDER BY 1`,
			t.table, t.key, equal(strings.Fields(t.same)))
		if err := refuse(ctx, tx, query, func(key string) error {
			return fmt.Errorf("its %s %s is not the one that is recorded under this hash: one of the two files was changed", t.what, key)
		}); err != nil {
			return err
		}
	}
	return nil
}

// sameRuns refuses runs of the same uid that differ in a column or a part. It ignores what a run replaces:
// files of an older schema may not say it.
func sameRuns(ctx context.Context, tx *sql.Tx, parts []string, columns map[string][]string) error {
	differs := func(what string) func(string) error {
		return func(uid string) error {
			return fmt.Errorf("its run %s is there already with different %s: one of the two files was changed, and nothing was imported", uid, what)
		}
	}
	query := `SELECT o.uid FROM other.runs o JOIN main.runs m ON m.uid = o.uid
		JOIN other.jobs oj ON oj.id = o.job JOIN main.jobs mj ON mj.id = m.job
		WHERE oj.key <> mj.key OR NOT (` + equal(without(columns["runs"], "id", "job", "origin", "rank", "replaces", "hashed", "record_hash")) + `)
		   OR o.hashed = 'recorded' AND m.hashed = 'recorded' AND o.record_hash <> m.record_hash ORDER BY 1`
	if err := refuse(ctx, tx, query, differs("content")); err != nil {
		return err
	}
	for _, table := range parts {
		same := equal(without(columns[table], "run"))
		for _, side := range []string{"other main", "main other"} {
			a, b, _ := strings.Cut(side, " ")
			query := fmt.Sprintf(`SELECT x.uid FROM %[1]s.runs x JOIN %[2]s.runs y ON y.uid = x.uid JOIN %[1]s.%[3]s o ON o.run = x.id
				WHERE NOT EXISTS (SELECT 1 FROM %[2]s.%[3]s m WHERE m.run = y.id AND %[4]s) ORDER BY 1`, a, b, table, same)
			if err := refuse(ctx, tx, query, differs(table)); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuse returns the error that why makes of the first row of a query, or nil if there is none.
func refuse(ctx context.Context, tx *sql.Tx, query string, why func(string) error) error {
	var first string
	switch err := tx.QueryRowContext(ctx, query+" LIMIT 1").Scan(&first); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return why(first)
}

// equal is the SQL condition that the rows o and m are equal in columns; null equals null.
func equal(columns []string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = fmt.Sprintf("o.%[1]s IS m.%[1]s", c)
	}
	return strings.Join(parts, " AND ")
}

func without(list []string, drop ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(c string) bool { return slices.Contains(drop, c) })
}

// partsOfRuns lists the tables whose rows belong to a run.
func partsOfRuns(ctx context.Context, tx *sql.Tx) ([]string, error) {
	return texts(ctx, tx, `SELECT t.name FROM main.sqlite_schema t, pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND f."table" = 'runs' AND f."from" = 'run' ORDER BY t.name`)
}

// columnsOf lists the stored columns of a table.
func columnsOf(ctx context.Context, tx *sql.Tx, table string) ([]string, error) {
	return texts(ctx, tx, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, table)
}

func texts(ctx context.Context, tx *sql.Tx, query string, args ...any) (list []string, err error) {
	err = eachRow(ctx, tx, query, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		list = append(list, text)
		return err
	}, args...)
	return list, err
}
