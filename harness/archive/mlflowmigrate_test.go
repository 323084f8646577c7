package archive

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// mlSchema are the constraints of MLflow's database that its migration of a file store must keep.
const mlSchema = `
CREATE TABLE experiments (
	experiment_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE CHECK (length(name) <= 256), artifact_location TEXT CHECK (length(artifact_location) <= 256),
	lifecycle_stage TEXT CHECK (lifecycle_stage IN ('active', 'deleted')), creation_time INTEGER, last_update_time INTEGER);
CREATE TABLE runs (
	run_uuid TEXT PRIMARY KEY CHECK (length(run_uuid) <= 32), name TEXT CHECK (length(name) <= 250), status TEXT CHECK (status IN ('FINISHED', 'FAILED', 'KILLED')),
	start_time INTEGER NOT NULL, end_time INTEGER NOT NULL, artifact_uri TEXT, experiment_id INTEGER NOT NULL REFERENCES experiments);
CREATE TABLE metrics (
	key TEXT NOT NULL CHECK (length(key) <= 250), value REAL NOT NULL, timestamp INTEGER NOT NULL, step INTEGER NOT NULL, run_uuid TEXT NOT NULL REFERENCES runs,
	PRIMARY KEY (key, timestamp, step, run_uuid, value));
CREATE TABLE params (key TEXT NOT NULL CHECK (length(key) <= 250), value TEXT NOT NULL CHECK (length(value) <= 8000), run_uuid TEXT NOT NULL REFERENCES runs, PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key TEXT NOT NULL CHECK (length(key) <= 250), value TEXT CHECK (length(value) <= 5000), run_uuid TEXT NOT NULL REFERENCES runs, PRIMARY KEY (key, run_uuid));`

// migrate reads a file store as `mlflow migrate-filestore` does: a folder named by a number is an experiment, and
// each folder in it with a meta.yaml is a run.
func migrate(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "mlflow.db")+"?_foreign_keys=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.Exec(statement, args...); err != nil {
			t.Fatalf("%v of %v", err, args)
		}
	}
	exec(mlSchema)
	meta := func(dir string) (m map[string]any) {
		t.Helper()
		if err := yaml.Unmarshal([]byte(read(t, dir, "meta.yaml")), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	list := func(dir string) []os.DirEntry {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	for _, x := range list(dir) {
		var id int64
		if _, err := fmt.Sscanf(x.Name(), "%d", &id); err != nil {
			continue
		}
		m := meta(filepath.Join(dir, x.Name()))
		exec(`INSERT INTO experiments VALUES (?, ?, ?, ?, ?, ?)`, id, m["name"], m["artifact_location"], m["lifecycle_stage"], m["creation_time"], m["last_update_time"])
		for _, r := range list(filepath.Join(dir, x.Name())) {
			if !r.IsDir() {
				continue
			}
			at := filepath.Join(dir, x.Name(), r.Name())
			m := meta(at)
			status := map[any]string{3: "FINISHED", 4: "FAILED", 5: "KILLED"}[m["status"]]
			exec(`INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)`, m["run_uuid"], m["run_name"], status, m["start_time"], m["end_time"], m["artifact_uri"], id)
			for _, table := range []string{"params", "tags"} {
				for _, f := range list(filepath.Join(at, table)) {
					exec(`INSERT INTO `+table+` VALUES (?, ?, ?)`, f.Name(), read(t, at, table, f.Name()), m["run_uuid"])
				}
			}
			for _, f := range list(filepath.Join(at, "metrics")) {
				for line := range strings.Lines(read(t, at, "metrics", f.Name())) {
					var when, step int64
					var value float64
					if _, err := fmt.Sscanf(line, "%d %g %d\n", &when, &value, &step); err != nil {
						t.Fatalf("%s of %s: %q: %v", f.Name(), at, line, err)
					}
					exec(`INSERT INTO metrics VALUES (?, ?, ?, ?, ?)`, f.Name(), value, when, step, m["run_uuid"])
				}
			}
		}
	}
	return db
}

// An export for MLflow can be migrated, and keeps the constraints of MLflow's database.
func TestMLflowMigrates(t *testing.T) {
	st := newStore(t)
	record(t, st, someJob("ssdl", "pahl", 1003), fails("interrupted", strings.Repeat("long ", 5000)))
	dir := filepath.Join(t.TempDir(), "ml")
	if _, err := MLflow(t.Context(), dir, st, "table1", nil); err != nil {
		t.Fatal(err)
	}
	db := migrate(t, dir)
	for query, want := range map[string]int{
		`SELECT count(*) FROM experiments WHERE name = 'table1: sports8'`:             1,
		`SELECT count(*) FROM runs`:                                                   5,
		`SELECT count(*) FROM runs WHERE status = 'FINISHED'`:                         3,
		`SELECT count(*) FROM runs WHERE status = 'KILLED'`:                           1,
		`SELECT count(*) FROM metrics WHERE key = 'accuracy' AND value = 0.75`:        3,
		`SELECT count(*) FROM metrics WHERE key = 'objective' AND step = 1`:           3,
		`SELECT count(*) FROM params WHERE key = 'seed' AND value = '1003'`:           1,
		`SELECT count(*) FROM tags WHERE key = 'mlflow.source.git.commit'`:            5,
		`SELECT count(*) FROM tags WHERE key = 'ssdl.error' AND length(value) = 5000`: 1,
	} {
		var got int
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, want %d (%v)", query, got, want, err)
		}
	}
}
