package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// scripts are the migrations: NNNN_what.sql takes the schema from version NNNN-1 to NNNN. A released
// one is never edited: the next change is the next file.
//
//go:embed migrations/*.sql
var scripts embed.FS

// applicationID marks the file as a store: "SSDL" in ASCII.
const applicationID = 0x5353444C

// Reasons to refuse a file; errNewer and errOlder are others.
var (
	errForeign  = errors.New("it is an SQLite database of another program")
	errNoTables = errors.New("it holds no runs: its tables were never made")
)

type errNewer struct{ have, know int }

func (e errNewer) Error() string {
	return fmt.Sprintf("it was written by a newer version of this program (schema %d, known up to %d): use that version", e.have, e.know)
}

type errOlder struct{ have, know int }

func (e errOlder) Error() string {
	return fmt.Sprintf("it has the older schema %d (now %d), and was opened for reading only: open it once for writing to convert it", e.have, e.know)
}

// migrations returns the scripts in the order of their numbers, the first being 1.
func migrations() []string {
	names, err := fs.Glob(scripts, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var list []string
	for _, name := range names {
		script, err := scripts.ReadFile(name)
		if err != nil {
			panic(err) // the file is part of the program
		}
		list = append(list, string(script))
	}
	return list
}

// converters do what a script cannot, by the number of its migration. Each reads what the script drops, and
// returns the function to call after the script.
var converters = map[int]func(context.Context, *sql.Tx) (after func() error, err error){3: readNameKeys, 4: hashMigrated}

// migrate brings a file to the schema of the last script. The caller holds the file lock.
func migrate(ctx context.Context, w *sql.DB, scripts []string) error {
	have, err := version(ctx, w)
	if err != nil {
		return err
	}
	if have > len(scripts) {
		return errNewer{have, len(scripts)}
	}
	// Setting the mode writes to the file, so it comes after the check of the version.
	var mode string
	if err := w.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("its file system does not allow a write-ahead log (journal mode stays %q): keep it on a local disk", mode)
	}
	for v := have + 1; v <= len(scripts); v++ {
		if err := applyMigration(ctx, w, v, scripts[v-1]); err != nil {
			return fmt.Errorf("migration %d: %w", v, err)
		}
	}
	return nil
}

// applyMigration applies one script and notes its number, together or not at all.
func applyMigration(ctx context.Context, w *sql.DB, v int, script string) error {
	tx, err := w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	after := func() error { return nil }
	if read := converters[v]; read != nil {
		if after, err = read(ctx, tx); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return err
	}
	if err := after(); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, v)); err != nil {
		return err
	}
	return tx.Commit()
}

// checkVersion refuses a file without the present schema, for a store that is opened read-only.
func checkVersion(ctx context.Context, r *sql.DB, scripts []string) error {
	have, err := version(ctx, r)
	switch {
	case err != nil:
		return err
	case have > len(scripts):
		return errNewer{have, len(scripts)}
	case have == 0:
		var objects int
		if err := r.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&objects); err != nil || objects > 0 {
			return errors.Join(err, errOlder{have, len(scripts)})
		}
		return errNoTables
	case have < len(scripts):
		return errOlder{have, len(scripts)}
	}
	return nil
}

// version returns the schema of the file, 0 if it is empty.
func version(ctx context.Context, db *sql.DB) (int, error) {
	var v, id, objects int
	err := db.QueryRowContext(ctx, `
		SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version v, pragma_application_id a`).Scan(&v, &id, &objects)
	if err != nil {
		return 0, err
	}
	if id != applicationID && (id != 0 || v != 0 || objects != 0) {
		return 0, errForeign
	}
	return v, nil
}
