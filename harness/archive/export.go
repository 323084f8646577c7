// Package archive exports runs and reads archives of them: as tidy lines for analysis, as one zip file
// that a paper can cite and another machine can import, and in the layout of MLflow's file store.
//
// An archive can be signed with an ssh key. What is read is untrusted: see Extract.
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
	"ssdl/harness/sanitize"
	"ssdl/harness/store"
)

// params lists the parameters of a job by name; those of the pretext begin with "pretext.".
func params(j job.Job) map[string]any {
	all := map[string]any{}
	maps.Copy(all, j.Method.Params)
	for name, v := range j.Pretext.Params {
		all["pretext."+name] = v
	}
	return all
}

// commit is the revision of the program that an environment names, or "".
func commit(env map[string]string) string { return cmp.Or(env["commit"], env["vcs.revision"]) }

// Selection says which jobs an export is of, by their keys, and where they stand. A nil Selection is of all
// jobs, wherever they stand.
type Selection map[string][]Place

// Place is a row of a spec that a job stands in.
type Place struct {
	Spec string
	Row  string // the id of the row, with its setting
	// Setting is the values of swept parameters by name; SettingText is the same as tables have it.
	Setting     map[string]any
	SettingText string
	// How says how the parameters were chosen, in the spec's word, and Candidates among how many. They are ""
	// and 0 of a job that no cell of the row reports: that was run to tune.
	How        string
	Candidates int
}

// of are the places of a job; a single empty one if none is known.
func (s Selection) of(key string) []Place {
	if places := s[key]; len(places) > 0 {
		return places
	}
	return []Place{{}}
}

// each calls f for the runs of the selection. It ends with a run that is not as it was recorded.
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

// line is a run, a row that it stands in, and one of its metrics: a line of an export. A run that measured
// nothing, because it failed, has one line without a metric for each row.
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
	Current       bool           `json:"current"` // whether reports show it: see store.Result
	Run           string         `json:"run"`
	Job           string         `json:"job"`
	MethodVersion int            `json:"method_version"`
	MethodCode    string         `json:"method_code"`
	PretextCode   string         `json:"pretext_code"`
	ProtocolCode  string         `json:"protocol_code"`
	Commit        string         `json:"commit"`
	Dirty         string         `json:"dirty"` // SHA-256 of what differed from the commit, if anything
	Go            string         `json:"go"`
	BLAS          string         `json:"blas"`
	Processor     string         `json:"cpu"`
	Env           string         `json:"env"` // hash of these and all else that is recorded of the machine
	Selection     string         `json:"selection"`
	Tried         *int           `json:"tried"`
	Origin        string         `json:"origin"` // the file that it was imported from; empty if it was recorded here
	Spec          string         `json:"spec"`
	Row           string         `json:"row"`
	Setting       map[string]any `json:"setting"`

	settingText string
}

// linesOf are the lines of a run in one place, by metric.
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
// report stands there twice. Times are UTC, durations in seconds.
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

// columns are the head of the CSV form.
var columns = []string{
	"dataset", "dataset_hash", "synthetic", "split_hash", "split_kind", "train", "labelled", "test",
	"method", "pretext", "params", "params_json", "seed", "eval", "score", "metric", "value", "status", "error",
	"started", "wall_s", "cpu_s", "peak_bytes", "current", "run", "job", "method_version", "method_code", "pretext_code", "protocol_code", "commit", "dirty", "go", "blas", "cpu", "env",
	"selection", "tried", "origin", "spec", "row", "setting", // newer columns stand last, so that readers who count columns go on
}

// CSV writes what JSONLines writes as CSV with a head. The parameters stand there twice,
// for readers ("K=30 lambda=0.1") and as JSON, and of an error its first line. Text that a spreadsheet would take for a
// formula gets an apostrophe in front, and control characters are taken out.
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
	for _, l := range lines { // which differ in two cells
		cells[metric], cells[metric+1] = sanitize.CSVCell(l.Metric), l.value()
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	return nil
}

// cells are the columns of a line.
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
		l.Selection, tried, l.Origin, l.Spec, l.Row, l.settingText,
	}, nil
}

// value is that of the metric, "" where there is none.
func (l line) value() string {
	if l.Value == nil {
		return ""
	}
	return number(*l.Value)
}

// readable is "K=30 lambda=0.1", by name.
func readable(params map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		parts = append(parts, name+"="+text(params[name]))
	}
	return strings.Join(parts, " ")
}

// text is the value of a parameter, a number as JSON has it.
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
