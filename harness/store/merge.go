package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Merged counts what Merge found in the files, each run once however many files have it.
type Merged struct {
	Runs     int // added
	Known    int // there already, the same in everything
	Jobs     int // added, and so are the following
	Datasets int
	Splits   int
}

// Source is a file to be merged.
type Source struct {
	Name string // what messages call it: the name that its user knows
	Path string
}

// Merge adds to the file what other files of runs hold: those of other machines, and of
// other people. A run is known by its uid and added once. Files of an older schema are
// converted on a copy; no file but the store's own is written to.
//
// All of it is added, or nothing: a run that the store has under the same uid with other
// content, and a job, data set or split of the same hash with other content, are refused
// by name. So is a file that is damaged, that another program made or changed, or whose
// rows a reader could not trust. Of what may differ (the name and source of a data set, how
// a split came about, what a name stands for) that of the store stays, and then that of the
// earlier file.
func (s *Store) Merge(ctx context.Context, files ...Source) (Merged, error) {
	if s.w == nil {
		return Merged{}, fmt.Errorf("store: %s: cannot import: it was opened for reading only", s.path)
	}
	if len(files) == 0 {
		return Merged{}, nil
	}
	dir, err := os.MkdirTemp("", "ssdl-import-*")
	if err != nil {
		return Merged{}, fmt.Errorf("store: %s: cannot import: %w", s.path, err)
	}
	defer os.RemoveAll(dir)
	copies := make([]Source, len(files))
	for i, f := range files {
		copies[i] = Source{f.Name, filepath.Join(dir, fmt.Sprintf("%d.db", i))}
		if err := takeCopy(ctx, f, copies[i].Path); err != nil {
			return Merged{}, err
		}
	}
	from := copies[0]
	if len(copies) > 1 { // first among themselves, so that one transaction does for all
		if from, err = unite(ctx, filepath.Join(dir, "all.db"), copies); err != nil {
			return Merged{}, err
		}
	}
	return s.add(ctx, from)
}

// unite merges files into a new one at path.
func unite(ctx context.Context, path string, files []Source) (_ Source, err error) {
	all, err := Open(ctx, path)
	if err != nil {
		return Source{}, err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	var names []string
	for _, f := range files {
		all.path = strings.Join(names, ", ") // for messages: what a conflict is with
		if _, err := all.add(ctx, f); err != nil {
			return Source{}, err
		}
		names = append(names, f.Name)
	}
	return Source{strings.Join(names, ", "), path}, nil
}

// takeCopy writes a copy of a file in the present schema, and examines it.
func takeCopy(ctx context.Context, f Source, to string) (err error) {
	src := &Store{path: f.Name, wait: patience}
	const doing = "import it"
	abs, err := filepath.Abs(f.Path)
	if err != nil {
		return src.explain(doing, err)
	}
	switch info, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("store: there is no %s to import: %w", f.Name, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("store: cannot read %s: %w", f.Name, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("store: %s is not a file of runs but a %s", f.Name, kindOf(info.Mode()))
	case info.Size() == 0:
		return fmt.Errorf("store: %s is empty: name a file of runs", f.Name)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	err = src.openReaders(ctx, abs)
	if isUnreadableWAL(err) && isEmpty(abs+"-wal") {
		err = src.openReaders(ctx, abs, "immutable=1") // see OpenReadOnly
	}
	if err != nil {
		return src.explain(doing, err)
	}
	src.r.SetMaxOpenConns(1) // the pragmas are those of one connection
	if err := checkSchema(ctx, src.r); err != nil {
		return src.explain(doing, err)
	}
	if err := src.vacuumInto(ctx, to); err != nil {
		return src.explain(doing, err)
	}
	dup, err := Open(ctx, to) // converts it
	if err != nil {
		return src.explain(doing, err)
	}
	return src.explain(doing, errors.Join(examine(ctx, dup), dup.Close()))
}

func kindOf(m fs.FileMode) string {
	if m.IsDir() {
		return "folder"
	}
	return "special file"
}

// checkSchema makes sure that a file has the tables, indexes and views of its version as
// this program makes them, and no others: whatever a stranger's trigger or view would do,
// it is not done here.
func checkSchema(ctx context.Context, r *sql.DB) error {
	if _, err := r.ExecContext(ctx, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON"); err != nil {
		return err
	}
	all := migrations()
	have, err := version(ctx, r)
	switch {
	case err != nil:
		return err
	case have == 0:
		return errors.New("it holds no runs: its tables were never made")
	case have > len(all):
		return errNewer{have, len(all)}
	}
	ours, err := sql.Open("sqlite3", "file::memory:")
	if err != nil {
		return err
	}
	defer ours.Close()
	ours.SetMaxOpenConns(1) // each connection has its own memory
	for v := range have {
		if err := step(ctx, ours, v+1, all[v]); err != nil {
			return err
		}
	}
	want, err := objects(ctx, ours)
	if err != nil {
		return err
	}
	got, err := objects(ctx, r)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			return fmt.Errorf("its %s is missing or is not that of schema %d: another program has changed the file", name, have)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("it has a %q, which is no part of schema %d: another program has changed the file", name, have)
		}
	}
	return nil
}

// objects returns the definitions of a file by kind and name, without the statistics that
// ANALYZE keeps.
func objects(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat*'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := map[string]string{}
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return nil, err
		}
		list[kind+" "+name] = text
	}
	return list, rows.Err()
}

// add merges an examined file.
func (s *Store) add(ctx context.Context, from Source) (m Merged, err error) {
	doing := "import " + from.Name
	conn, err := s.w.Conn(ctx)
	if err != nil {
		return Merged{}, s.explain(doing, err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ? AS other", dsn(from.Path, s.wait, "mode=ro")); err != nil {
		return Merged{}, s.explain(doing, err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "DETACH DATABASE other")
	var tx *sql.Tx
	if err := s.patiently(ctx, func() (err error) {
		tx, err = conn.BeginTx(ctx, nil)
		return err
	}); err != nil {
		return Merged{}, s.explain(doing, err)
	}
	defer tx.Rollback()
	if m, err = mergeTables(ctx, tx); err != nil {
		return Merged{}, s.explain(doing, err)
	}
	if err := tx.Commit(); err != nil {
		return Merged{}, s.explain(doing, err)
	}
	return m, nil
}

// mergeTables copies the tables of other into main, rows that others refer to first.
func mergeTables(ctx context.Context, tx *sql.Tx) (m Merged, err error) {
	columns := map[string][]string{}
	parts, err := partsOfRuns(ctx, tx)
	if err != nil {
		return m, err
	}
	for _, table := range append([]string{"datasets", "splits", "dataset_names", "split_names", "envs", "truths", "jobs", "runs", "replaced"}, parts...) {
		if columns[table], err = columnsOf(ctx, tx, table); err != nil {
			return m, err
		}
	}

	// What must not differ where both have the row.
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
			return m, err
		}
	}
	if err := sameRuns(ctx, tx, parts, columns); err != nil {
		return m, err
	}

	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM other.runs o JOIN main.runs m ON m.uid = o.uid`).Scan(&m.Known); err != nil {
		return m, err
	}
	var last int64 // runs above it are new
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM main.runs`).Scan(&last); err != nil {
		return m, err
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
	run := without(columns["runs"], "id", "job")
	put(&m.Runs, "runs", `SELECT mj.id, o.`+strings.Join(run, ", o.")+`
		FROM other.runs o JOIN other.jobs oj ON oj.id = o.job JOIN main.jobs mj ON mj.key = oj.key
		WHERE NOT EXISTS (SELECT 1 FROM main.runs m WHERE m.uid = o.uid)
		ORDER BY o.started, o.uid`, append([]string{"job"}, run...))
	for _, table := range parts {
		of := without(columns[table], "run")
		put(nil, table, fmt.Sprintf(`SELECT m.id, c.%s
			FROM main.runs m JOIN other.runs o ON o.uid = m.uid JOIN other.%s c ON c.run = o.id
			WHERE m.id > ?`, strings.Join(of, ", c."), table), append([]string{"run"}, of...), last)
	}
	whole(nil, "replaced", "uid", columns["replaced"])
	if err != nil {
		return m, err
	}
	// The names of classes came late: a description without them is completed.
	if _, err := tx.ExecContext(ctx, `UPDATE main.datasets AS m SET class_names = o.class_names
		FROM other.datasets o WHERE o.hash = m.hash AND m.class_names = '[]' AND o.class_names <> '[]'`); err != nil {
		return m, err
	}
	return m, checkReplaced(ctx, tx)
}

// checkReplaced makes sure that no file takes results away: a run is replaced by one of its
// job that went well, and one of those remains that counts. The run that replaced another
// may itself have been replaced and removed.
func checkReplaced(ctx context.Context, tx *sql.Tx) error {
	if err := refuse(ctx, tx, `SELECT p.uid FROM main.replaced p JOIN main.runs a ON a.uid = p.uid JOIN main.runs b ON b.uid = p.new
		WHERE b.job <> a.job OR b.status <> 'ok' ORDER BY 1`, func(uid string) error {
		return fmt.Errorf("it says that run %s was replaced, but by one of another job, or one that failed", uid)
	}); err != nil {
		return err
	}
	return refuse(ctx, tx, `SELECT j.key FROM main.jobs j
		WHERE EXISTS (SELECT 1 FROM main.runs r WHERE r.job = j.id AND r.status = 'ok')
		  AND NOT EXISTS (SELECT 1 FROM main.finished f WHERE f.job = j.id) ORDER BY 1`, func(key string) error {
		return fmt.Errorf("it says that every run of job %s was replaced, so that none would count", key)
	})
}

// sameRuns makes sure that the runs that both have are the same in all columns and parts.
func sameRuns(ctx context.Context, tx *sql.Tx, parts []string, columns map[string][]string) error {
	differs := func(what string) func(string) error {
		return func(uid string) error {
			return fmt.Errorf("its run %s is there already with other %s: one of the two files was changed, and nothing was imported", uid, what)
		}
	}
	query := `SELECT o.uid FROM other.runs o JOIN main.runs m ON m.uid = o.uid
		JOIN other.jobs oj ON oj.id = o.job JOIN main.jobs mj ON mj.id = m.job
		WHERE oj.key <> mj.key OR NOT (` + equal(without(columns["runs"], "id", "job")) + `) ORDER BY 1`
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

// refuse returns the error made of the first row of a query, if there is one.
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

// equal is the condition that the rows o and m have the same in columns, null being the
// same as null.
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

// partsOfRuns are the tables whose rows belong to a run.
func partsOfRuns(ctx context.Context, tx *sql.Tx) ([]string, error) {
	return names(ctx, tx, `SELECT t.name FROM main.sqlite_schema t, pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND f."table" = 'runs' AND f."from" = 'run' ORDER BY t.name`)
}

// columnsOf are the columns of a table that are stored.
func columnsOf(ctx context.Context, tx *sql.Tx, table string) ([]string, error) {
	return names(ctx, tx, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, table)
}

func names(ctx context.Context, tx *sql.Tx, query string, args ...any) ([]string, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, rows.Err()
}
