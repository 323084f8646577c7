package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math"
	"slices"

	"ssdl/harness/job"
)

// When the record hash of a run was made.
const (
	hashedRecorded = "recorded" // with the run
	hashedMigrated = "migrated" // later, when a file of a schema before 4 was converted
)

// canonicalRun is the content of a run that its record hash covers.
type canonicalRun struct {
	hashed           string // hashedRecorded or hashedMigrated
	uid, job         string // job is the key, and so the hash of what was computed
	status, failure  string
	started          string // in the form of stamp
	wall, cpu        float64
	peak             int64 // 0 if unknown
	env              string
	code             job.Fingerprints
	reason, replaces string
	// Hashes of the series, of the predictions and of the true classes; empty if there is none.
	series, predictions, truth string
	metrics                    []measured // by name
	// command is the hash of the Command of an external program; empty if there was none.
	command string
}

// measured is a metric of a run.
type measured struct {
	name  string
	value float64
}

// appendTo appends the canonical form of the record: the line "ssdl run 1", then its fields in the
// order of their declaration, then the number of metrics and each one's name and value by name.
// A text is its length in bytes as a uvarint, and its bytes. A number is 8 bytes, big-endian: the IEEE
// bits of wall, cpu and the values, two's complement of peak. The number of metrics is a uvarint. A
// non-empty command comes last; an empty one is left out, as in schema 4.
func (r *canonicalRun) appendTo(b []byte) []byte {
	b = append(b, "ssdl run 1\n"...)
	for _, s := range [...]string{r.hashed, r.uid, r.job, r.status, r.failure, r.started} {
		b = appendText(b, s)
	}
	b = appendFloat(b, r.wall)
	b = appendFloat(b, r.cpu)
	b = binary.BigEndian.AppendUint64(b, uint64(r.peak))
	for _, s := range [...]string{r.env, r.code.Method, r.code.Pretext, r.code.Protocol, r.reason, r.replaces, r.series, r.predictions, r.truth} {
		b = appendText(b, s)
	}
	b = binary.AppendUvarint(b, uint64(len(r.metrics)))
	for _, m := range r.metrics {
		b = appendFloat(appendText(b, m.name), m.value)
	}
	if r.command != "" {
		b = appendText(b, r.command)
	}
	return b
}

// hash is the SHA-256 of the canonical form in hexadecimal: see appendTo.
func (r *canonicalRun) hash() string { return sum(r.appendTo(nil)) }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(stored(v)))
}

// stored is a number as SQLite keeps it: without a negative zero.
func stored(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

// sortedMetrics lists metrics by name.
func sortedMetrics(metrics map[string]float64) []measured {
	list := make([]measured, 0, len(metrics))
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		list = append(list, measured{name, metrics[name]})
	}
	return list
}

// seriesHash is the SHA-256 of a series, empty if it has no points. It covers the name, the iteration and the
// value of each point, sorted by name and iteration, in the form of canonicalRun.appendTo.
func seriesHash(series []Point) string {
	if len(series) == 0 {
		return ""
	}
	byPlace := func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Iteration, b.Iteration))
	}
	if !slices.IsSortedFunc(series, byPlace) {
		series = slices.SortedFunc(slices.Values(series), byPlace)
	}
	b := []byte("ssdl series 1\n")
	for _, p := range series {
		b = binary.BigEndian.AppendUint64(appendText(b, p.Name), uint64(p.Iteration))
		b = appendFloat(b, p.Value)
	}
	return sum(b)
}

// commandHash is the SHA-256 of a Command, empty for nil: its fields in the order of their declaration, in
// the form of canonicalRun.appendTo.
func commandHash(c *Command) string {
	if c == nil {
		return ""
	}
	b := []byte("ssdl command 1\n")
	for _, s := range [...]string{c.State, c.Confined, c.Stdout, c.Stderr} {
		b = appendText(b, s)
	}
	return sum(b)
}

// classesHash is PredictionsHash, but empty if there are no classes.
func classesHash(classes []int) string {
	if len(classes) == 0 {
		return ""
	}
	return PredictionsHash(classes)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
