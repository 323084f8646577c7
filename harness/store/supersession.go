package store

import (
	"context"
	"database/sql"
)

// supersession is what is wrong with the table of superseded runs.
type supersession struct {
	all   []Fault
	ofJob map[string]*Fault // by the key of the job whose current run may be another
}

func (s *supersession) add(f Fault, key string) {
	s.all = append(s.all, f)
	if key != "" && s.ofJob[key] == nil {
		s.ofJob[key] = &f
	}
}

// supersessionFaults finds entries that no run stands for, and runs that were recorded here whose
// entry is missing. That a run supersedes another is part of its record; the entries stay when the
// runs are pruned, and then lead on to a run that is there.
func supersessionFaults(ctx context.Context, tx *sql.Tx) (*supersession, error) {
	out := &supersession{ofJob: map[string]*Fault{}}
	type entry struct {
		uid, by, key string         // key of the job of uid; empty if that was pruned
		of           sql.NullString // what the run by says that it replaces; null if that was pruned
		sound        bool           // by is a run that can have replaced uid
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
	leads := map[string]bool{} // by uid, whether its entries lead to a run that is there
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
			if leads[uid] = false; e.of.Valid { // until it is known: a circle leads nowhere
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
			out.add(Fault{"replaced", e.uid, "successor", "run " + e.by + ", which is not there", "a later run of its job"}, e.key)
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
