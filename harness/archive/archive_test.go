package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
	"ssdl/harness/store"
)

var start = time.Date(2026, 11, 3, 9, 30, 0, 123456000, time.UTC)

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// someJob is a job as a spec makes it.
func someJob(method, pretext string, seed uint64) store.Job {
	j := store.Job{Dataset: "sports8", Job: job.Job{
		DatasetHash: "d0", SplitHash: "50", Seed: seed, Eval: job.EvalTest, Protocol: 1,
		Method: job.Part{Name: method, Version: 2, Params: map[string]any{"K": 30, "lambda": 0.1, "variant": "=cmd()"}},
	}}
	if pretext != "" {
		j.Pretext = job.Part{Name: pretext, Version: 1, Params: map[string]any{"p": 2.2}}
	}
	return j
}

// someRun is a run that took two seconds.
func someRun() store.Run {
	return store.Run{
		UID: store.NewUID(), Status: store.StatusOK, Started: start, Wall: 2 * time.Second, CPU: 3 * time.Second, Peak: 1 << 20,
		Env:         map[string]string{"vcs.revision": "c0ffee", "go": "go1.26", "os": "linux", "arch": "amd64"},
		Metrics:     map[string]float64{"accuracy": 0.75, "test_unconverged": 0},
		Series:      []store.Point{{Name: "objective", Iteration: 0, Value: 3.5}, {Name: "objective", Iteration: 1, Value: 0.5}, {Name: "test_unconverged", Iteration: 0, Value: 0}},
		Predictions: []int{0, 1}, Code: job.Fingerprints{Method: "aa"},
	}
}

// record records a run as change leaves it, and returns its uid.
func record(t testing.TB, st *store.Store, j store.Job, change func(*store.Run)) string {
	t.Helper()
	r := someRun()
	if change != nil {
		change(&r)
	}
	if err := st.Record(t.Context(), j, r); err != nil {
		t.Fatal(err)
	}
	return r.UID
}

func fails(status store.Status, text string) func(*store.Run) {
	return func(r *store.Run) {
		r.Status, r.Error, r.Metrics, r.Series, r.Predictions = status, text, nil, nil, nil
	}
}

// newStore holds three good runs, of two states of the program, and a failed one.
func newStore(t testing.TB) *store.Store {
	t.Helper()
	return newStoreAt(t, filepath.Join(t.TempDir(), "runs.db"))
}

func newStoreAt(t testing.TB, path string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if err := st.Register(t.Context(),
		[]store.Dataset{{Hash: "d0", Name: "sports8", Samples: 3, Dim: 2, Classes: 2, Source: "made up"}},
		[]store.NamedSplit{{
			Split: store.Split{Hash: "50", Dataset: "d0", Kind: "class", Seed: 1, Train: 1, Labeled: 1, Test: 2},
			Asked: store.Asked{How: "class train=0.7 labels=0.4", Seed: 1},
		}},
	); err != nil {
		t.Fatal(err)
	}
	record(t, st, someJob("ssdl", "pahl", 1000), nil)
	record(t, st, someJob("ssdl", "pahl", 1001), func(r *store.Run) {
		r.Started = start.Add(time.Hour)
		r.Env["commit"], r.Env["dirty"] = "decade", "0123456789abcdef"
	})
	record(t, st, someJob("src", "", 1000), func(r *store.Run) { r.Started = start.Add(-time.Hour) })
	record(t, st, someJob("src", "", 1001), fails(store.StatusTimeout, "too long\nby far"))
	return st
}

// someSpecs are two specs of the runs of newStore.
func someSpecs() []Spec {
	split := File{"splits/sports8-1000-50.json", []byte("{}\n")}
	return []Spec{
		{
			Name: "table1", Title: "Recognition <rates> & more", Source: []byte("name: table1\n"), Command: "ssdl run table1",
			Jobs: Selection{
				someJob("ssdl", "pahl", 1000).Key(): {},
				someJob("src", "", 1001).Key():      {},
			},
			Splits:  []File{split},
			Results: []File{{"tables/table1.csv", []byte("a,b\n")}, {"figures/table1.svg", []byte("<svg/>")}, {"tables/table1.html", []byte("<p>a</p>")}},
		},
		{
			Name: "table2", Source: []byte("name: table2\n"), Command: "ssdl run table2",
			Jobs:   Selection{someJob("ssdl", "pahl", 1001).Key(): {}},
			Splits: []File{split},
		},
	}
}

func write(t testing.TB, st *store.Store, specs []Spec) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := Write(t.Context(), path, st, specs, []byte("<!DOCTYPE html>"), right, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

func TestArchive(t *testing.T) {
	st := newStore(t)
	path := write(t, st, someSpecs())
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if want := start.Add(time.Hour + 2*time.Second).Truncate(time.Second); !f.Modified.Equal(want) {
			t.Errorf("%s is of %v, want the end of the last run, %v", f.Name, f.Modified, want)
		}
	}
	if d := cmp.Diff([]string{
		metadataFile, manifestFile, StoreFile, "figures/table1.svg", previewFile, "specs/table1.yaml", "specs/table2.yaml", "splits/sports8-1000-50.json", "tables/table1.csv", "tables/table1.html",
	}, names); d != "" {
		t.Errorf("files:\n%s", d)
	}

	one, _ := os.ReadFile(path)
	two, _ := os.ReadFile(write(t, st, someSpecs()))
	if !bytes.Equal(one, two) {
		t.Error("the same runs do not give the same archive")
	}

	dir := t.TempDir()
	got, err := Extract(t.Context(), path, dir, TrustedKeys{})
	if err != nil || got.SHA256 != sum(one) || got.Signature != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	again, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "again.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	m, err := again.Merge(t.Context(), store.Source{Name: path, Path: filepath.Join(dir, StoreFile)})
	if err != nil || m.Runs != 4 {
		t.Errorf("imported %+v, %v", m, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("beside the archive there are %v", entries)
	}
}

// TestArchiveBesideAWriter: the metadata describe the copy that lies beside them, whatever is
// recorded meanwhile.
func TestArchiveBesideAWriter(t *testing.T) {
	st := newStore(t)
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	defer writer.Wait()
	defer stop()
	recorded := make(chan bool, 1) // at least one since it was last emptied
	writer.Go(func() {
		for seed := uint64(2000); ctx.Err() == nil; seed++ {
			if err := st.Record(t.Context(), someJob("ssdl", "pahl", seed), someRun()); err != nil {
				t.Error(err)
			}
			select {
			case recorded <- true:
			default:
			}
		}
	})
	for range 3 {
		<-recorded
		dir := t.TempDir()
		if _, err := Extract(t.Context(), write(t, st, nil), dir, TrustedKeys{}); err != nil {
			t.Fatal(err)
		}
		copied, err := store.OpenReadOnly(t.Context(), filepath.Join(dir, StoreFile))
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		runs := 0
		if err := copied.Each(t.Context(), nil, func(store.RunRecord) error { runs++; return nil }); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, metadataFile))
		if want := fmt.Sprintf(`"description": "%d runs (1 of them failed)`, runs); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the copy has %d runs, and the metadata do not say %s (%v)", runs, want, err)
		}
	}
}

// TestCrate goes through what RO-Crate 1.1, the Process Run Crate and the Workflow Run
// Crate profile (0.5) require.
func TestCrate(t *testing.T) {
	for _, specs := range [][]Spec{nil, someSpecs()} {
		path := write(t, newStore(t), specs)
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		content := map[string][]byte{}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content[f.Name], err = io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
		}
		var doc struct {
			Context []any            `json:"@context"`
			Graph   []map[string]any `json:"@graph"`
		}
		if err := json.Unmarshal(content[metadataFile], &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Context[0] != "https://w3id.org/ro/crate/1.1/context" {
			t.Errorf("context %v", doc.Context)
		}
		byID := map[string]map[string]any{}
		for _, e := range doc.Graph {
			id, ok := e["@id"].(string)
			if !ok || e["@type"] == nil || byID[id] != nil {
				t.Errorf("entity without @id or @type, or twice: %v", e)
			}
			byID[id] = e
		}
		is := func(id, kind string) bool { return slices.Contains(texts(byID[id]["@type"]), kind) }

		// RO-Crate: the descriptor, the root, the data entities.
		descriptor, root := byID["ro-crate-metadata.json"], byID["./"]
		if !is("ro-crate-metadata.json", "CreativeWork") || !slices.Contains(targets(descriptor["conformsTo"]), "https://w3id.org/ro/crate/1.1") ||
			!slices.Equal(targets(descriptor["about"]), []string{"./"}) {
			t.Errorf("descriptor %v", descriptor)
		}
		if !is("./", "Dataset") || root["name"] == "" || root["description"] == "" || root["datePublished"] != "2026-11-03T10:30:02.123Z" {
			t.Errorf("root %v", root)
		}
		if l := targets(root["license"]); len(l) != 1 || byID[l[0]]["name"] != "MIT License" {
			t.Errorf("licence %v", root["license"])
		}
		parts := targets(root["hasPart"])
		for name, c := range content {
			if name == metadataFile || isSeal(name) {
				continue
			}
			e := byID[name]
			if !slices.Contains(parts, name) || !is(name, "File") || e["sha256"] != sum(c) || e["contentSize"] != strconv.Itoa(len(c)) || e["encodingFormat"] == nil {
				t.Errorf("%s is described as %v", name, e)
			}
		}
		if len(parts) != len(content)-2 {
			t.Errorf("parts %v", parts)
		}

		// The profiles.
		profiles := []string{"https://w3id.org/ro/wfrun/process/0.5"}
		if specs != nil {
			profiles = append(profiles, "https://w3id.org/ro/wfrun/workflow/0.5", "https://w3id.org/workflowhub/workflow-ro-crate/1.0")
		}
		if got := targets(root["conformsTo"]); !slices.Equal(got, profiles) {
			t.Errorf("conforms to %v", got)
		}
		for _, id := range profiles {
			if !is(id, "CreativeWork") || byID[id]["version"] == nil {
				t.Errorf("profile %s is %v", id, byID[id])
			}
		}
		actions, ofMain := 0, false
		for id, e := range byID {
			if !is(id, "CreateAction") {
				continue
			}
			actions++
			if !slices.Contains(targets(root["mentions"]), id) {
				t.Errorf("action %s is not mentioned", id)
			}
			instrument := targets(e["instrument"])
			if len(instrument) != 1 || !is(instrument[0], "SoftwareApplication") && !is(instrument[0], "ComputationalWorkflow") {
				t.Errorf("instrument of %s: %v", id, e["instrument"])
			}
			ofMain = ofMain || slices.Equal(instrument, targets(root["mainEntity"]))
			if len(targets(e["object"])) == 0 || len(targets(e["result"])) == 0 {
				t.Errorf("%s has no object or no result: %v", id, e)
			}
			from, err1 := time.Parse(time.RFC3339, e["startTime"].(string))
			to, err2 := time.Parse(time.RFC3339, e["endTime"].(string))
			if err1 != nil || err2 != nil || !to.After(from) {
				t.Errorf("%s took place from %v to %v", id, e["startTime"], e["endTime"])
			}
		}
		if want := 2 + len(specs); actions != want { // the states of the program, and the specs
			t.Errorf("%d actions, want %d", actions, want)
		}
		if specs != nil {
			main := targets(root["mainEntity"])
			if !slices.Equal(main, []string{"specs/table1.yaml"}) || !ofMain || !is(main[0], "SoftwareSourceCode") || !is(targets(byID[main[0]]["programmingLanguage"])[0], "ComputerLanguage") {
				t.Errorf("main workflow %v: %v", main, byID["specs/table1.yaml"])
			}
			table1 := byID["#run-table1"]
			if table1["startTime"] != "2026-11-03T09:30:00.123Z" || table1["endTime"] != "2026-11-03T09:30:02.123Z" {
				t.Errorf("table1 took place %v to %v", table1["startTime"], table1["endTime"])
			}
			if want := []string{"splits/sports8-1000-50.json", "#data-d0"}; !slices.Equal(targets(table1["object"]), want) {
				t.Errorf("table1 is made of %v", table1["object"])
			}
			if want := []string{"tables/table1.csv", "figures/table1.svg", "tables/table1.html", StoreFile}; !slices.Equal(targets(table1["result"]), want) {
				t.Errorf("table1 made %v", table1["result"])
			}
		}
		if byID["#ssdl-decade+dirty.0123456789ab"] == nil {
			t.Error("the changed program is not told from its commit")
		}
		if e := byID["#ssdl-c0ffee"]; e == nil || e["softwareVersion"] != "c0ffee" || e["name"] != "ssdl" {
			t.Errorf("program %v", e)
		}

		// Whatever is referred to is there.
		for id, e := range byID {
			for property, v := range e {
				for _, to := range targets(v) {
					if byID[to] == nil && to != "https://w3id.org/ro/crate/1.1" && to != "http://schema.org/CompletedActionStatus" {
						t.Errorf("%s of %s refers to %s, which is not described", property, id, to)
					}
				}
			}
		}
	}
}

// texts are the values of a property that is a text or a list of them.
func texts(v any) (list []string) {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	all, _ := v.([]any)
	for _, x := range all {
		if s, ok := x.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

// targets are the ids that a property refers to.
func targets(v any) (ids []string) {
	if m, ok := v.(map[string]any); ok {
		v = []any{m}
	}
	all, _ := v.([]any)
	for _, x := range all {
		if m, ok := x.(map[string]any); ok {
			ids = append(ids, m["@id"].(string))
		}
	}
	return ids
}

func TestWriteRefuses(t *testing.T) {
	st := newStore(t)
	path := filepath.Join(t.TempDir(), "a.zip")
	none := someSpecs()
	none[1].Jobs = Selection{"nope": {}}
	for name, tc := range map[string]struct {
		specs []Spec
		wants string
	}{
		"no runs of a spec": {none, "there are no runs of it"},
		"a file elsewhere":  {[]Spec{{Name: "a", Jobs: someSpecs()[0].Jobs, Results: []File{{Name: "../x"}}}}, `"../x" cannot be`},
		"a spec elsewhere":  {[]Spec{{Name: "../../a", Jobs: someSpecs()[0].Jobs}}, "cannot be the name"},
		"another manifest":  {[]Spec{{Name: "a", Jobs: someSpecs()[0].Jobs, Results: []File{{Name: manifestFile}}}}, `"SHA256SUMS" cannot be`},
		"another store":     {[]Spec{{Name: "a", Jobs: someSpecs()[0].Jobs, Results: []File{{Name: StoreFile}}}}, `"runs.db" cannot be`},
		"two files": {[]Spec{
			{Name: "a", Jobs: someSpecs()[0].Jobs, Results: []File{{"tables/x", []byte("1")}}},
			{Name: "b", Jobs: someSpecs()[0].Jobs, Results: []File{{"tables/x", []byte("2")}}},
		}, "two specs make a file tables/x"},
	} {
		wantError(t, Write(t.Context(), path, st, tc.specs, nil, right, nil), tc.wants)
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) > 0 {
			t.Fatalf("%s: %v is left", name, entries)
		}
	}
	empty, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "empty.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if err := Write(t.Context(), path, empty, nil, nil, right, nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty store: %v", err)
	}
}

// A spec of which runs are missing is said to be neither completed nor failed.
func TestCrateOfUnfinishedRuns(t *testing.T) {
	specs := someSpecs()
	specs[0].Missing = 3
	z, err := zip.OpenReader(write(t, newStore(t), specs))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(metadataFile)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Graph []map[string]any `json:"@graph"`
	}
	if err := json.NewDecoder(f).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.Graph {
		switch e["@id"] {
		case "#run-table1":
			if e["actionStatus"] != nil || e["description"] != "Made by: ssdl run table1; 3 of its runs are not there yet" {
				t.Errorf("unfinished: %v", e)
			}
		case "#run-table2":
			if e["actionStatus"] == nil || e["description"] != "Made by: ssdl run table2" {
				t.Errorf("finished: %v", e)
			}
		}
	}
}

// right finds nothing wrong.
func right(store.RunRecord) error { return nil }

// No archive and no export is made of a run that is not as it was recorded; no archive of one that is
// found wrong.
func TestWriteVerifies(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.zip")
	st := newStore(t)
	uid := record(t, st, someJob("liar", "", 1), func(r *store.Run) { r.Truth = []int{0, 0} })
	wrong := func(r store.RunRecord) error { return fmt.Errorf("run %s lies", r.Run.UID) }
	wantError(t, Write(t.Context(), out, st, nil, nil, wrong, nil), "run "+uid+" lies")

	path := filepath.Join(t.TempDir(), "runs.db")
	st = newStoreAt(t, path)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE metrics SET value = 0.999 WHERE name = 'accuracy'`); err != nil {
		t.Fatal(err)
	}
	wantError(t, Write(t.Context(), out, st, nil, nil, right, nil), "its record hash is", "the file was changed")
	var b bytes.Buffer
	wantError(t, CSV(t.Context(), &b, st, nil), "its record hash is")
	wantError(t, JSONLines(t.Context(), &b, st, nil), "its record hash is")
	_, err = MLflow(t.Context(), filepath.Join(t.TempDir(), "ml"), st, "", nil)
	wantError(t, err, "its record hash is")
	if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) > 0 {
		t.Errorf("%v is left", entries)
	}
}
