package store

import (
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ssdl/harness/job"
)

// runRow is a row of a run, not yet checked.
type runRow struct {
	id int64
	canonicalRun
	recordHash string // as recorded
	origin     sql.NullInt64
	joined     string // several columns: see split
}

// runColumns are the columns for runRow.dest, of the runs r, their jobs j and their predictions p. Columns
// without free text come joined into one, which is faster: see runRow.split.
const runColumns = `r.id, r.error, r.reason, r.wall, r.cpu, coalesce(r.peak, 0), r.origin, concat_ws(char(31),
	r.hashed, r.uid, coalesce(j.key, ''), r.status, r.started, r.env, r.method_code, r.pretext_code, r.protocol_code, r.replaces,
	r.series_hash, r.command_hash, coalesce(p.sha256, ''), coalesce(p.truth, ''), r.record_hash)`

// dest is where to scan runColumns.
func (r *runRow) dest() []any {
	return []any{&r.id, &r.failure, &r.reason, &r.wall, &r.cpu, &r.peak, &r.origin, &r.joined}
}

// split splits the joined columns.
func (r *runRow) split() *Fault {
	rest, ok := r.joined, true
	columns := [...]*string{
		&r.hashed, &r.uid, &r.job, &r.status, &r.started, &r.env, &r.code.Method, &r.code.Pretext, &r.code.Protocol, &r.replaces,
		&r.series, &r.command, &r.predictions, &r.truth, &r.recordHash,
	}
	for _, column := range columns[:len(columns)-1] {
		*column, rest, _ = strings.Cut(rest, "\x1f")
	}
	if r.recordHash, _, ok = strings.Cut(rest, "\x1f"); ok {
		return &Fault{"runs", r.uid, "text", "not separable: a control character is in it", ""}
	}
	return nil
}

// check compares the record with its hash, and finds infinite values (SQLite keeps no NaN). It works in buf
// and returns it.
func (r *runRow) check(buf []byte) ([]byte, *Fault) {
	for _, m := range r.metrics {
		if math.IsInf(m.value, 0) {
			return buf, &Fault{"metrics", r.uid, m.name, fmt.Sprint(m.value), "a finite number"}
		}
	}
	buf = r.appendTo(buf[:0])
	if is := sum(buf); is != r.recordHash {
		return buf, &Fault{"runs", r.uid, "record hash", is, r.recordHash}
	}
	return buf, nil
}

// times converts the columns of times and durations.
func (r *runRow) times() (started time.Time, wall, cpu time.Duration, fault *Fault) {
	started, err := time.Parse(stamp, r.started)
	if err != nil || len(r.started) != len(stamp) {
		return started, 0, 0, &Fault{"runs", r.uid, "start time", strconv.Quote(r.started), "a time in the form of " + stamp}
	}
	if longest := time.Duration(math.MaxInt64).Seconds(); !(r.wall < longest && r.cpu < longest) {
		return started, 0, 0, &Fault{"runs", r.uid, "duration", fmt.Sprintf("%g s", max(r.wall, r.cpu)), fmt.Sprintf("less than %g s", longest)}
	}
	return started, seconds(r.wall), seconds(r.cpu), nil
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// jobRow is a row of a job, not yet checked.
type jobRow struct {
	key                                           string
	identity                                      []byte
	dataset                                       string
	datasetHash, splitHash, method, pretext, eval string
	seed                                          int64
}

// jobColumns are the columns for jobRow.dest, of the jobs j.
const jobColumns = `j.key, j.identity, j.dataset, j.dataset_hash, j.split_hash, j.method, j.pretext, j.eval, j.seed`

// dest is where to scan jobColumns.
func (r *jobRow) dest() []any {
	return []any{&r.key, &r.identity, &r.dataset, &r.datasetHash, &r.splitHash, &r.method, &r.pretext, &r.eval, &r.seed}
}

// checkKey compares the key of a job with its identity.
func checkKey(key string, identity []byte) *Fault {
	if want := job.KeyOf(identity); want != key {
		return &Fault{"jobs", key, "identity", "that of job " + want, "that of its key"}
	}
	return nil
}

// job decodes the identity of the row. The fault says if another column contradicts it.
func (r *jobRow) job() (Job, *Fault) {
	j := Job{Dataset: r.dataset}
	if fault := checkKey(r.key, r.identity); fault != nil {
		return j, fault
	}
	var err error
	if j.Job, err = job.Decode(r.identity); err != nil {
		return j, &Fault{Table: "jobs", ID: r.key, What: "identity", Is: "unreadable: " + err.Error()}
	}
	for _, c := range []struct{ what, is, want string }{
		{"data set", r.datasetHash, j.DatasetHash},
		{"split", r.splitHash, j.SplitHash},
		{"method", r.method, j.Method.Name},
		{"pretext", r.pretext, j.Pretext.Name},
		{"evaluation", r.eval, j.Eval},
		{"seed", strconv.FormatUint(uint64(r.seed), 10), strconv.FormatUint(j.Seed, 10)},
	} {
		if c.is != c.want {
			return j, &Fault{"jobs", r.key, c.what, strconv.Quote(c.is), strconv.Quote(c.want)}
		}
	}
	return j, nil
}
