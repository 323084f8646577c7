package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"ssdl/harness/report"
	"ssdl/harness/store"
)

type showCmd struct {
	ID string `arg:"" name:"run" help:"Id of a run (ssdl explain lists them), or its first characters."`
}

// shown is a run as show prints it with --format json.
type shown struct {
	UID         string             `json:"uid"`
	Status      store.Status       `json:"status"`
	Error       string             `json:"error,omitempty"`
	Counts      bool               `json:"counts"`
	ReplacedBy  string             `json:"replaced_by,omitempty"`
	Reason      string             `json:"reason,omitempty"`
	Key         string             `json:"key"`
	Identity    json.RawMessage    `json:"identity"`
	Dataset     string             `json:"dataset"`
	Split       store.Split        `json:"split"`
	Method      string             `json:"method,omitempty"`
	Pretext     string             `json:"pretext,omitempty"`
	Seed        uint64             `json:"seed"`
	Eval        string             `json:"eval"`
	Started     time.Time          `json:"started"`
	Wall        float64            `json:"wall_seconds"`
	CPU         float64            `json:"cpu_seconds"`
	Peak        int64              `json:"peak_bytes,omitempty"`
	MethodCode  string             `json:"method_code,omitempty"`
	PretextCode string             `json:"pretext_code,omitempty"`
	Env         map[string]string  `json:"environment"`
	Metrics     map[string]float64 `json:"metrics"`
	Traces      []trace            `json:"traces"`
	Predictions string             `json:"predictions_sha256,omitempty"`
	Classes     []string           `json:"classes,omitempty"`
	// Confusion counts samples by true class (rows) and predicted class; null if unknown.
	Confusion [][]int `json:"confusion,omitempty"`
}

type trace struct {
	Name   string    `json:"name"`
	From   int       `json:"from"` // the first iteration
	Values []float64 `json:"values"`
}

func (c *showCmd) Run(e *env) error {
	st, err := e.look()
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := describeRun(e.ctx, st, c.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitUsage, "%w; `ssdl explain SPEC ROW` lists the runs of a cell", err)
	}
	if err != nil {
		return err
	}
	if e.common.Format == "json" {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	s.text(e)
	return nil
}

// describeRun collects what is known of a run.
func describeRun(ctx context.Context, st *store.Store, prefix string) (*shown, error) {
	uid, err := st.UID(ctx, prefix)
	if err != nil {
		return nil, err
	}
	job, run, err := st.RunByUID(ctx, uid)
	if err != nil {
		return nil, err
	}
	split, err := st.SplitByHash(ctx, job.SplitHash)
	if err != nil {
		return nil, err
	}
	s := &shown{
		UID: run.UID, Status: run.Status, Error: run.Error, Reason: run.Reason,
		Key: job.Key, Identity: job.Identity, Dataset: job.Dataset, Split: split,
		Method: job.Method, Pretext: job.Pretext, Seed: job.Seed, Eval: job.Eval,
		Started: run.Started, Wall: run.Wall.Seconds(), CPU: run.CPU.Seconds(), Peak: run.Peak,
		MethodCode: run.MethodCode, PretextCode: run.PretextCode, Env: run.Env, Metrics: run.Metrics,
	}
	counting, err := st.Finished(ctx, []string{job.Key})
	if err != nil {
		return nil, err
	}
	s.Counts = counting[job.Key].UID == uid
	if s.ReplacedBy, err = st.ReplacedBy(ctx, uid); err != nil {
		return nil, err
	}
	for _, p := range run.Series {
		if n := len(s.Traces); n == 0 || s.Traces[n-1].Name != p.Name {
			s.Traces = append(s.Traces, trace{Name: p.Name, From: p.Iteration})
		}
		t := &s.Traces[len(s.Traces)-1]
		t.Values = append(t.Values, p.Value)
	}
	if len(run.Predictions) > 0 {
		s.Predictions = store.PredictionsHash(run.Predictions)
	}
	sets, err := st.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range sets {
		if d.Hash == job.DatasetHash {
			s.Classes = d.ClassNames
			s.Confusion = confusion(run.Predictions, run.Truth, d.Classes)
		}
	}
	return s, nil
}

// confusion counts samples by true and predicted class; nil where either is unknown.
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

func (s *shown) text(e *env) {
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	defer w.Flush()
	say := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", what, report.Clean(fmt.Sprintf(format, args...)))
	}
	say("run", "%s", s.UID)
	say("status", "%s", s.Status)
	if s.Error != "" {
		say("error", "%s", strings.SplitN(s.Error, "\n", 2)[0])
	}
	switch {
	case s.Counts:
		say("counts", "yes")
	case s.ReplacedBy != "":
		say("counts", "no, replaced by %s", s.ReplacedBy)
	default:
		say("counts", "no")
	}
	if s.Reason != "" {
		say("run again", "%s", s.Reason)
	}
	say("job", "%s", s.Key)
	say("identity", "%s", s.Identity)
	under := ""
	if s.Split.Kind == "class" || s.Split.Seed != 0 && s.Split.Seed == s.Seed { // one of a file has the seed of no run
		under = fmt.Sprintf(" under seed %d", s.Split.Seed)
	}
	say("data", "%s, %s split%s: %d training samples, %d of them labelled, %d test samples", s.Dataset, s.Split.Kind, under, s.Split.Train, s.Split.Labeled, s.Split.Test)
	say("started", "%s", s.Started.Format(time.RFC3339))
	say("took", "%.3f s, %.3f s of CPU time", s.Wall, s.CPU)
	if s.Peak > 0 {
		say("memory", "%.2f GiB held by the program at most meanwhile", float64(s.Peak)/(1<<30))
	}
	if s.MethodCode != "" {
		say("code", "%s", strings.TrimSpace("method "+s.MethodCode+" "+pretextCode(s.PretextCode)))
	}
	if s.Env["commit"] == "" && s.Env["vcs.revision"] == "" {
		say("commit", "unknown: the program was not in a git checkout of its sources, nor built in one")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if name != "modules" {
			say(name, "%s", s.Env[name])
		}
	}
	if m := s.Env["modules"]; m != "" {
		for i, line := range strings.Split(m, "; ") {
			what := ""
			if i == 0 {
				what = "modules"
			}
			say(what, "%s", line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		say(name, "%v", s.Metrics[name])
	}
	for _, t := range s.Traces {
		n := len(t.Values)
		say("trace", "%s: %d values, %.6g at %d to %.6g", t.Name, n, t.Values[0], t.From, t.Values[n-1])
	}
	if s.Predictions != "" {
		say("predictions", "SHA-256 %s", s.Predictions)
	}
	if s.Confusion == nil {
		return
	}
	w.Flush()
	s.perClass(w)
}

func pretextCode(code string) string {
	if code == "" {
		return ""
	}
	return "pretext " + code
}

// perClass writes, for every class, how many of its samples were recognised and what the others
// were taken for.
func (s *shown) perClass(w *tabwriter.Writer) {
	name := func(c int) string {
		if c < len(s.Classes) {
			return report.Clean(s.Classes[c])
		}
		return fmt.Sprint(c)
	}
	fmt.Fprintln(w, "\nCLASS\tRIGHT\tOF\tTAKEN FOR")
	for c, row := range s.Confusion {
		total := 0
		var others []int
		for p, n := range row {
			total += n
			if p != c && n > 0 {
				others = append(others, p)
			}
		}
		slices.SortStableFunc(others, func(a, b int) int { return row[b] - row[a] })
		var taken []string
		for _, p := range others[:min(4, len(others))] {
			taken = append(taken, fmt.Sprintf("%s %d", name(p), row[p]))
		}
		if len(others) > 4 {
			taken = append(taken, fmt.Sprintf("and %d more", len(others)-4))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", name(c), row[c], total, strings.Join(taken, ", "))
	}
}
