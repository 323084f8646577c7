package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOpenMigrates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil { // an empty file is a new one
		t.Fatal(err)
	}
	s := newStore(t, path)
	record(t, s, newJob("m", 1, 1), newRun(start))

	now := len(migrations())
	// As a later version of the program would.
	later := append(migrations(), "ALTER TABLE runs ADD COLUMN note TEXT; UPDATE runs SET note = 'converted'")
	if err := migrate(t.Context(), s.w, later); err != nil {
		t.Fatal(err)
	}
	var note string
	if err := s.r.QueryRow("SELECT note FROM runs").Scan(&note); err != nil || note != "converted" {
		t.Errorf("note %q, %v", note, err)
	}
	for name, open := range map[string]func(context.Context, string) (*Store, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
		_, err := open(t.Context(), path)
		t.Log(name, err)
		wantError(t, err, path, "newer version", fmt.Sprintf("schema %d, known up to %d", now+1, now))
	}

	// A step that fails leaves no trace.
	err := migrate(t.Context(), s.w, append(later, "CREATE TABLE half (a TEXT) STRICT; nonsense"))
	wantError(t, err, fmt.Sprint("migration ", now+2), "nonsense")
	if n := count(t, s, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"); n != 0 {
		t.Error("half a migration is there")
	}
	if n := count(t, s, "SELECT user_version FROM pragma_user_version"); n != now+1 {
		t.Errorf("version is %d", n)
	}
}

func TestOpenReadOnlyWantsThePresentSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := newStore(t, path)
	if _, err := s.w.Exec("PRAGMA user_version = 0"); err != nil {
		t.Fatal(err)
	}
	_, err := OpenReadOnly(t.Context(), path)
	wantError(t, err, path, fmt.Sprintf("older schema 0 (now %d)", len(migrations())), "open it once for writing")
}

// TestSettings checks the settings that the connection strings must have.
func TestSettings(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "busy_timeout": "200",
	} {
		var got string
		if err := s.w.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s of the writer is %s, want %s (%v)", pragma, got, want, err)
		}
	}
	if _, err := s.r.Exec("DELETE FROM runs"); err == nil {
		t.Error("a reader may write")
	}
	var loose []string
	rows, err := s.r.Query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' AND NOT strict")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		loose = append(loose, name)
	}
	if len(loose) > 0 {
		t.Errorf("tables that are not STRICT: %v", loose)
	}
	// A transaction locks when it begins, not when it first writes: one that reads first
	// would otherwise be overtaken. Opening does not wait for it.
	tx, err := s.w.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	other, err := open(t.Context(), s.path, 50*time.Millisecond, "NORMAL")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	wantError(t, other.Register(t.Context(), []Dataset{dataset}, nil), "locked")
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	other, err := sql.Open("sqlite3", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("CREATE TABLE bookmarks (url)"); err != nil {
		t.Fatal(err)
	}
	other.Close()
	before, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}

	for _, open := range []func(context.Context, string) (*Store, error){Open, OpenReadOnly} {
		_, err := open(t.Context(), text)
		t.Log(err)
		wantError(t, err, text, "not an SQLite database")
		_, err = open(t.Context(), foreign)
		wantError(t, err, foreign, "another program")
		_, err = open(t.Context(), dir)
		wantError(t, err, dir, "is a folder")
	}
	after, err := os.ReadFile(foreign)
	if err != nil || string(before) != string(after) {
		t.Errorf("the file of another program was changed (%v)", err)
	}

	missing := filepath.Join(dir, "missing.db")
	_, err = OpenReadOnly(t.Context(), missing)
	wantError(t, err, missing, "nothing has been run yet")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a reader created the file")
	}
	_, err = Open(t.Context(), filepath.Join(text, "runs.db"))
	wantError(t, err, "cannot create the folder", text)
}

func TestReadOnlyStoreRefusesToWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	newStore(t, path)
	s, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantError(t, s.Record(t.Context(), newJob("m", 1, 1), newRun(start)), path, "opened for reading only")
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	newStore(t, path)
	s, err := open(t.Context(), path, 100*time.Millisecond, "NORMAL")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	holder, err := sql.Open("sqlite3", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.Begin()
	if err != nil {
		t.Fatal(err)
	}
	err = s.Record(t.Context(), newJob("m", 1, 1), newRun(start))
	t.Log(err)
	wantError(t, err, path, "another process has kept it locked for more than 100ms")
	if _, err := s.Finished(t.Context(), []string{"k"}); err != nil {
		t.Errorf("a reader waits for the writer: %v", err)
	}
	tx.Rollback()
	record(t, s, newJob("m", 1, 1), newRun(start))

	unlock, err := lock(t.Context(), path+".lock", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(t.Context(), path, 50*time.Millisecond, "NORMAL")
	t.Log(err)
	wantError(t, err, path, "creating or converting it for more than 50ms")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled while waiting: %v", err)
	}
	unlock()
	again, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// TestCancelWhileLocked cancels a store that waits for another process.
func TestCancelWhileLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := newStore(t, path)
	holder, err := sql.Open("sqlite3", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	err = s.Record(ctx, newJob("m", 1, 1), newRun(start))
	if took := time.Since(began); took > time.Second || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped after %v: %v", took, err)
	}
}

func TestDiskFull(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	first := newRun(start)
	record(t, s, newJob("m", 0, 1), first)
	var pages int
	if err := s.w.QueryRow("PRAGMA max_page_count = 60").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	var err error
	for seed := uint64(1); err == nil && seed < 1000; seed++ {
		err = s.Record(t.Context(), newJob("m", seed, 1), bigRun())
	}
	t.Log(err)
	wantError(t, err, s.path, "disk is full")
	wantIntact(t, s)
	if _, _, err := s.RunByUID(t.Context(), first.UID); err != nil {
		t.Error(err)
	}
	if n := count(t, s, "SELECT count(*) FROM runs WHERE id NOT IN (SELECT run FROM predictions)"); n != 0 {
		t.Errorf("%d runs are there by half", n)
	}
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, filepath.Join(dir, "runs.db"))
	run := newRun(start)
	record(t, s, newJob("m", 1, 1), run)
	to := filepath.Join(dir, "published.db")
	if err := s.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Backup(t.Context(), to), to, "exists already")
	wantError(t, s.Backup(t.Context(), filepath.Join(dir, "none", "x.db")), "none", "no such file")

	copied, err := OpenReadOnly(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	wantIntact(t, copied)
	if _, got, err := copied.RunByUID(t.Context(), run.UID); err != nil || len(got.Predictions) != len(run.Predictions) {
		t.Errorf("the run in the copy: %+v, %v", got, err)
	}
	again := filepath.Join(dir, "again.db")
	if err := copied.Backup(t.Context(), again); err != nil { // a reader may back up, too
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "runs.db", "runs.db-wal", "runs.db-shm", "runs.db.lock", "published.db", "again.db":
		default:
			t.Errorf("%s was left behind", e.Name())
		}
	}
	writable, err := Open(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer writable.Close()
	record(t, writable, newJob("m", 2, 1), newRun(start))
}
