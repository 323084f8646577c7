package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
)

// readNameKeys finds the names of data sets and splits in a file of a schema before 3. Such a file has only
// a name key of each job: a hash of the names and shares of its spec. It finds the shares of a split by
// trying those that its sizes allow. It cannot find the path of an index file: those results need the file.
func readNameKeys(ctx context.Context, tx *sql.Tx) (after func() error, err error) {
	type named struct{ name, hash string }
	var datasets []named // the latest last
	if err := eachRow(ctx, tx, `
		SELECT j.dataset, j.dataset_hash, max(r.started) AS last FROM jobs j JOIN runs r ON r.job = j.id
		GROUP BY 1, 2 ORDER BY last, 2`,
		func(rows *sql.Rows) error {
			var n named
			var last string
			err := rows.Scan(&n.name, &n.hash, &last)
			datasets = append(datasets, n)
			return err
		}); err != nil {
		return nil, err
	}
	splits, err := readLegacySplits(ctx, tx)
	if err != nil {
		return nil, err
	}
	return func() error {
		for _, d := range datasets {
			if err := putName(ctx, tx, d.name, d.hash); err != nil {
				return err
			}
		}
		for _, p := range splits {
			if err := putSplit(ctx, tx, p); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func readLegacySplits(ctx context.Context, tx *sql.Tx) (found []NamedSplit, err error) {
	type place struct {
		split string
		seed  int64
	}
	known := map[place]bool{}
	err = eachRow(ctx, tx, `
		SELECT j.name_key, j.identity, j.dataset, j.seed, s.dataset, s.hash, s.kind, s.train, s.labeled, s.test
		FROM jobs j JOIN splits s ON s.hash = j.split_hash ORDER BY j.id`,
		func(rows *sql.Rows) error {
			var nameKey, dataset string
			var identity []byte
			var seed int64
			var p Split
			if err := rows.Scan(&nameKey, &identity, &dataset, &seed, &p.Dataset, &p.Hash, &p.Kind, &p.Train, &p.Labeled, &p.Test); err != nil {
				return err
			}
			at := place{p.Hash, seed}
			if known[at] {
				return nil
			}
			for _, s := range legacySplits(p) {
				if legacyNameKey(identity, dataset, s, uint64(seed)) == nameKey {
					known[at] = true
					found = append(found, NamedSplit{p, Asked{s.how(), uint64(seed)}})
					break
				}
			}
			return nil
		})
	return found, err
}

// legacySplit is the split in a name key.
type legacySplit struct {
	Kind          string
	Train, Labels float64
	File          string
}

func (s legacySplit) how() string {
	if s.Kind == "class" {
		return fmt.Sprintf("class train=%v labels=%v", s.Train, s.Labels)
	}
	return fmt.Sprintf("%s labels=%v", s.Kind, s.Labels)
}

// legacySplits lists the shares, in hundredths, that may have given a split of these sizes, the nearest
// first. Rounding by class moves a share a little.
func legacySplits(p Split) []legacySplit {
	near := func(part, of int) []float64 {
		at := math.Round(100 * float64(part) / float64(max(of, 1)))
		var out []float64
		for _, d := range []float64{0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5} {
			if v := at + d; v > 0 && v <= 100 {
				out = append(out, v/100)
			}
		}
		return out
	}
	var out []legacySplit
	switch p.Kind {
	case "class":
		for _, labels := range near(p.Labeled, p.Train) {
			for _, train := range near(p.Train, p.Train+p.Test) {
				out = append(out, legacySplit{Kind: "class", Train: train, Labels: labels})
			}
		}
	case "official":
		for _, labels := range near(p.Labeled, p.Train) {
			out = append(out, legacySplit{Kind: "official", Labels: labels})
		}
	}
	return out
}

// legacyNameKey is the name key of a job, empty if its identity cannot be read.
func legacyNameKey(identity []byte, dataset string, s legacySplit, seed uint64) string {
	type part struct {
		Name   string         `json:"name"`
		Params map[string]any `json:"params"`
	}
	var id struct {
		Method  part   `json:"method"`
		Pretext part   `json:"pretext"`
		Eval    string `json:"eval"`
		Score   string `json:"score"`
	}
	if json.Unmarshal(identity, &id) != nil {
		return ""
	}
	raw, err := json.Marshal(struct {
		Dataset       string
		Split         legacySplit
		Method        string
		Params        map[string]any
		Pretext       string
		PretextParams map[string]any
		Seed          uint64
		Eval, Score   string
	}{dataset, s, id.Method.Name, id.Method.Params, id.Pretext.Name, id.Pretext.Params, seed, id.Eval, id.Score})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
