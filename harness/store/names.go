package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Asked is a split as a spec describes it, under a seed.
type Asked struct {
	How  string // "class train=0.7 labels=0.4"
	Seed uint64
}

// NamedSplit is a split and its description in a spec.
type NamedSplit struct {
	Split
	Asked Asked
}

// Register records data sets and splits, and makes their names stand for them from now on, in one
// transaction. A description that is recorded for the same hash is kept.
func (s *Store) Register(ctx context.Context, datasets []Dataset, splits []NamedSplit) error {
	return s.write(ctx, "register data sets and splits", func(tx *sql.Tx) error {
		for _, d := range datasets {
			if err := putDataset(ctx, tx, d); err != nil {
				return err
			}
		}
		for _, p := range splits {
			if err := putSplit(ctx, tx, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func putDataset(ctx context.Context, tx *sql.Tx, d Dataset) error {
	names, err := encodeNames(d.ClassNames)
	if err != nil {
		return err
	}
	// Older files lack the names of classes: add them.
	if _, err := tx.ExecContext(ctx, `INSERT INTO datasets (hash, name, samples, dim, classes, source, synthetic, class_names, declared, dropped)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET class_names = excluded.class_names WHERE class_names = '[]'`,
		d.Hash, d.Name, d.Samples, d.Dim, d.Classes, d.Source, d.Synthetic, names, d.Declared, d.Dropped); err != nil {
		return err
	}
	return putName(ctx, tx, d.Name, d.Hash)
}

func putName(ctx context.Context, tx *sql.Tx, name, dataset string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO dataset_names (name, dataset) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET dataset = excluded.dataset WHERE dataset <> excluded.dataset`, name, dataset)
	return err
}

func putSplit(ctx context.Context, tx *sql.Tx, p NamedSplit) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO splits (hash, dataset, kind, seed, train, labeled, test)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`,
		p.Hash, p.Dataset, p.Kind, int64(p.Seed), p.Train, p.Labeled, p.Test)
	if isForeignKey(err) {
		return fmt.Errorf("split %s is of data set %s, which is not registered", p.Hash, p.Dataset)
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO split_names (dataset, asked, seed, split) VALUES (?, ?, ?, ?)
		ON CONFLICT (dataset, asked, seed) DO UPDATE SET split = excluded.split WHERE split <> excluded.split`,
		p.Dataset, p.Asked.How, int64(p.Asked.Seed), p.Hash)
	return err
}

// DatasetNamed returns the data set that was last registered under a name. The error is
// fs.ErrNotExist if there is none.
func (s *Store) DatasetNamed(ctx context.Context, name string) (d Dataset, err error) {
	err = s.read(ctx, "read data set "+name, func(tx *sql.Tx) error {
		var hash string
		err := tx.QueryRowContext(ctx, `SELECT dataset FROM dataset_names WHERE name = ?`, name).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			return notRecorded("data set")
		}
		if err != nil {
			return err
		}
		var fault *Fault
		if d, fault, err = readDataset(ctx, tx, hash); fault != nil {
			return *fault
		}
		return err
	})
	return d, err
}

// SplitsOf returns the hashes of the splits of a data set, given by its hash, by their descriptions.
func (s *Store) SplitsOf(ctx context.Context, dataset string) (map[Asked]string, error) {
	splits := map[Asked]string{}
	err := s.read(ctx, "read the splits of data set "+dataset, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, `SELECT asked, seed, split FROM split_names WHERE dataset = ?`, func(rows *sql.Rows) error {
			var how, hash string
			var seed int64
			if err := rows.Scan(&how, &seed, &hash); err != nil {
				return err
			}
			splits[Asked{how, uint64(seed)}] = hash
			return nil
		}, dataset)
	})
	return splits, err
}
