package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ssdl/harness/job"

	"golang.org/x/sync/errgroup"
)

// Result is the current run of a job: among the ok runs that are not superseded, the earliest that was
// recorded here, or else the earliest of the first import with one. Runs imported with PreferTheirs come
// first.
type Result struct {
	UID       string
	Started   time.Time
	Wall, CPU time.Duration
	Peak      int64  // bytes, 0 if unknown
	EnvID     string // see Env
	Code      job.Fingerprints
	Origin    *Origin // nil for a run that was recorded here
	Migrated  bool    // see Run
	// Fault is set if the run, or its job, is not as it was recorded. Then there are no metrics.
	Fault   *Fault
	Metrics map[string]float64
}

// Finished returns the results of the given jobs, by key, with the named metrics, or all if none is named.
//
// It checks the record hash of each result. That covers the points of its series and its predicted classes
// only by their recorded hashes; Predictions and RunByUID check these. A result that fails has a Fault, and
// the others are returned as usual.
func (s *Store) Finished(ctx context.Context, keys []string, metrics ...string) (map[string]Result, error) {
	var mu sync.Mutex
	results := make(map[string]Result, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(min(readers, runtime.GOMAXPROCS(0)))
	for some := range slices.Chunk(keys, keysAtOnce) {
		g.Go(func() error {
			found, err := s.finished(ctx, some, metrics)
			mu.Lock()
			defer mu.Unlock()
			for _, r := range found {
				results[r.key] = r.Result
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, s.explain("read results", err)
	}
	return results, nil
}

// keysAtOnce is how many results are read in one transaction.
const keysAtOnce = 5000

// keyedResult is a result with the key of its job.
type keyedResult struct {
	key string
	Result
}

// finished is Finished in one transaction.
func (s *Store) finished(ctx context.Context, keys, metrics []string) ([]keyedResult, error) {
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	results := make([]keyedResult, 0, len(keys))
	err = s.view(ctx, func(tx *sql.Tx) error {
		origins, err := readOrigins(ctx, tx)
		if err != nil {
			return err
		}
		superseded, err := supersessionFaults(ctx, tx)
		if err != nil {
			return err
		}
		envs, err := readEnvFaults(ctx, tx)
		if err != nil {
			return err
		}
		named := newMetricParser(metrics)
		type found struct {
			runRow
			asked int // index in keys
		}
		finish := func(r *found, fault *Fault) {
			key := keys[r.asked]
			results = append(results, keyedResult{key, r.result(origins, firstFault(fault, superseded.ofJob[key], envs[r.env]), named)})
		}
		var doubtful []found // failed the check with metrics as SQLite printed them
		var r found
		var identity, values sql.RawBytes
		var buf []byte
		dest := append(r.dest(), &r.asked, &identity, &values)
		if err := eachRow(ctx, tx, `
			SELECT `+runColumns+`, k.key, j.identity, (SELECT json_group_object(m.name, m.value) FROM metrics m WHERE m.run = r.id)
			FROM json_each(?) k
			JOIN jobs j ON j.key = k.value
			JOIN runs r ON r.id = (SELECT f.run FROM finished f WHERE f.job = j.id)
			LEFT JOIN predictions p INDEXED BY predictions_hashes ON p.run = r.id`,
			func(rows *sql.Rows) error {
				if err := rows.Scan(dest...); err != nil {
					return err
				}
				fault := r.split()
				if fault == nil {
					fault = checkKey(r.job, identity)
				}
				if fault == nil {
					var ok bool
					if r.metrics, ok = named.parse(values); ok {
						buf, fault = r.check(buf)
					}
					if !ok || fault != nil {
						doubtful = append(doubtful, r)
						return nil
					}
				}
				finish(&r, fault)
				return nil
			}, string(list)); err != nil {
			return err
		}
		// SQLite may print a number inexactly: check again with the metrics read one by one.
		for _, r := range doubtful {
			if r.metrics, err = readMetrics(ctx, tx, r.id); err != nil {
				return err
			}
			var fault *Fault
			buf, fault = r.check(buf)
			finish(&r, fault)
		}
		results = addDisplaced(keys, superseded, results)
		return nil
	})
	return results, err
}

// result makes a Result of the row of a current run.
func (r *runRow) result(origins map[int64]*Origin, fault *Fault, named *metricParser) Result {
	out := Result{ // copies strings, so that the text of the row can be freed
		UID: strings.Clone(r.uid), Peak: r.peak, EnvID: named.intern(r.env), Code: job.Fingerprints{Method: named.intern(r.code.Method), Pretext: named.intern(r.code.Pretext), Protocol: named.intern(r.code.Protocol)},
		Migrated: r.hashed == hashedMigrated, Fault: fault,
	}
	if r.origin.Valid {
		out.Origin = origins[r.origin.Int64]
	}
	var timeFault *Fault
	if out.Started, out.Wall, out.CPU, timeFault = r.times(); out.Fault == nil {
		out.Fault = timeFault
	}
	if out.Fault == nil {
		out.Metrics = named.choose(r.metrics)
	}
	return out
}

// readEnvFaults returns the faults of environments by id.
func readEnvFaults(ctx context.Context, tx *sql.Tx) (map[string]*Fault, error) {
	faults := map[string]*Fault{}
	err := eachRow(ctx, tx, `SELECT id, facts FROM envs`, func(rows *sql.Rows) error {
		var id string
		var facts []byte
		err := rows.Scan(&id, &facts)
		if _, fault := decodeEnv(id, facts); fault != nil {
			faults[id] = fault
		}
		return err
	})
	return faults, err
}

// addDisplaced adds a faulty result for each job without a result whose last one is superseded by an entry
// that names no run.
func addDisplaced(keys []string, superseded *supersession, results []keyedResult) []keyedResult {
	if len(superseded.ofJob) == 0 {
		return results
	}
	there := map[string]bool{}
	for _, r := range results {
		there[r.key] = true
	}
	for _, key := range keys {
		if fault := superseded.ofJob[key]; fault != nil && !there[key] {
			results = append(results, keyedResult{key, Result{UID: fault.ID, Fault: fault}})
		}
	}
	return results
}

// metricParser parses the metrics of many runs and keeps each name once.
type metricParser struct {
	texts map[string]string // see intern
	only  map[string]bool   // names of the metrics to return; nil for all
	list  []measured
}

func newMetricParser(only []string) *metricParser {
	p := &metricParser{texts: map[string]string{}}
	for _, name := range only {
		if p.only == nil {
			p.only = map[string]bool{}
		}
		p.only[name] = true
	}
	return p
}

// intern returns a text that is kept once for all runs.
func (p *metricParser) intern(text string) string {
	if known, ok := p.texts[text]; ok {
		return known
	}
	text = strings.Clone(text)
	p.texts[text] = text
	return text
}

// parse parses the output of json_group_object, with names in ascending order. It reports false for any
// other text. The list is valid until the next call.
func (p *metricParser) parse(object []byte) ([]measured, bool) {
	p.list = p.list[:0]
	rest, ok := cutPrefix(object, '{')
	for ok && len(rest) > 1 {
		var name, number []byte
		if rest, ok = cutPrefix(rest, '"'); !ok {
			break
		}
		end := 0
		for end < len(rest) && rest[end] != '"' && rest[end] != '\\' {
			end++
		}
		name, rest = rest[:end], rest[end:]
		if len(rest) < 2 || rest[0] != '"' || rest[1] != ':' {
			return nil, false
		}
		rest = rest[2:]
		for end = 0; end < len(rest) && rest[end] != ',' && rest[end] != '}'; {
			end++
		}
		if end == len(rest) {
			return nil, false
		}
		number, rest = rest[:end], rest[end:]
		if rest[0] == ',' {
			rest = rest[1:]
		}
		value, err := strconv.ParseFloat(string(number), 64)
		if err != nil || math.IsInf(value, 0) {
			return nil, false
		}
		key, known := p.texts[string(name)]
		if !known {
			key = p.intern(string(name))
		}
		if n := len(p.list); n > 0 && p.list[n-1].name >= key {
			return nil, false
		}
		p.list = append(p.list, measured{key, value})
	}
	return p.list, ok && string(rest) == "}"
}

func cutPrefix(b []byte, c byte) ([]byte, bool) {
	if len(b) == 0 || b[0] != c {
		return b, false
	}
	return b[1:], true
}

// choose makes a map of the metrics in only.
func (p *metricParser) choose(list []measured) map[string]float64 {
	size := len(list)
	if p.only != nil {
		size = min(size, len(p.only))
	}
	values := make(map[string]float64, size)
	for _, m := range list {
		if p.only == nil || p.only[m.name] {
			values[m.name] = m.value
		}
	}
	return values
}

// readMetrics reads the metrics of the run in row id by name.
func readMetrics(ctx context.Context, tx *sql.Tx, id int64) (list []measured, err error) {
	err = eachRow(ctx, tx, `SELECT name, value FROM metrics WHERE run = ? ORDER BY name`, func(rows *sql.Rows) error {
		var m measured
		err := rows.Scan(&m.name, &m.value)
		list = append(list, m)
		return err
	}, id)
	return list, err
}
