package store

import (
	"context"
	"database/sql"
)

// supersession lists the faults of the table of superseded runs.
type supersession struct {
	all   []Fault
	ofJob map[string]*Fault // by the key of the job whose current run is in doubt
}

func (s *supersession) add(f Fault, key string) {
	s.all = append(s.all, f)
	if key != "" && s.ofJob[key] == nil {
		s.ofJob[key] = &f
	}
}

// supersessionFaults finds entries that no run confirms, and runs recorded here whose entry is missing. The
// record of a run says which run it replaces. Entries stay when runs are pruned; following them must then
// lead to a run in the file.
func supersessionFaults(ctx context.Context, tx *sql.Tx) (*supersession, error) {
	out := &supersession{ofJob: map[string]*Fault{}}
	type entry struct {
		uid, by, key string         // key is of the job of uid; empty if uid was pruned
		of           sql.NullString // the run that by says it replaces; null if by was pruned
		sound        bool           // by is an ok run of the job and says that it replaces uid
	}
	var entries []entry
	next := map[string]entry{}
	if err := eachRow(ctx, tx, `
		SELECT p.uid, p.new, coalesce(j.key, ''), y.replaces, y.status = 'ok' AND y.replaces = p.uid AND coalesce(x.job = y.job, true)
		FROM replaced p LEFT JOIN runs x ON x.uid = p.uid LEFT JOIN jobs j ON j.id = x.job LEFT JOIN runs y ON y.uid = p.new
		ORDER BY p.uid`,
		func(rows *sql.Rows) error {
			var e entry
			var sound sql.NullBool
			if err := rows.Scan(&e.uid, &e.by, &e.key, &e.of, &sound); err != nil {
				return err
			}
			e.sound = sound.Bool
			entries = append(entries, e)
			next[e.uid] = e
			return nil
		}); err != nil {
		return nil, err
	}
	leads := map[string]bool{} // by uid, whether its entries lead to a run in the file
	leadsOn := func(uid string) bool {
		var path []string
		found := false
		for {
			known, seen := leads[uid]
			e, ok := next[uid]
			if seen || !ok {
				found = known
				break
			}
			path = append(path, uid)
			if leads[uid] = false; e.of.Valid { // false for now, so that a circle ends
				found = true
				break
			}
			uid = e.by
		}
		for _, uid := range path {
			leads[uid] = found
		}
		return found
	}
	for _, e := range entries {
		if e.of.Valid {
			if !e.sound {
				out.add(Fault{"replaced", e.uid, "successor", "run " + e.by + ", which does not say so", "a later run of its job"}, e.key)
			}
			continue
		}
		if !leadsOn(e.uid) {
			out.add(Fault{"replaced", e.uid, "successor", "run " + e.by + ", which is missing", "a later run of its job"}, e.key)
		}
	}
	err := eachRow(ctx, tx, `
		SELECT y.uid, y.replaces, coalesce(j.key, '') FROM runs y INDEXED BY runs_replaces LEFT JOIN jobs j ON j.id = y.job
		WHERE y.replaces <> '' AND y.origin IS NULL AND NOT EXISTS (SELECT 1 FROM replaced p WHERE p.uid = y.replaces) ORDER BY y.uid`,
		func(rows *sql.Rows) error {
			var uid, replaces, key string
			if err := rows.Scan(&uid, &replaces, &key); err != nil {
				return err
			}
			out.add(Fault{"runs", uid, "superseded run", replaces + ", which is not noted as such", "noted"}, key)
			return nil
		})
	return out, err
}
