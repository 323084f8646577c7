package run

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// A repetition that differs says in what, and whether another program computed the result.
func TestRepeat(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p, _ := b.run(t)
	task := &p.Cells[0].Final[0]
	repeat := func() string {
		t.Helper()
		differs, err := b.runner.Repeat(t.Context(), p, task)
		if err != nil {
			t.Fatal(err)
		}
		return differs
	}
	if differs := repeat(); differs != "" {
		t.Fatalf("unchanged: %s", differs)
	}
	db, err := sql.Open("sqlite3", filepath.Join(b.runner.Library.Roots[0], "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	set := func(query string) {
		t.Helper()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	set(`UPDATE envs SET facts = json_set(facts, '$.arch', 'vax')`)
	if differs := repeat(); differs != "" {
		t.Errorf("the same bits on another machine: %s", differs)
	}
	set(`UPDATE metrics SET value = 0.125 WHERE name = 'accuracy'`)
	if differs := repeat(); !strings.HasPrefix(differs, "the metric accuracy: 0.125, now ") || !strings.Contains(differs, ", architecture was vax, is ") {
		t.Errorf("another value on another machine: %q", differs)
	}
	set(`DELETE FROM metrics WHERE name = 'accuracy'`)
	if differs := repeat(); differs != "" {
		t.Errorf("a metric that the program measures since: %q", differs)
	}
	set(`INSERT INTO metrics (run, name, value) SELECT id, 'accuracy', 0.125 FROM runs`)
	set(`INSERT INTO metrics (run, name, value) SELECT id, 'aaa', 0.5 FROM runs`)
	if differs := repeat(); !strings.HasPrefix(differs, "the metric aaa: 0.5, now none") {
		t.Errorf("a metric that the repetition lacks: %q", differs)
	}
	set(`DELETE FROM metrics WHERE name = 'aaa'`)
	set(`UPDATE envs SET facts = '{}'`)
	if differs := repeat(); !strings.HasPrefix(differs, "the metric accuracy: 0.125, now ") || strings.Contains(differs, "was") {
		t.Errorf("another value, nobody knows where: %q", differs)
	}
}
