// Package archive exports runs and imports archives. It writes tidy lines for analysis, one zip file that a paper
// can cite and another machine can import, and MLflow's file store.
//
// An archive can be signed with an ssh key. Archives that are read are untrusted: see Extract.
package archive

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/provenance"
	"ssdl/harness/sanitize"
	"ssdl/harness/store"
)

// params returns the parameters of a job by name; those of the pretext begin with "pretext.".
func params(j job.Job) map[string]any {
	all := map[string]any{}
	maps.Copy(all, j.Method.Params)
	for name, v := range j.Pretext.Params {
		all["pretext."+name] = v
	}
	return all
}

// commit is the commit of the program in an environment, or "".
func commit(env map[string]string) string { return cmp.Or(env["commit"], env["vcs.revision"]) }

// Selection maps the keys of the jobs to export to their rows. A nil Selection has all jobs, without rows.
type Selection map[string][]Place

// Place is a row of a spec that reports a job or tunes on it.
type Place struct {
	Spec string
	Row  string // the id of the row, with its setting
	// Setting is the values of swept parameters by name; SettingText is the same in the form of tables.
	Setting     map[string]any
	SettingText string
	// How is the select of the spec by which the parameters were chosen, Candidates the number of candidates.
	// They are "" and 0 for a tuning job.
	How        string
	Candidates int
}

// of returns the places of a job; one empty place if there is none.
func (s Selection) of(key string) []Place {
	if places := s[key]; len(places) > 0 {
		return places
	}
	return []Place{{}}
}

// each calls f for the runs of the selection. A run that is not as it was recorded is an error.
func (s Selection) each(ctx context.Context, st *store.Store, f func(store.RunRecord) error) error {
	var keys []string // all
	if s != nil {
		keys = slices.AppendSeq([]string{}, maps.Keys(s))
	}
	return st.Each(ctx, keys, func(e store.RunRecord) error {
		if len(e.Faults) > 0 {
			return e.Faults[0]
		}
		return f(e)
	})
}

func (s Selection) has(key string) bool {
	_, ok := s[key]
	return ok || s == nil
}

// line is a line of an export: a run, one of its rows, and one of its metrics. A failed run has one line
// without a metric for each row.
type line struct {
	Dataset       string         `json:"dataset"`
	DatasetHash   string         `json:"dataset_hash"`
	Synthetic     bool           `json:"synthetic"`
	SplitHash     string         `json:"split_hash"`
	SplitKind     string         `json:"split_kind"`
	Train         int            `json:"train"`
	Labelled      int            `json:"labelled"`
	Test          int            `json:"test"`
	Method        string         `json:"method"`
	Pretext       string         `json:"pretext"`
	Params        map[string]any `json:"params"`
	Seed          uint64         `json:"seed"`
	Eval          string         `json:"eval"`
	Score         string         `json:"score"`
	Metric        string         `json:"metric"`
	Value         *float64       `json:"value"`
	Status        store.Status   `json:"status"`
	Error         string         `json:"error"`
	Started       time.Time      `json:"started"`
	Wall          float64        `json:"wall_s"`
	CPU           float64        `json:"cpu_s"`
	Peak          *int64         `json:"peak_bytes"`
	Current       bool           `json:"current"` // see store.Result
	Run           string         `json:"run"`
	Job           string         `json:"job"`
	MethodVersion int            `json:"method_version"`
	MethodCode    string         `json:"method_code"`
	PretextCode   string         `json:"pretext_code"`
	ProtocolCode  string         `json:"protocol_code"`
	Commit        string         `json:"commit"`
	Dirty         string         `json:"dirty"` // SHA-256 of the difference from the commit, of older programs
	Go            string         `json:"go"`
	BLAS          string         `json:"blas"`
	Processor     string         `json:"cpu"`
	Env           string         `json:"env"` // see store.Run.EnvID
	Selection     string         `json:"selection"`
	Tried         *int           `json:"tried"`
	Origin        string         `json:"origin"` // file that the run was imported from; empty if it was recorded here
	Spec          string         `json:"spec"`
	Row           string         `json:"row"`
	Setting       map[string]any `json:"setting"`
	// Sources says whether the program had the sources of the commit: committed, modified or unknown.
	Sources provenance.Sources `json:"sources"`

	settingText string
}

// linesOf returns the lines of a run in one place, by metric.
func linesOf(e store.RunRecord, at Place) []line {
	l := line{
		Dataset: e.Job.Dataset, DatasetHash: e.Job.DatasetHash, Synthetic: e.Dataset.Synthetic,
		SplitHash: e.Job.SplitHash, SplitKind: e.Split.Kind, Train: e.Split.Train, Labelled: e.Split.Labeled, Test: e.Split.Test,
		Method: e.Job.Method.Name, Pretext: e.Job.Pretext.Name, Params: params(e.Job.Job), Seed: e.Job.Seed, Eval: e.Job.Eval, Score: e.Job.Score,
		Status: e.Run.Status, Error: e.Run.Error, Started: e.Run.Started, Wall: e.Run.Wall.Seconds(), CPU: e.Run.CPU.Seconds(),
		Current: e.Current, Run: e.Run.UID, Job: e.Run.JobKey, MethodVersion: e.Job.Method.Version, MethodCode: e.Run.Code.Method, PretextCode: e.Run.Code.Pretext, ProtocolCode: e.Run.Code.Protocol,
		Commit: commit(e.Run.Env), Dirty: e.Run.Env["dirty"], Go: e.Run.Env["go"], BLAS: e.Run.Env["blas"], Processor: e.Run.Env["cpu"], Env: e.Run.EnvID,
	}
	if e.Run.Peak > 0 {
		l.Peak = &e.Run.Peak
	}
	if o := e.Run.Origin; o != nil {
		l.Origin = o.Name
	}
	l.Spec, l.Row, l.Setting, l.settingText = at.Spec, at.Row, at.Setting, at.SettingText
	l.Sources = provenance.SourcesOf(e.Run.Env)
	if l.Selection = at.How; at.Candidates > 0 {
		l.Tried = &at.Candidates
	}
	if len(e.Run.Metrics) == 0 {
		return []line{l}
	}
	var lines []line
	for _, name := range slices.Sorted(maps.Keys(e.Run.Metrics)) {
		v := e.Run.Metrics[name]
		l.Metric, l.Value = name, &v
		lines = append(lines, l)
	}
	return lines
}

// JSONLines writes the runs of a selection, one JSON object for each run, row and metric: a run that two rows
// report has two. Times are UTC, durations in seconds.
func JSONLines(ctx context.Context, w io.Writer, st *store.Store, sel Selection) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return sel.each(ctx, st, func(e store.RunRecord) error {
		for _, at := range sel.of(e.Run.JobKey) {
			for _, l := range linesOf(e, at) {
				if err := enc.Encode(l); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// columns is the header of the CSV form.
var columns = []string{
	"dataset", "dataset_hash", "synthetic", "split_hash", "split_kind", "train", "labelled", "test",
	"method", "pretext", "params", "params_json", "seed", "eval", "score", "metric", "value", "status", "error",
	"started", "wall_s", "cpu_s", "peak_bytes", "current", "run", "job", "method_version", "method_code", "pretext_code", "protocol_code", "commit", "dirty", "go", "blas", "cpu", "env",
	"selection", "tried", "origin", "spec", "row", "setting", "sources", // newer columns come last, so that readers by column number still work
}

// CSV writes the lines of JSONLines as CSV with a header. It writes the parameters twice, for readers
// ("K=30 lambda=0.1") and as JSON, and only the first line of an error. Cells are safe for terminals and
// spreadsheets: see sanitize.CSVCell.
func CSV(ctx context.Context, w io.Writer, st *store.Store, sel Selection) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	if err := sel.each(ctx, st, func(e store.RunRecord) error {
		for _, at := range sel.of(e.Run.JobKey) {
			if err := writeCSV(out, linesOf(e, at)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// writeCSV writes the lines of a run in one place.
func writeCSV(out *csv.Writer, lines []line) error {
	cells, err := lines[0].cells()
	if err != nil {
		return err
	}
	for i := range cells {
		cells[i] = sanitize.CSVCell(cells[i])
	}
	metric := slices.Index(columns, "metric")
	for _, l := range lines { // they differ only in metric and value
		cells[metric], cells[metric+1] = sanitize.CSVCell(l.Metric), l.value()
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	return nil
}

// cells returns the cells of a line, in the order of columns.
func (l line) cells() ([]string, error) {
	params, err := json.Marshal(l.Params)
	if err != nil {
		return nil, err
	}
	peak := ""
	if l.Peak != nil {
		peak = strconv.FormatInt(*l.Peak, 10)
	}
	tried := ""
	if l.Tried != nil {
		tried = strconv.Itoa(*l.Tried)
	}
	return []string{
		l.Dataset, l.DatasetHash, strconv.FormatBool(l.Synthetic), l.SplitHash, l.SplitKind,
		strconv.Itoa(l.Train), strconv.Itoa(l.Labelled), strconv.Itoa(l.Test),
		l.Method, l.Pretext, readable(l.Params), string(params), strconv.FormatUint(l.Seed, 10), l.Eval, l.Score,
		l.Metric, l.value(), string(l.Status), firstLine(l.Error),
		l.Started.Format(time.RFC3339Nano), number(l.Wall), number(l.CPU), peak, strconv.FormatBool(l.Current), l.Run, l.Job,
		strconv.Itoa(l.MethodVersion), l.MethodCode, l.PretextCode, l.ProtocolCode, l.Commit, l.Dirty, l.Go, l.BLAS, l.Processor, l.Env,
		l.Selection, tried, l.Origin, l.Spec, l.Row, l.settingText, string(l.Sources),
	}, nil
}

// value is the value of the metric, "" if there is none.
func (l line) value() string {
	if l.Value == nil {
		return ""
	}
	return number(*l.Value)
}

// readable formats parameters as in "K=30 lambda=0.1", by name.
func readable(params map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		parts = append(parts, name+"="+text(params[name]))
	}
	return strings.Join(parts, " ")
}

// text formats the value of a parameter, a number as in JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil { // the store keeps no such value
		return fmt.Sprint(v)
	}
	return string(raw)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}
