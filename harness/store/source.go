package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// maxSource is the largest size of an imported file in bytes. A store of 100,000 runs has some hundred megabytes.
const maxSource = 16 << 30

// copyTo writes a copy of the file in the present schema, validates it, and makes the file the origin of its
// runs, unless it is a shard.
func (f Source) copyTo(ctx context.Context, to string, opts MergeOptions) (err error) {
	src := &Store{path: f.Name, wait: lockWait}
	const doing = "import it"
	abs, err := filepath.Abs(f.Path)
	if err != nil {
		return src.explain(doing, err)
	}
	if err := f.checkFiles(abs); err != nil {
		return err
	}
	if f.SHA256 == "" {
		if f.SHA256, err = hashFile(abs); err != nil {
			return src.explain(doing, err)
		}
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	err = src.openReaders(ctx, abs)
	if isUnreadableWAL(err) && isEmpty(abs+"-wal") {
		err = src.openReaders(ctx, abs, "immutable=1") // see OpenReadOnly
	}
	if err != nil {
		return src.explain(doing, err)
	}
	src.r.SetMaxOpenConns(1) // pragmas apply to one connection
	if err := checkSchema(ctx, src.r); err != nil {
		return src.explain(doing, err)
	}
	if err := src.vacuumInto(ctx, to); err != nil {
		return src.explain(doing, err)
	}
	dup, err := openCopy(ctx, to) // converts an older schema
	if err != nil {
		return src.explain(doing, err)
	}
	defer func() { err = errors.Join(err, dup.Close()) }()
	if err := validateImport(ctx, dup, opts.Verify); err != nil || opts.Shards {
		return src.explain(doing, err)
	}
	return src.explain(doing, f.markOrigin(ctx, dup))
}

// markOrigin makes the file the origin of all runs of a copy, in place of their own.
func (f Source) markOrigin(ctx context.Context, dup *Store) error {
	return dup.write(ctx, "mark the runs", func(tx *sql.Tx) error {
		for _, q := range []struct {
			query string
			args  []any
		}{
			{`UPDATE runs SET origin = NULL, rank = 0`, nil},
			{`DELETE FROM origins`, nil},
			{`INSERT INTO origins (id, name, sha256, imported, signer) VALUES (1, ?, ?, ?, ?)`, []any{f.Name, f.SHA256, now(), f.Signer}},
			{`UPDATE runs SET origin = 1, rank = 1`, nil},
		} {
			if _, err := tx.ExecContext(ctx, q.query, q.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkFiles refuses a file that is not plain, or has such a file of SQLite beside it, before any is opened:
// reading a pipe or a device may never end.
func (f Source) checkFiles(abs string) error {
	switch info, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("store: there is no %s to import: %w", f.Name, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("store: cannot read %s: %w", f.Name, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("store: %s is not a file of runs but a %s", f.Name, kindOf(info.Mode()))
	case info.Size() == 0:
		return fmt.Errorf("store: %s is empty: name a file of runs", f.Name)
	case info.Size() > maxSource:
		return fmt.Errorf("store: %s has %d bytes: no file of runs is longer than %d GiB", f.Name, info.Size(), maxSource>>30)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if info, err := os.Stat(abs + suffix); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("store: %s%s, beside the file to import, is a %s", f.Name, suffix, kindOf(info.Mode()))
		}
	}
	return nil
}

func kindOf(m fs.FileMode) string {
	if m.IsDir() {
		return "folder"
	}
	return "special file"
}

// hashFile is the SHA-256 of a file of at most maxSource bytes.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxSource+1))
	if err == nil && n > maxSource {
		err = fmt.Errorf("it has more than %d GiB", maxSource>>30)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// checkSchema refuses a file unless it has exactly the tables, indexes and views of its version: no trigger
// or view of an untrusted file may run here.
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
		return errNoTables
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
		if err := applyMigration(ctx, ours, v+1, all[v]); err != nil {
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

// objects returns the definitions in a file by kind and name, without the statistics of ANALYZE.
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
