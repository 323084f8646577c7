package store

import (
	"context"
	"database/sql"
	"time"
)

// Origin is where an imported run came from.
type Origin struct {
	Name     string    `json:"name"`             // of the file, as its user gave it
	SHA256   string    `json:"sha256"`           // of the file
	Imported time.Time `json:"imported"`         // UTC, to the microsecond
	Signer   string    `json:"signer,omitempty"` // who signed the file; empty without a signature
}

// readOrigins returns all origins by row id.
func readOrigins(ctx context.Context, tx *sql.Tx) (map[int64]*Origin, error) {
	all := map[int64]*Origin{}
	err := eachRow(ctx, tx, `SELECT id, name, sha256, imported, signer FROM origins`, func(rows *sql.Rows) error {
		var id int64
		var o Origin
		var imported string
		if err := rows.Scan(&id, &o.Name, &o.SHA256, &imported, &o.Signer); err != nil {
			return err
		}
		o.Imported, _ = time.Parse(stamp, imported) // Check reports a bad time
		all[id] = &o
		return nil
	})
	return all, err
}
