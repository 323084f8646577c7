package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// Env returns what is recorded under an EnvID. The error is fs.ErrNotExist if nothing is.
func (s *Store) Env(ctx context.Context, id string) (map[string]string, error) {
	var env map[string]string
	err := s.read(ctx, "read environment "+id, func(tx *sql.Tx) error {
		var facts []byte
		err := tx.QueryRowContext(ctx, `SELECT facts FROM envs WHERE id = ?`, id).Scan(&facts)
		if errors.Is(err, sql.ErrNoRows) {
			return notRecorded("environment")
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(facts, &env)
	})
	return env, err
}

// Datasets returns the data sets in the order of their names.
func (s *Store) Datasets(ctx context.Context) ([]Dataset, error) {
	var list []Dataset
	err := s.read(ctx, "read data sets", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT hash, name, samples, dim, classes, source, synthetic, class_names FROM datasets ORDER BY name, hash`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var d Dataset
			var names []byte
			if err := rows.Scan(&d.Hash, &d.Name, &d.Samples, &d.Dim, &d.Classes, &d.Source, &d.Synthetic, &names); err != nil {
				return err
			}
			if err := json.Unmarshal(names, &d.ClassNames); err != nil {
				return err
			}
			list = append(list, d)
		}
		return rows.Err()
	})
	return list, err
}

// SplitByHash returns a split. The error is fs.ErrNotExist if there is none.
func (s *Store) SplitByHash(ctx context.Context, hash string) (Split, error) {
	var p Split
	err := s.read(ctx, "read split "+hash, func(tx *sql.Tx) error {
		var seed int64
		err := tx.QueryRowContext(ctx, `SELECT hash, dataset, kind, seed, train, labeled, test FROM splits WHERE hash = ?`, hash).
			Scan(&p.Hash, &p.Dataset, &p.Kind, &seed, &p.Train, &p.Labeled, &p.Test)
		if errors.Is(err, sql.ErrNoRows) {
			return notRecorded("split")
		}
		p.Seed = uint64(seed)
		return err
	})
	return p, err
}

// UID completes the first characters of the uid of a run. The error is fs.ErrNotExist if no uid
// begins so.
func (s *Store) UID(ctx context.Context, prefix string) (string, error) {
	var found []string
	doing := fmt.Sprintf("find run %q", prefix)
	err := s.read(ctx, doing, func(tx *sql.Tx) (err error) {
		found, err = names(ctx, tx, `SELECT uid FROM runs WHERE substr(uid, 1, length(?1)) = ?1 AND ?1 <> '' LIMIT 2`, prefix)
		return err
	})
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", s.explain(doing, notRecorded("run"))
	case len(found) > 1:
		return "", s.explain(doing, fmt.Errorf("several runs begin so, %s and %s among them", found[0], found[1]))
	}
	return found[0], nil
}

// ReplacedBy is the run that replaced a run; empty if none did.
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
