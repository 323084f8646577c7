package results

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/methods/catalog"
)

// RunDetails is everything that is recorded of a run.
type RunDetails struct {
	UID    string       `json:"uid"`
	Status store.Status `json:"status"`
	Error  string       `json:"error,omitempty"`
	// Current says that tables show this run; SupersededBy is the uid of the run that replaced it.
	Current      bool   `json:"current"`
	SupersededBy string `json:"superseded_by,omitempty"`
	// RecordHash is the SHA-256 of the record; Migrated says that the hash was made when an older file was
	// converted. Origin is the file that the run was imported from; nil if it was recorded here.
	RecordHash string        `json:"record_sha256"`
	Migrated   bool          `json:"migrated,omitempty"`
	Origin     *store.Origin `json:"origin,omitempty"`
	// Repetitions lists the repetitions of the run.
	Repetitions []Repetition `json:"repetitions,omitempty"`
	// Reason is why the job was run again; empty for its first run.
	Reason   string          `json:"reason,omitempty"`
	Key      string          `json:"key"`
	Identity json.RawMessage `json:"identity"`
	Dataset  string          `json:"dataset"`
	DataHash string          `json:"data_hash"`
	Split    Split           `json:"split"`
	Method   string          `json:"method,omitempty"`
	Pretext  string          `json:"pretext,omitempty"`
	// MethodParams and PretextParams include defaults.
	MethodParams  catalog.Values     `json:"method_params,omitempty"`
	PretextParams catalog.Values     `json:"pretext_params,omitempty"`
	Seed          uint64             `json:"seed"`
	Eval          string             `json:"eval"`
	Started       time.Time          `json:"started"`
	Wall          float64            `json:"wall_seconds"`
	CPU           float64            `json:"cpu_seconds"`
	Peak          int64              `json:"peak_bytes,omitempty"`
	Code          job.Fingerprints   `json:"code,omitzero"`
	Environment   map[string]string  `json:"environment"`
	Metrics       map[string]float64 `json:"metrics"`
	Traces        []Trace            `json:"traces"`
	Dictionary
	Predictions string   `json:"predictions_sha256,omitempty"`
	Classes     []string `json:"classes,omitempty"`
	// Program is the outcome of the external program that the run called; nil if it called none.
	Program *Program `json:"program,omitempty"`
	// Confusion counts samples by true class (rows) and predicted class; nil if unknown.
	Confusion [][]int `json:"confusion,omitempty"`
}

// Program says how an external program ended and how it was confined, with the end of its output.
type Program struct {
	State    string `json:"state"`
	Confined string `json:"confined"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// Repetition is the outcome of computing a run again. Executable is the hash of the program; Differs is empty if
// every bit was the same.
type Repetition struct {
	Started    time.Time `json:"started"`
	Workers    int       `json:"workers"`
	Executable string    `json:"executable,omitempty"`
	Differs    string    `json:"differs,omitempty"`
}

// Split is the split of a run.
type Split struct {
	Hash     string `json:"hash"`
	Kind     string `json:"kind"`
	Seed     uint64 `json:"seed"` // 0 if nothing was drawn
	Train    int    `json:"train"`
	Labelled int    `json:"labelled"`
	Test     int    `json:"test"`
}

// Trace is a series of values of a run, one for each of Iterations, which increase.
type Trace struct {
	Name       string    `json:"name"`
	Iterations []int     `json:"iterations"`
	Values     []float64 `json:"values"`
}

// Commit is the commit that the program was built from or run in; empty if unknown.
func (d RunDetails) Commit() string {
	return commitOf(d.Environment)
}

func commitOf(env map[string]string) string {
	return cmp.Or(env["commit"], env["vcs.revision"])
}

// Describe reads everything that is recorded of the run whose uid begins with prefix. The error is
// fs.ErrNotExist if there is none.
func Describe(ctx context.Context, st *store.Store, prefix string) (RunDetails, error) {
	var none RunDetails
	uid, err := st.UID(ctx, prefix)
	if err != nil {
		return none, err
	}
	job, is, err := st.RunByUID(ctx, uid)
	if err != nil {
		return none, err
	}
	predicted, err := st.Predictions(ctx, []string{uid})
	if err != nil {
		return none, err
	}
	if fault := run.VerifyMetrics(uid, is.Metrics, predicted[uid]); fault != nil {
		return none, fault
	}
	repetitions, err := st.Repetitions(ctx, []string{uid})
	if err != nil {
		return none, err
	}
	split, err := st.SplitByHash(ctx, job.SplitHash)
	if err != nil {
		return none, err
	}
	d := RunDetails{
		UID: is.UID, Status: is.Status, Error: is.Error, Reason: is.Reason, Key: is.JobKey, Identity: job.Encode(), Dataset: job.Dataset, DataHash: job.DatasetHash,
		Split:  Split{split.Hash, split.Kind, split.Seed, split.Train, split.Labeled, split.Test},
		Method: job.Method.Name, Pretext: job.Pretext.Name, MethodParams: job.Method.Params, PretextParams: job.Pretext.Params, Seed: job.Seed, Eval: job.Eval,
		Started: is.Started, Wall: is.Wall.Seconds(), CPU: is.CPU.Seconds(), Peak: is.Peak,
		Code: is.Code, Environment: is.Env, Metrics: is.Metrics,
		RecordHash: is.Hash, Migrated: is.Migrated, Origin: is.Origin, Dictionary: dictionaryOf(is.Series),
	}
	if is.Command != nil {
		program := Program(*is.Command)
		d.Program = &program
	}
	for _, r := range repetitions {
		d.Repetitions = append(d.Repetitions, Repetition{r.Started, r.Workers, r.Env["executable"], r.Differs})
	}
	current, err := st.Finished(ctx, []string{is.JobKey})
	if err != nil {
		return none, err
	}
	d.Current = current[is.JobKey].UID == uid
	if d.SupersededBy, err = st.ReplacedBy(ctx, uid); err != nil {
		return none, err
	}
	for _, p := range is.Series {
		if n := len(d.Traces); n == 0 || d.Traces[n-1].Name != p.Name {
			d.Traces = append(d.Traces, Trace{Name: p.Name})
		}
		t := &d.Traces[len(d.Traces)-1]
		t.Iterations, t.Values = append(t.Iterations, p.Iteration), append(t.Values, p.Value)
	}
	if len(is.Predictions) > 0 {
		d.Predictions = store.PredictionsHash(is.Predictions)
	}
	sets, err := st.Datasets(ctx)
	if err != nil {
		return none, err
	}
	for _, s := range sets {
		if s.Hash == job.DatasetHash {
			d.Classes = s.ClassNames
			d.Confusion = confusion(is.Predictions, is.Truth, s.Classes)
		}
	}
	return d, nil
}

// confusion counts samples by true and predicted class; nil if either is unknown.
func confusion(predicted, truth []int, classes int) [][]int {
	if len(truth) == 0 || len(predicted) != len(truth) {
		return nil
	}
	for i := range truth {
		classes = max(classes, truth[i]+1, predicted[i]+1)
	}
	out := make([][]int, classes)
	for i := range out {
		out[i] = make([]int, classes)
	}
	for i, y := range truth {
		out[y][predicted[i]]++
	}
	return out
}

// ClassResult counts the test samples of a class by prediction.
type ClassResult struct {
	Class string `json:"class"`
	Right int    `json:"right"`
	Of    int    `json:"of"`
	// Mistaken counts the wrong predictions by class, the most frequent first.
	Mistaken []Mistake `json:"mistaken,omitempty"`
}

// Mistake counts the samples that were wrongly predicted as a class.
type Mistake struct {
	Class   string `json:"class"`
	Samples int    `json:"samples"`
}

// ClassResults sums up the confusion by true class; nil if it is unknown.
func (d RunDetails) ClassResults() []ClassResult {
	name := func(c int) string {
		if c < len(d.Classes) {
			return d.Classes[c]
		}
		return fmt.Sprint(c)
	}
	var out []ClassResult
	for c, row := range d.Confusion {
		is := ClassResult{Class: name(c), Right: row[c]}
		for p, n := range row {
			is.Of += n
			if p != c && n > 0 {
				is.Mistaken = append(is.Mistaken, Mistake{name(p), n})
			}
		}
		slices.SortStableFunc(is.Mistaken, func(a, b Mistake) int { return b.Samples - a.Samples })
		out = append(out, is)
	}
	return out
}
