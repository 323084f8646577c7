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

// How a run got the hash of its record.
const (
	hashedRecorded = "recorded" // written with it
	hashedMigrated = "migrated" // made when a file of a schema before 4 was converted
)

// canonicalRun is what the file says of a run, in the terms that the hash of the record is made of.
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
	// command is the hash of what is recorded of a program from outside; empty if there was none.
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
// bits of wall, cpu and the values, two's complement of peak. The number of metrics is a uvarint. The
// command comes last, and not at all where there is none: so runs of schema 4 have it.
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

// stored is a number as SQLite keeps it: it knows no negative zero.
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

// seriesHash is the SHA-256 of a series, empty if it has no points. By name and iteration each point
// gives its name, its iteration and its value, in the form of canonicalRun.appendTo.
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

// commandHash is the SHA-256 of what is recorded of a program, empty of none: its fields in the order of
// their declaration, in the form of canonicalRun.appendTo.
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

// classesHash is the hash under which classes are recorded, empty if there are none.
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
