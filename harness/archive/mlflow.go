package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/sanitize"
	"ssdl/harness/store"
	"ssdl/harness/tempfile"
)

// Values in meta.yaml of MLflow's file store: states of a run, and the kind of its source.
const (
	mlFinished = 3
	mlFailed   = 4
	mlKilled   = 5
	mlLocal    = 4
)

// mlLongest is the largest number of characters of a tag in MLflow; a parameter may have some more.
const mlLongest = 5000

// MLflow writes the runs of a selection into the new folder dir, in the layout of MLflow's file store.
// MLflow up to 2 opens it; `mlflow migrate-filestore` of 3.10 and later makes a database of it. Each data
// set is an experiment, with title before its name. A run keeps its uid, its metrics have step 0, and each
// trace becomes a metric with the iteration as step. Times are in milliseconds; a metric has the time of
// the end of its run.
//
// The folder appears when it is complete. It cannot be moved afterwards, since MLflow has absolute paths of
// artifacts.
func MLflow(ctx context.Context, dir string, st *store.Store, title string, sel Selection) (runs int, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	if entries, err := os.ReadDir(abs); err == nil && len(entries) > 0 {
		return 0, fmt.Errorf("%s is not empty: name a folder that does not exist yet", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o777); err != nil {
		return 0, err
	}
	tmp, err := tempfile.NewFolder(abs)
	if err != nil {
		return 0, fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	defer tmp.Remove()
	root, err := os.OpenRoot(tmp.Path) // names come from the runs: none can lead out of it
	if err != nil {
		return 0, err
	}
	defer root.Close()
	m := mlflow{root: root, uri: (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), experiments: map[string]*experiment{}}
	if err := m.mkdir(".trash"); err != nil { // MLflow's folder of deleted experiments
		return 0, err
	}
	if err := sel.each(ctx, st, func(e store.RunRecord) error {
		runs++
		return m.run(e, title, sel.of(e.Run.JobKey))
	}); err != nil {
		return 0, err
	}
	if err := m.writeExperiments(); err != nil {
		return 0, err
	}
	if err := os.Chmod(tmp.Path, 0o755); err != nil {
		return 0, err
	}
	if err := root.Close(); err != nil { // some systems cannot rename an open folder
		return 0, err
	}
	if err := os.Remove(abs); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return 0, err
	}
	return runs, os.Rename(tmp.Path, abs)
}

// experiment is an experiment of MLflow: the runs of one data set.
type experiment struct {
	id   string
	name string
	span
}

type mlflow struct {
	root        *os.Root
	uri         string
	experiments map[string]*experiment // by name
}

// experimentID is MLflow's decimal identifier of an experiment, a function of its name.
func experimentID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return strconv.FormatUint(1e17+binary.BigEndian.Uint64(sum[:])%9e17, 10)
}

func (m *mlflow) run(e store.RunRecord, title string, places []Place) error {
	name := sanitize.Line(e.Job.Dataset)
	if title != "" {
		name = title + ": " + name
	}
	x := m.experiments[name]
	if x == nil {
		x = &experiment{id: experimentID(name), name: name}
		m.experiments[name] = x
	}
	x.add(e.Run)

	r := e.Run
	dir := path.Join(x.id, r.UID)
	for _, sub := range []string{"metrics", "params", "tags", "artifacts"} {
		if err := m.mkdir(path.Join(dir, sub)); err != nil {
			return err
		}
	}
	end := r.Started.Add(r.Wall).UnixMilli()
	runName := fmt.Sprintf("%s on %s, seed %d", e.Job.Name(), e.Job.Dataset, e.Job.Seed)
	if err := m.yaml(path.Join(dir, "meta.yaml"), []field{
		{"artifact_uri", m.uri + "/" + dir + "/artifacts"},
		{"end_time", end},
		{"entry_point_name", ""},
		{"experiment_id", x.id},
		{"lifecycle_stage", "active"},
		{"run_id", r.UID},
		{"run_name", runName},
		{"run_uuid", r.UID},
		{"source_name", ""},
		{"source_type", mlLocal},
		{"source_version", ""},
		{"start_time", r.Started.UnixMilli()},
		{"status", mlStatus(r.Status)},
		{"tags", []string{}},
		{"user_id", ""},
	}); err != nil {
		return err
	}

	texts := map[string]string{
		"dataset": e.Job.Dataset, "method": e.Job.Method.Name, "pretext": e.Job.Pretext.Name, "eval": e.Job.Eval,
		"seed": strconv.FormatUint(e.Job.Seed, 10), "dataset_hash": e.Job.DatasetHash, "split_hash": e.Job.SplitHash,
	}
	for name, v := range params(e.Job.Job) {
		texts["param."+name] = text(v)
	}
	tags := map[string]string{
		"mlflow.runName": runName, "mlflow.source.name": "ssdl", "mlflow.source.type": "LOCAL",
		"ssdl.job": e.Run.JobKey, "ssdl.status": string(r.Status), "ssdl.error": r.Error,
		"ssdl.method_code": r.Code.Method, "ssdl.pretext_code": r.Code.Pretext, "ssdl.protocol_code": r.Code.Protocol,
	}
	for _, at := range places {
		if at.Row != "" {
			tags["ssdl.spec"], tags["ssdl.row"] = at.Spec, strings.TrimPrefix(tags["ssdl.row"]+"; "+at.Row, "; ")
		}
	}
	if at := places[0]; at.How != "" { // rows that report the run come first
		tags["ssdl.selection"], tags["ssdl.tried"] = at.How, strconv.Itoa(at.Candidates)
	}
	if c := commit(r.Env); c != "" {
		tags["mlflow.source.git.commit"] = c
	}
	for name, v := range r.Env {
		if name != "modules" { // long, and the same for all runs of a commit
			tags["env."+name] = v
		}
	}
	metrics := map[string]string{}
	for name, v := range r.Metrics {
		metrics[name] = fmt.Sprintf("%d %s 0\n", end, number(v))
	}
	for name, points := range traces(r.Series) {
		if _, ok := metrics[name]; ok { // the final value has the plain name
			name += ".trace"
		}
		var b strings.Builder
		for _, p := range points {
			fmt.Fprintf(&b, "%d %s %d\n", end, number(p.Value), p.Iteration)
		}
		metrics[name] = b.String()
	}
	for _, list := range []map[string]string{texts, tags} {
		for name, v := range list {
			list[name] = shorten(v)
		}
	}
	return errors.Join(m.files(path.Join(dir, "params"), texts), m.files(path.Join(dir, "tags"), tags), m.files(path.Join(dir, "metrics"), metrics))
}

// traces groups the points of a series by name.
func traces(series []store.Point) map[string][]store.Point {
	by := map[string][]store.Point{}
	for _, p := range series {
		by[p.Name] = append(by[p.Name], p)
	}
	return by
}

func mlStatus(s store.Status) int {
	switch s {
	case store.StatusOK:
		return mlFinished
	case store.StatusInterrupted:
		return mlKilled
	}
	return mlFailed
}

// shorten cuts a text to mlLongest.
func shorten(s string) string {
	if r := []rune(s); len(r) > mlLongest {
		return string(r[:mlLongest-1]) + "…"
	}
	return s
}

// writeExperiments writes the meta.yaml of each experiment.
func (m *mlflow) writeExperiments() error {
	for _, name := range slices.Sorted(maps.Keys(m.experiments)) {
		x := m.experiments[name]
		if err := m.yaml(path.Join(x.id, "meta.yaml"), []field{
			{"artifact_location", m.uri + "/" + x.id},
			{"creation_time", x.start.UnixMilli()},
			{"experiment_id", x.id},
			{"last_update_time", x.end.UnixMilli()},
			{"lifecycle_stage", "active"},
			{"name", x.name},
		}); err != nil {
			return err
		}
	}
	return nil
}

// field is a line of a meta.yaml.
type field struct {
	name  string
	value any
}

// yaml writes fields as YAML, with values as JSON: JSON is YAML, and a quoted text stays a text.
func (m *mlflow) yaml(name string, fields []field) error {
	var b strings.Builder
	for _, f := range fields {
		raw, err := json.Marshal(f.value)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s: %s\n", f.name, raw)
	}
	return m.root.WriteFile(name, []byte(b.String()), 0o644)
}

// files writes one file for each name. MLflow shows the names of the files.
func (m *mlflow) files(dir string, content map[string]string) error {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		file := mlName(name)
		if other, ok := seen[file]; ok {
			return fmt.Errorf("%q and %q have the same name in MLflow, %q: they cannot be exported", other, name, file)
		}
		seen[file] = name
		if err := m.root.WriteFile(path.Join(dir, file), []byte(content[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (m *mlflow) mkdir(name string) error { return m.root.MkdirAll(name, 0o755) }

// mlName replaces by underscores the characters of a name that MLflow does not allow: all but letters,
// digits, blanks and _ - . and a dot at the begin, which would hide the file.
func mlName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-. ", r) {
			return r
		}
		return '_'
	}, name)
	s = strings.TrimSpace(s)
	if s == "" || s[0] == '.' {
		return "_" + s
	}
	return s
}
