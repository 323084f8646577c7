package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"ssdl/methods/catalog"
)

// What a job is evaluated on.
const (
	// EvalTest is the test part of the split.
	EvalTest = "test"
	// EvalVal is the labelled training samples that are held out to choose a setting.
	EvalVal = "val"
)

// metricVersion is raised whenever the scores of unchanged predictions or pseudo labels
// change; it makes new jobs of all jobs.
const metricVersion = 1

// Job is what is run: one method on one split of one data set. It is complete (see
// catalog.Entry.Complete) and knows its names and versions, so that it can be recorded
// and told from others without the spec it came from.
type Job struct {
	Dataset string
	Split   Split
	Seed    uint64
	// Method is "" where the pseudo labels themselves are scored.
	Method  string
	Version int
	Params  catalog.Values
	// Pretext is "" for a method that learns from the true labels.
	Pretext        string
	PretextVersion int
	PretextParams  catalog.Values
	// Eval is EvalTest or EvalVal.
	Eval string
	// Score is how pseudo labels reach unseen samples ("oos" or "transductive") if Method
	// is "", else "".
	Score string
}

// Name is the method, the pretext, or the composition of both, e.g. "pahl+ssdl".
func (j Job) Name() string { return compose(j.Pretext, j.Method) }

// part is a method or a pretext in a job's identity.
type part struct {
	Name    string         `json:"name"`
	Version int            `json:"version"`
	Params  catalog.Values `json:"params"`
}

// Identity is what makes the job this one and no other, as canonical JSON: fixed order of
// fields, sorted parameters, shortest numbers. It names the data and the split by the hash
// of their content: the names, and how the split came about, are no part of it. Nor is the
// metric, since a run records all of them.
func (j Job) Identity(datasetHash, splitHash string) []byte {
	id := struct {
		Dataset       string `json:"dataset"`
		Split         string `json:"split"`
		Method        *part  `json:"method,omitempty"`
		Pretext       *part  `json:"pretext,omitempty"`
		Seed          uint64 `json:"seed"`
		Eval          string `json:"eval"`
		Score         string `json:"score,omitempty"`
		MetricVersion int    `json:"metric_version"`
	}{
		Dataset: datasetHash, Split: splitHash,
		Seed: j.Seed, Eval: j.Eval, Score: j.Score, MetricVersion: metricVersion,
	}
	if j.Method != "" {
		id.Method = &part{j.Method, j.Version, j.Params}
	}
	if j.Pretext != "" {
		id.Pretext = &part{j.Pretext, j.PretextVersion, j.PretextParams}
	}
	raw, err := json.Marshal(id)
	if err != nil { // NaN, say: the catalog refuses it before a job has it
		panic(fmt.Sprintf("spec: job %s holds values that no spec gives it: %v", j.Name(), err))
	}
	return raw
}

// Key is the SHA-256 of the job's identity, in hexadecimal.
func (j Job) Key(datasetHash, splitHash string) string {
	sum := sha256.Sum256(j.Identity(datasetHash, splitHash))
	return hex.EncodeToString(sum[:])
}
