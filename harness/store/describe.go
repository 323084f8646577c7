package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Env returns the environment of an EnvID. The error is fs.ErrNotExist if there is none, and a Fault if it
// is not as it was recorded.
func (s *Store) Env(ctx context.Context, id string) (env map[string]string, err error) {
	err = s.read(ctx, "read environment "+id, func(tx *sql.Tx) (err error) {
		var fault *Fault
		switch env, fault, err = readEnv(ctx, tx, id); {
		case errors.Is(err, sql.ErrNoRows):
			return notRecorded("environment")
		case fault != nil:
			return *fault
		}
		return err
	})
	return env, err
}

// Datasets returns the data sets in the order of their names.
func (s *Store) Datasets(ctx context.Context) ([]Dataset, error) {
	var list []Dataset
	err := s.read(ctx, "read data sets", func(tx *sql.Tx) error {
		return eachRow(ctx, tx, `SELECT `+datasetColumns+` FROM datasets ORDER BY name, hash`, func(rows *sql.Rows) error {
			d, fault, err := scanDataset(rows.Scan)
			if fault != nil {
				return *fault
			}
			list = append(list, d)
			return err
		})
	})
	return list, err
}

// SplitByHash returns a split. The error is fs.ErrNotExist if there is none.
func (s *Store) SplitByHash(ctx context.Context, hash string) (Split, error) {
	var p Split
	err := s.read(ctx, "read split "+hash, func(tx *sql.Tx) (err error) {
		if p, err = readSplit(ctx, tx, hash); errors.Is(err, sql.ErrNoRows) {
			return notRecorded("split")
		}
		return err
	})
	return p, err
}

// ErrAmbiguous says that the uids of several runs begin with the given characters.
var ErrAmbiguous = errors.New("several runs begin with it")

// UID completes the first characters of the uid of a run. The error is fs.ErrNotExist if no uid begins
// with them, and ErrAmbiguous if several do.
func (s *Store) UID(ctx context.Context, prefix string) (string, error) {
	var found []string
	doing := fmt.Sprintf("find run %q", prefix)
	err := s.read(ctx, doing, func(tx *sql.Tx) (err error) {
		found, err = texts(ctx, tx, `SELECT uid FROM runs WHERE substr(uid, 1, length(?1)) = ?1 AND ?1 <> '' LIMIT 2`, prefix)
		return err
	})
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", s.explain(doing, notRecorded("run"))
	case len(found) > 1:
		return "", s.explain(doing, fmt.Errorf("%w, %s and %s among them", ErrAmbiguous, found[0], found[1]))
	}
	return found[0], nil
}

// ReplacedBy returns the uid of the run that replaced a run; empty if none did.
func (s *Store) ReplacedBy(ctx context.Context, uid string) (string, error) {
	var by string
	err := s.read(ctx, "read what replaced run "+uid, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT new FROM replaced WHERE uid = ?`, uid).Scan(&by)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return by, err
}
