package store

import (
	"context"
	"database/sql"
	"encoding/json"
)

// Sizes returns the size of each run's record in bytes, by uid: the run, its job, metrics, traces and predictions,
// with 8 bytes for a number. It leaves out indices, free pages, and the rows that runs share: data sets, splits,
// environments and true classes.
func (s *Store) Sizes(ctx context.Context, uids []string) (map[string]int64, error) {
	const doing = "read the sizes of runs"
	list, err := json.Marshal(uids)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	sizes := make(map[string]int64, len(uids))
	err = s.read(ctx, doing, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, `
			SELECT r.uid, 3 * 8
				+ octet_length(concat(r.uid, r.status, r.error, r.started, r.env, r.method_code, r.pretext_code, r.protocol_code, r.reason, r.replaces, r.hashed, r.series_hash, r.record_hash))
				+ octet_length(concat(j.key, j.identity, j.dataset, j.dataset_hash, j.split_hash, j.method, j.pretext, j.eval)) + 8
				+ (SELECT coalesce(sum(octet_length(m.name) + 8), 0) FROM metrics m WHERE m.run = r.id)
				+ (SELECT coalesce(sum(octet_length(p.name) + 2 * 8), 0) FROM series p WHERE p.run = r.id)
				+ (SELECT coalesce(sum(octet_length(p.classes) + octet_length(concat(p.sha256, p.truth)) + 8), 0) FROM predictions p WHERE p.run = r.id)
			FROM json_each(?) k JOIN runs r ON r.uid = k.value JOIN jobs j ON j.id = r.job`,
			func(rows *sql.Rows) error {
				var uid string
				var size int64
				err := rows.Scan(&uid, &size)
				sizes[uid] = size
				return err
			}, string(list))
	})
	if err != nil {
		return nil, err
	}
	return sizes, nil
}
