package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rows lists what a query finds, as text.
func rows(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	r, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for r.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(values...))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Files of every earlier schema, one fixture each, are converted: nothing that was recorded is
// lost or changed, and the converted file has the schema of a new one.
func TestOldFiles(t *testing.T) {
	for v := 1; v < len(migrations()); v++ {
		t.Run(fmt.Sprint("schema", v), func(t *testing.T) {
			script, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("schema%d.sql", v)))
			if err != nil {
				t.Fatalf("every schema that was released needs a file of it: %v", err)
			}
			path := filepath.Join(t.TempDir(), "runs.db")
			db, err := sql.Open("sqlite3", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(string(script)); err != nil {
				t.Fatal(err)
			}
			queries := []string{
				`SELECT hash, name, samples, dim, classes, source, synthetic FROM datasets ORDER BY 1`,
				`SELECT * FROM splits ORDER BY 1`,
				`SELECT id, key, identity, dataset, dataset_hash, split_hash, method, pretext, eval, seed FROM jobs ORDER BY 1`,
				`SELECT * FROM envs ORDER BY 1`,
				`SELECT id, uid, job, status, error, started, wall, cpu, peak, env FROM runs ORDER BY 1`,
				`SELECT run, replace(name, '_', '-'), value FROM metrics ORDER BY 1, 2`,
				`SELECT * FROM series ORDER BY 1, 2, 3`,
				`SELECT run, samples, hex(classes), sha256 FROM predictions ORDER BY 1`,
				`SELECT * FROM finished ORDER BY 1`,
				`SELECT dataset, method, pretext, eval, seed, replace(metric, '_', '-') AS metric, value, job_key, run_uid FROM results ORDER BY job_key, metric`,
			}
			before := map[string][]string{}
			for _, q := range queries {
				if before[q] = rows(t, db, q); len(before[q]) == 0 {
					t.Fatalf("the fixture has nothing for %s", q)
				}
			}
			db.Close()

			s, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, q := range queries {
				if diff := cmp.Diff(before[q], rows(t, s.r, q)); diff != "" {
					t.Errorf("%s (-before +after):\n%s", q, diff)
				}
			}
			wantIntact(t, s)
			report, err := s.Check(t.Context(), nil, nil)
			migrated := count(t, s, "SELECT count(*) FROM runs WHERE hashed = 'migrated'")
			if err != nil || len(report.Faults) > 0 || report.Runs == 0 || report.Migrated != migrated || (v < 4) != (migrated == report.Runs) {
				t.Errorf("checked: %+v, %v", report, err)
			}
			fresh, err := Open(t.Context(), filepath.Join(t.TempDir(), "new.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer fresh.Close()
			for _, q := range []string{
				`SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2`,
				`SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' ORDER BY 1, c.cid`,
				`SELECT * FROM pragma_user_version`, `SELECT * FROM pragma_application_id`,
			} {
				if diff := cmp.Diff(rows(t, fresh.r, q), rows(t, s.r, q)); diff != "" {
					t.Errorf("%s (-new file +converted):\n%s", q, diff)
				}
			}
			d, err := s.DatasetNamed(t.Context(), "tiny")
			if err != nil || d.Samples != 24 {
				t.Errorf("tiny stands for %+v, %v", d, err)
			}
			splits, err := s.SplitsOf(t.Context(), d.Hash)
			if err != nil || len(splits) != 2 || splits[Asked{"class train=0.7 labels=0.4", 1}] == "" || splits[Asked{"class train=0.7 labels=0.4", 2}] == "" {
				t.Errorf("the splits of tiny are %v, %v", splits, err)
			}
			// What is read of it, and what is added to it.
			keys := rows(t, s.r, `SELECT key FROM jobs ORDER BY id`)
			found, err := s.Finished(t.Context(), keys)
			if err != nil || len(found) != len(keys) {
				t.Fatalf("%d results of %d jobs, %v", len(found), len(keys), err)
			}
			for key, r := range found {
				job, run, err := s.RunByUID(t.Context(), r.UID)
				if r.Fault != nil || v < 4 && !r.Migrated || r.Origin != nil {
					t.Errorf("result %+v, %v", r, r.Fault)
				}
				if err != nil || v == 1 && (run.Code.Method != "" || len(run.Truth) != 0) || len(run.Predictions) == 0 {
					t.Fatalf("run %s: %+v, %v", r.UID, run, err)
				}
				again := newRun(run.Started)
				again.Reason, again.Replaces = "the code changed", r.UID
				record(t, s, job, again)
				now, err := s.Finished(t.Context(), []string{key})
				if err != nil || now[key].UID != again.UID {
					t.Fatalf("replaced by %s, and %s is current: %v", again.UID, now[key].UID, err)
				}
			}
		})
	}
}
