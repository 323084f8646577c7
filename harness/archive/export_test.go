package archive

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"ssdl/harness/store"
)

func exportCSV(t testing.TB, st *store.Store, sel Selection) (lines []map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := CSV(t.Context(), &b, st, sel); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		line := map[string]string{}
		for i, name := range rows[0] {
			line[name] = row[i]
		}
		lines = append(lines, line)
	}
	return lines
}

func TestCSV(t *testing.T) {
	lines := exportCSV(t, newStore(t), nil)
	var got []string
	for _, l := range lines {
		got = append(got, strings.Join([]string{l["method"], l["pretext"], l["seed"], l["metric"], l["value"], l["status"], l["current"], l["error"]}, " "))
	}
	if d := cmp.Diff([]string{
		"src  1000 accuracy 0.75 ok true ",
		"src  1000 test_unconverged 0 ok true ",
		"src  1001   timeout false too long",
		"ssdl pahl 1000 accuracy 0.75 ok true ",
		"ssdl pahl 1000 test_unconverged 0 ok true ",
		"ssdl pahl 1001 accuracy 0.75 ok true ",
		"ssdl pahl 1001 test_unconverged 0 ok true ",
	}, got); d != "" {
		t.Errorf("lines:\n%s", d)
	}
	l := lines[3]
	for name, want := range map[string]string{
		"dataset": "sports8", "dataset_hash": "d0", "synthetic": "false", "split_hash": "50", "split_kind": "class",
		"train": "1", "labelled": "1", "test": "2", "eval": "test", "score": "", "method_version": "2", "method_code": "aa", "pretext_code": "", "protocol_code": "",
		"params": "K=30 lambda=0.1 pretext.p=2.2 variant==cmd()", "params_json": `{"K":30,"lambda":0.1,"pretext.p":2.2,"variant":"=cmd()"}`,
		"started": "2026-11-03T09:30:00.123456Z", "wall_s": "2", "cpu_s": "3", "peak_bytes": "1048576",
		"job": someJob("ssdl", "pahl", 1000).Key(), "commit": someCommit, "dirty": "", "go": "go1.26", "blas": "", "cpu": "",
	} {
		if l[name] != want {
			t.Errorf("%s is %q, want %q", name, l[name], want)
		}
	}
	if len(l["run"]) != 32 || len(l["env"]) != 64 {
		t.Errorf("run %q on %q", l["run"], l["env"])
	}
}

func TestSelection(t *testing.T) {
	st := newStore(t)
	j := someJob("ssdl", "pahl", 1000)
	other := j // the same question, another version
	other.Method.Version = 3
	record(t, st, other, nil)
	record(t, st, j, fails(store.StatusError, "first it failed"))

	count := func(sel Selection) int { return len(exportCSV(t, st, sel)) }
	if n := count(Selection{j.Key(): {}}); n != 3 {
		t.Errorf("%d lines of a job, want its two metrics and its failure", n)
	}
	if n := count(Selection{j.Key(): {}, other.Key(): {}}); n != 5 {
		t.Errorf("%d lines of two jobs, want those of both versions", n)
	}
	if n := count(Selection{}); n != 0 {
		t.Errorf("%d lines of nothing", n)
	}
}

// selection and tried come from the spec; they are the last columns but some newer ones.
func TestExportTellsTheSelection(t *testing.T) {
	st := newStore(t)
	j, other := someJob("ssdl", "pahl", 1000), someJob("ssdl", "pahl", 1001)
	lines := exportCSV(t, st, Selection{j.Key(): {{Spec: "table1", Row: "ssdl", How: "fixed", Candidates: 12}}, other.Key(): {}})
	var got []string
	for _, l := range lines {
		got = append(got, strings.Join([]string{l["seed"], l["metric"], l["selection"], l["tried"]}, " "))
	}
	if d := cmp.Diff([]string{"1000 accuracy fixed 12", "1000 test_unconverged fixed 12", "1001 accuracy  ", "1001 test_unconverged  "}, got); d != "" {
		t.Errorf("lines:\n%s", d)
	}
	if last := columns[len(columns)-8:]; !slices.Equal(last, []string{"env", "selection", "tried", "origin", "spec", "row", "setting", "sources"}) {
		t.Errorf("the last columns are %v", last)
	}
	dir := filepath.Join(t.TempDir(), "ml")
	if _, err := MLflow(t.Context(), dir, st, "", Selection{j.Key(): {{Spec: "table1", Row: "ssdl", How: "val", Candidates: 12}, {Spec: "table1", Row: "other"}}}); err != nil {
		t.Fatal(err)
	}
	tags := filepath.Join(dir, experimentID("sports8"), lines[0]["run"], "tags")
	if how, tried, rows := read(t, tags, "ssdl.selection"), read(t, tags, "ssdl.tried"), read(t, tags, "ssdl.row"); how != "val" || tried != "12" || rows != "ssdl; other" {
		t.Errorf("tags %q, %q and %q", how, tried, rows)
	}
}

// sources are as in the notes of tables: a modified tree is not its commit.
func TestExportTellsTheSources(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"vcs.revision": someCommit, "vcs.modified": "true"}, "modified"},
		{map[string]string{"commit": someCommit, "dirty": "0123"}, "modified"},
		{map[string]string{"vcs.revision": someCommit, "vcs.modified": "false"}, "committed"},
		{map[string]string{"go": "go1.26"}, "unknown"},
	} {
		st := newStore(t)
		j := someJob("src", "", 7)
		record(t, st, j, func(r *store.Run) { r.Env = c.env })
		l := exportCSV(t, st, Selection{j.Key(): {}})[0]
		var b bytes.Buffer
		if err := JSONLines(t.Context(), &b, st, Selection{j.Key(): {}}); err != nil {
			t.Fatal(err)
		}
		if l["sources"] != c.want || !strings.Contains(b.String(), `"sources":"`+c.want+`"`) {
			t.Errorf("%v: sources %q, want %q; as JSON %s", c.env, l["sources"], c.want, &b)
		}
	}
}

// No cell is a formula or has control characters; numbers stay numbers.
func TestCSVIsSafe(t *testing.T) {
	st := newStore(t)
	j := someJob("=HYPERLINK(\"http://x\")", "+1", 7)
	record(t, st, j, func(r *store.Run) {
		r.Metrics = map[string]float64{"@SUM(A1)": -0.5}
		r.Env = map[string]string{"cpu": "\t=1+1", "commit": "\r-2+3\x1b[2J"}
	})
	record(t, st, someJob("-cmd", "", 8), fails(store.StatusError, "-1 is no label\x1b]0;owned\x07"))
	var found int
	for _, l := range exportCSV(t, st, nil) {
		switch l["seed"] {
		case "7":
			for name, want := range map[string]string{
				"method": `'=HYPERLINK("http://x")`, "pretext": "+1", "metric": "'@SUM(A1)", "value": "-0.5", "cpu": "'=1+1", "commit": "'-2+3",
			} {
				if l[name] != want {
					t.Errorf("%s is %q, want %q", name, l[name], want)
				}
			}
		case "8":
			if l["method"] != "'-cmd" || l["error"] != "'-1 is no label" {
				t.Errorf("method %q, error %q", l["method"], l["error"])
			}
		default:
			continue
		}
		found++
	}
	if found != 2 {
		t.Errorf("%d lines", found)
	}
}

func TestJSONLines(t *testing.T) {
	st := newStore(t)
	var b bytes.Buffer
	if err := JSONLines(t.Context(), &b, st, nil); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines", len(lines))
	}
	var l map[string]any
	if err := json.Unmarshal([]byte(lines[3]), &l); err != nil {
		t.Fatal(err)
	}
	if l["value"] != 0.75 || l["seed"] != 1000.0 || l["wall_s"] != 2.0 || l["current"] != true ||
		l["params"].(map[string]any)["K"] != 30.0 || l["commit"] != someCommit || len(l["env"].(string)) != 64 {
		t.Errorf("line %v", l)
	}
	if err := json.Unmarshal([]byte(lines[2]), &l); err != nil || l["value"] != nil || l["error"] != "too long\nby far" {
		t.Errorf("failed run: %v, %v", l, err)
	}
}

func read(t testing.TB, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestMLflow checks the files that MLflow reads: meta.yaml of experiments and runs,
// and a file for each metric, parameter and tag.
func TestMLflow(t *testing.T) {
	st := newStore(t)
	j := someJob("ssdl", "pahl", 1002)
	uid := record(t, st, j, nil)
	killed := record(t, st, someJob("ssdl", "pahl", 1003), fails(store.StatusInterrupted, "stopped"))
	dir := filepath.Join(t.TempDir(), "a b", "ml")
	n, err := MLflow(t.Context(), dir, st, "table1", nil)
	if err != nil || n != 6 {
		t.Fatalf("%d runs, %v", n, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
		t.Errorf("beside it there is %v", entries)
	}
	x := experimentID("table1: sports8")
	if len(x) != 18 {
		t.Errorf("experiment %s", x)
	}
	meta := func(parts ...string) (m map[string]any) {
		if err := yaml.Unmarshal([]byte(read(t, append(parts, "meta.yaml")...)), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	uri := "file://" + strings.ReplaceAll(dir, " ", "%20")
	first, last := start.Add(-time.Hour).UnixMilli(), start.Add(time.Hour+2*time.Second).UnixMilli()
	if d := cmp.Diff(map[string]any{
		"artifact_location": uri + "/" + x, "creation_time": int(first), "last_update_time": int(last),
		"experiment_id": x, "lifecycle_stage": "active", "name": "table1: sports8",
	}, meta(dir, x)); d != "" {
		t.Errorf("experiment:\n%s", d)
	}
	begin, end := start.UnixMilli(), start.Add(2*time.Second).UnixMilli()
	if d := cmp.Diff(map[string]any{
		"artifact_uri": uri + "/" + x + "/" + uid + "/artifacts", "start_time": int(begin), "end_time": int(end), "status": 3,
		"entry_point_name": "", "experiment_id": x, "lifecycle_stage": "active", "run_id": uid, "run_uuid": uid,
		"run_name": "pahl+ssdl on sports8, seed 1002", "source_name": "", "source_type": 4, "source_version": "", "tags": []any{}, "user_id": "",
	}, meta(dir, x, uid)); d != "" {
		t.Errorf("run:\n%s", d)
	}
	if got := meta(dir, x, killed)["status"]; got != 5 {
		t.Errorf("status of an interrupted run: %v", got)
	}
	at := strconv.FormatInt(end, 10)
	for name, want := range map[string]string{
		"metrics/accuracy":               at + " 0.75 0\n",
		"metrics/objective":              at + " 3.5 0\n" + at + " 0.5 1\n",
		"metrics/test_unconverged":       at + " 0 0\n",
		"metrics/test_unconverged.trace": at + " 0 0\n",
		"params/param.K":                 "30",
		"params/param.pretext.p":         "2.2",
		"params/seed":                    "1002",
		"params/dataset":                 "sports8",
		"tags/mlflow.runName":            "pahl+ssdl on sports8, seed 1002",
		"tags/mlflow.source.git.commit":  someCommit,
		"tags/ssdl.job":                  j.Key(),
		"tags/env.go":                    "go1.26",
	} {
		if got := read(t, dir, x, uid, filepath.FromSlash(name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, part := range []string{filepath.Join(x, uid, "artifacts"), ".trash"} {
		if info, err := os.Stat(filepath.Join(dir, part)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", part, err)
		}
	}

	if _, err := MLflow(t.Context(), dir, st, "", nil); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder with something in it: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := MLflow(t.Context(), filepath.Join(dir, "file"), st, "", nil); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// Untrusted names of metrics become safe names of files.
func TestMLflowIsSafe(t *testing.T) {
	st := newStore(t)
	j := someJob("ssdl", "", 5)
	j.Dataset = "../../evil: \"x\"\nname: y"
	uid := record(t, st, j, func(r *store.Run) {
		r.Metrics = map[string]float64{"../../../evil": 1, "/etc/evil": 2, "a/b": 3, ".": 4, "..": 5, "x\x1b[2J": 6, "CON:": 7}
		r.Series = nil
		r.Env = map[string]string{"modules": "m", "../env": strings.Repeat("é", 9000)}
	})
	outer := t.TempDir()
	dir := filepath.Join(outer, "ml")
	if _, err := MLflow(t.Context(), dir, st, "", Selection{j.Key(): {}}); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(outer); len(entries) != 1 {
		t.Errorf("beside the folder there is %v", entries)
	}
	x := experimentID(`../../evil: "x" name: y`)
	entries, err := os.ReadDir(filepath.Join(dir, x, uid, "metrics"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{"_.", "_..", "_.._.._.._evil", "_etc_evil", "a_b", "x__2J", "CON_"}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("metrics:\n%s", d)
	}
	var m map[string]any
	if err := yaml.Unmarshal([]byte(read(t, dir, x, "meta.yaml")), &m); err != nil || m["name"] != `../../evil: "x" name: y` {
		t.Errorf("experiment %v, %v", m, err)
	}
	if v := []rune(read(t, dir, x, uid, "tags", "env..._env")); len(v) != mlLongest || v[len(v)-1] != '…' {
		t.Errorf("a long tag has %d characters", len(v))
	}

	if _, err := os.Stat(filepath.Join(dir, x, uid, "tags", "env.modules")); err == nil {
		t.Error("the list of modules was written for each run")
	}

	record(t, st, someJob("src", "", 9), func(r *store.Run) { r.Metrics = map[string]float64{"a/b": 1, "a:b": 2} })
	_, err = MLflow(t.Context(), filepath.Join(outer, "ml2"), st, "", nil)
	wantError(t, err, `"a/b" and "a:b" have the same name`)
	if entries, _ := os.ReadDir(outer); len(entries) != 1 {
		t.Errorf("half an export is left: %v", entries)
	}
}

// A run has a line of each metric for every row that reports it.
func TestExportTellsTheRows(t *testing.T) {
	st := newStore(t)
	j := someJob("ssdl", "pahl", 1000)
	sel := Selection{j.Key(): {
		{Spec: "table1", Row: "ssdl@K=30", Setting: map[string]any{"K": 30}, SettingText: "K=30", How: "fixed", Candidates: 1},
		{Spec: "table1", Row: "=other"},
	}}
	var got []string
	for _, l := range exportCSV(t, st, sel) {
		got = append(got, strings.Join([]string{l["metric"], l["spec"], l["row"], l["setting"], l["selection"]}, " "))
	}
	if d := cmp.Diff([]string{"accuracy table1 ssdl@K=30 K=30 fixed", "test_unconverged table1 ssdl@K=30 K=30 fixed", "accuracy table1 '=other  ", "test_unconverged table1 '=other  "}, got); d != "" {
		t.Errorf("lines:\n%s", d)
	}
	var b bytes.Buffer
	if err := JSONLines(t.Context(), &b, st, sel); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(b.String(), "\n")
	var l struct {
		Spec, Row string
		Setting   map[string]any
	}
	if err := json.Unmarshal([]byte(first), &l); err != nil || l.Spec != "table1" || l.Row != "ssdl@K=30" || l.Setting["K"] != 30.0 {
		t.Errorf("%+v, %v", l, err)
	}
}
