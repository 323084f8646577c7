package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// examine looks at every row of a stranger's file for what the constraints of the schema
// do not hold, and what those who read the store rely on: that pages and references are
// sound, hashes are hashes of what they stand for, numbers are finite, and that no name
// brings control characters to a terminal.
func examine(ctx context.Context, s *Store) error {
	return s.read(ctx, "examine it", func(tx *sql.Tx) error {
		for _, look := range []func(context.Context, *sql.Tx) error{
			checkPages, checkNames, checkClassNames, checkEnvs, checkRuns, checkNumbers, checkPredictions, checkJobs,
		} {
			if err := look(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkPages asks SQLite whether the file is sound and its constraints hold.
func checkPages(ctx context.Context, tx *sql.Tx) error {
	var verdict string
	if err := tx.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("it is damaged: %s", strings.ReplaceAll(verdict, "\n", " "))
	}
	return refuse(ctx, tx, `SELECT "table" FROM pragma_foreign_key_check`, func(table string) error {
		return fmt.Errorf("it is damaged: a row of %s refers to one that is not there", table)
	})
}

// checkNames looks at what is printed: names hold no control characters, hashes and uids
// are hexadecimal.
func checkNames(ctx context.Context, tx *sql.Tx) error {
	for _, q := range []string{
		`SELECT hash, name || source FROM datasets`,
		`SELECT hash, kind FROM splits`,
		`SELECT key, dataset || method || pretext || eval FROM jobs`,
		`SELECT dataset, name FROM dataset_names`,
		`SELECT split, asked FROM split_names`,
		`SELECT uid, '' FROM runs`,
		`SELECT DISTINCT method_code || pretext_code, '' FROM runs`,
		`SELECT uid || new, '' FROM replaced`,
		`SELECT DISTINCT '', name FROM metrics`,
		`SELECT DISTINCT '', name FROM series`,
	} {
		if err := each(ctx, tx, q, func(rows *sql.Rows) error {
			var hash, text string
			if err := rows.Scan(&hash, &text); err != nil {
				return err
			}
			if !isHex(hash) {
				return fmt.Errorf("%q is no hash or uid: expected lower-case hexadecimal digits", hash)
			}
			if !isPlain(text) {
				return fmt.Errorf("a name in it has control characters: %q", text)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func checkClassNames(ctx context.Context, tx *sql.Tx) error {
	return each(ctx, tx, `SELECT hash, class_names FROM datasets`, func(rows *sql.Rows) error {
		var hash string
		var raw []byte
		if err := rows.Scan(&hash, &raw); err != nil {
			return err
		}
		var names []string
		if err := json.Unmarshal(raw, &names); err != nil {
			return fmt.Errorf("the class names of data set %s cannot be read: %w", hash, err)
		}
		for _, name := range names {
			if !isPlain(name) {
				return fmt.Errorf("a class of data set %s has control characters: %q", hash, name)
			}
		}
		return nil
	})
}

func checkEnvs(ctx context.Context, tx *sql.Tx) error {
	return each(ctx, tx, `SELECT id, facts FROM envs`, func(rows *sql.Rows) error {
		var id string
		var facts []byte
		if err := rows.Scan(&id, &facts); err != nil {
			return err
		}
		if sum(facts) != id {
			return fmt.Errorf("environment %q does not have the hash it was recorded with: the file was changed", id)
		}
		var env map[string]string
		if err := json.Unmarshal(facts, &env); err != nil {
			return fmt.Errorf("environment %s is no list of facts: %w", id, err)
		}
		for name, value := range env {
			if !isPlain(name) || !isPlain(value) {
				return fmt.Errorf("environment %s has control characters: %q", id, name+"="+value)
			}
		}
		return nil
	})
}

func checkRuns(ctx context.Context, tx *sql.Tx) error {
	return each(ctx, tx, `SELECT uid, started, wall, cpu FROM runs`, func(rows *sql.Rows) error {
		var uid, started string
		var wall, cpu float64
		if err := rows.Scan(&uid, &started, &wall, &cpu); err != nil {
			return err
		}
		if len(uid) != len(NewUID()) {
			return fmt.Errorf("%q is no uid of a run: expected 32 hexadecimal digits", uid)
		}
		if t, err := time.Parse(stamp, started); err != nil || t.Format(stamp) != started {
			return fmt.Errorf("run %s started at %q, which is no time in the form of %s", uid, started, stamp)
		}
		if longest := time.Duration(math.MaxInt64).Seconds(); wall > longest || cpu > longest {
			return fmt.Errorf("run %s took %g s of wall time and %g s of CPU time", uid, wall, cpu)
		}
		return nil
	})
}

// checkNumbers finds infinite values; SQLite keeps no NaN, and null is refused already.
func checkNumbers(ctx context.Context, tx *sql.Tx) error {
	for _, table := range []string{"metrics", "series"} {
		query := `SELECT r.uid || ' ' || t.name FROM ` + table + ` t JOIN runs r ON r.id = t.run WHERE abs(t.value) > 1.7976931348623157e308`
		if err := refuse(ctx, tx, query, func(which string) error {
			uid, name, _ := strings.Cut(which, " ")
			return fmt.Errorf("%q of run %s is infinite: a run with such a value has failed", name, uid)
		}); err != nil {
			return err
		}
	}
	return nil
}

// checkPredictions looks at the predicted and at the true classes.
func checkPredictions(ctx context.Context, tx *sql.Tx) error {
	for _, query := range []string{
		`SELECT 'predictions of run ' || r.uid, p.samples, p.classes, p.sha256 FROM predictions p JOIN runs r ON r.id = p.run`,
		`SELECT 'true classes ' || sha256, samples, classes, sha256 FROM truths`,
	} {
		if err := each(ctx, tx, query, func(rows *sql.Rows) error {
			var what, hash string
			var n int64
			var classes []byte
			if err := rows.Scan(&what, &n, &classes, &hash); err != nil {
				return err
			}
			if sum(classes) != hash {
				return fmt.Errorf("the %s do not have the hash they were recorded with: the file was changed", what)
			}
			if n > int64(len(classes)) { // one byte each at least
				return fmt.Errorf("the %s have %d bytes for %d samples", what, len(classes), n)
			}
			if _, err := decode(classes, int(n)); err != nil {
				return fmt.Errorf("the %s: %w", what, err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return refuse(ctx, tx, `SELECT r.uid FROM predictions p JOIN truths t ON t.sha256 = p.truth JOIN runs r ON r.id = p.run
		WHERE t.samples <> p.samples`, func(uid string) error {
		return fmt.Errorf("run %s has more or fewer predictions than true classes", uid)
	})
}

// checkJobs reads every job, which checks its key and its row.
func checkJobs(ctx context.Context, tx *sql.Tx) error {
	keys, err := names(ctx, tx, `SELECT key FROM jobs ORDER BY key`)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, err := readJob(ctx, tx, key); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for every row of a query.
func each(ctx context.Context, tx *sql.Tx, query string, f func(*sql.Rows) error, args ...any) error {
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

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// isPlain reports whether s can be shown on a terminal as it is.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}
