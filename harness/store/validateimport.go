package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// validateImport checks every row of an untrusted file. Beside Check it demands that hashes and uids are
// hexadecimal and that names have no control characters.
func validateImport(ctx context.Context, s *Store, verify Verify) error {
	for _, validate := range []func(context.Context, *sql.Tx) error{validateNames, validateClassNames, validateEnvs} {
		if err := s.view(ctx, func(tx *sql.Tx) error { return validate(ctx, tx) }); err != nil {
			return err
		}
	}
	report, err := s.check(ctx, verify, nil)
	switch n := len(report.Faults); {
	case err != nil:
		return err
	case n == 1:
		return report.Faults[0]
	case n > 1:
		return fmt.Errorf("%w (and %d more faults)", report.Faults[0], n-1)
	}
	return nil
}

// validateNames checks hashes, uids and the names that ssdl prints.
func validateNames(ctx context.Context, tx *sql.Tx) error {
	for _, q := range []string{
		`SELECT hash, name || source || declared FROM datasets`,
		`SELECT hash, kind FROM splits`,
		`SELECT key, dataset || method || pretext || eval FROM jobs`,
		`SELECT dataset, name FROM dataset_names`,
		`SELECT split, asked FROM split_names`,
		`SELECT DISTINCT method_code || pretext_code || protocol_code, '' FROM runs`,
		`SELECT uid || new, '' FROM replaced`,
		`SELECT DISTINCT '', name FROM metrics`,
		`SELECT DISTINCT '', name FROM series`,
		`SELECT DISTINCT '', state || confined FROM commands`,
	} {
		if err := eachRow(ctx, tx, q, func(rows *sql.Rows) error {
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
	return eachRow(ctx, tx, `SELECT uid FROM runs`, func(rows *sql.Rows) error {
		var uid string
		if err := rows.Scan(&uid); err != nil {
			return err
		}
		if len(uid) != len(NewUID()) || !isHex(uid) {
			return fmt.Errorf("%q is no uid of a run: expected 32 hexadecimal digits", uid)
		}
		return nil
	})
}

func validateClassNames(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT `+datasetColumns+` FROM datasets`, func(rows *sql.Rows) error {
		d, _, err := scanDataset(rows.Scan) // Check reports the fault
		for _, name := range d.ClassNames {
			if !isPlain(name) {
				return fmt.Errorf("a class of data set %s has control characters: %q", d.Hash, name)
			}
		}
		return err
	})
}

func validateEnvs(ctx context.Context, tx *sql.Tx) error {
	return eachRow(ctx, tx, `SELECT id, facts FROM envs`, func(rows *sql.Rows) error {
		var id string
		var facts []byte
		if err := rows.Scan(&id, &facts); err != nil {
			return err
		}
		var env map[string]string
		if json.Unmarshal(facts, &env) != nil {
			return nil // Check reports it
		}
		for name, value := range env {
			if !isPlain(name) || !isPlain(value) {
				return fmt.Errorf("environment %s has control characters: %q", plain(id), name+"="+value)
			}
		}
		return nil
	})
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// isPlain reports whether s is safe for a terminal.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}
