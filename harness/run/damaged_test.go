package run

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"ssdl/harness/store"
)

// A result that was changed by SQL has no value but a fault, and is computed again.
func TestDamaged(t *testing.T) {
	b := newBench(t, threeRows)
	p, _ := b.run(t)
	db, err := sql.Open("sqlite3", filepath.Join(b.runner.Library.Roots[0], "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	bad := p.Cells[0].Final[0].Result.UID
	if _, err := db.Exec(`UPDATE metrics SET value = 0.999 WHERE name = 'accuracy' AND run = (SELECT id FROM runs WHERE uid = ?)`, bad); err != nil {
		t.Fatal(err)
	}
	damaged := func(p *Plan, want string) {
		t.Helper()
		task := p.Cells[0].Final[0]
		if _, ok := task.Value(); ok || task.State != Damaged || !strings.Contains(task.Reason(), want) {
			t.Errorf("%s: %q, want %q", task.State, task.Reason(), want)
		}
		if got := p.Provenance(p.Cells...); got.Damaged != 1 || p.Fault(p.Cells[0]) == nil || p.Fault(p.Cells[1]) != nil {
			t.Errorf("%+v", got)
		}
	}
	damaged(b.resolve(t, b.runner.Library), "record hash")
	p, sum := b.run(t)
	if sum.OK != 1 || p.Counts()[Damaged] != 0 {
		t.Fatalf("%+v, %v", sum, p.Counts())
	}
	task := &p.Cells[0].Final[0]
	if by, err := b.runner.Store.ReplacedBy(t.Context(), bad); err != nil || by != task.Result.UID {
		t.Errorf("run %s was replaced by %q, %v", bad, by, err)
	}

	// With hashes that fit the predictions tell.
	_, run, err := b.runner.Store.RunByUID(t.Context(), task.Result.UID)
	if err != nil {
		t.Fatal(err)
	}
	run.Replaces, run.UID = run.UID, store.NewUID()
	run.Metrics["accuracy"] = 0.999
	if err := b.runner.Store.Record(t.Context(), task.record(), run); err != nil {
		t.Fatal(err)
	}
	damaged(b.resolve(t, b.runner.Library), "0.999, expected ")
	if _, sum := b.run(t); sum.OK != 1 {
		t.Errorf("%+v", sum)
	}
}

// Damage in a row that runs share is repaired by the next run.
func TestSharedRowsAreRepaired(t *testing.T) {
	for name, damage := range map[string]string{
		"true classes": `UPDATE truths SET classes = x'00'`,
		"environment":  `UPDATE envs SET facts = '{}'`,
		"successor":    `INSERT INTO replaced SELECT uid, 'deadbeef' FROM runs`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, threeRows)
			b.run(t)
			db, err := sql.Open("sqlite3", filepath.Join(b.runner.Library.Roots[0], "runs.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(damage); err != nil {
				t.Fatal(err)
			}
			if n := b.resolve(t, b.runner.Library).Counts()[Damaged]; n == 0 {
				t.Fatal("nothing is damaged")
			}
			b.run(t)
			p, sum := b.run(t)
			if sum.Ran != 0 || p.Counts()[Damaged] != 0 {
				t.Errorf("after a run: %+v, %v", sum, p.Counts())
			}
		})
	}
}
