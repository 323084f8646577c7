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
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
	"ssdl/harness/store"
)

var start = time.Date(2026, 11, 3, 9, 30, 0, 123456000, time.UTC)

// someCommit is the name of a commit of git.
const someCommit = "c0ffee0000000000000000000000000000000001"

var (
	someAuthor    = Agent{"The authors", "https://example.org/authors"}
	someDocuments = []File{{"LICENSE", []byte("MIT\n")}, {"CITATION.cff", []byte("cff-version: 1.2.0\n")}}
)

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
		Env:         map[string]string{"vcs.revision": someCommit, "go": "go1.26", "os": "linux", "arch": "amd64"},
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
		r.Env["commit"], r.Env["dirty"] = someCommit, "0123456789abcdef"
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
			Name: "table1", Title: "Recognition <rates> & more", Datasets: []string{"sports8"}, Seeds: "1000..1001", Source: []byte("name: table1\n"), Command: "ssdl run table1",
			Jobs: Selection{
				someJob("ssdl", "pahl", 1000).Key(): {},
				someJob("src", "", 1001).Key():      {},
			},
			Splits:  []File{split},
			Results: []File{{"tables/table1.csv", []byte("a,b\n")}, {"figures/table1.svg", []byte("<svg/>")}, {"tables/table1.html", []byte("<p>a</p>")}},
		},
		{
			Name: "table2", Datasets: []string{"sports8"}, Seeds: "1001", Source: []byte("name: table2\n"), Command: "ssdl run table2",
			Jobs:   Selection{someJob("ssdl", "pahl", 1001).Key(): {}},
			Splits: []File{split},
		},
	}
}

func write(t testing.TB, st *store.Store, specs []Spec) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := Write(t.Context(), path, st, Package{Specs: specs, Preview: []byte("<!DOCTYPE html>"), Documents: someDocuments, Author: someAuthor}, right, nil); err != nil {
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
		metadataFile, manifestFile, StoreFile, "CITATION.cff", "LICENSE", readmeFile, "figures/table1.svg", previewFile, "specs/table1.yaml", "specs/table2.yaml", "splits/sports8-1000-50.json", "tables/table1.csv", "tables/table1.html",
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
	m, err := again.Merge(t.Context(), store.MergeOptions{}, store.Source{Name: path, Path: filepath.Join(dir, StoreFile)})
	if err != nil || m.Runs != 4 {
		t.Errorf("imported %+v, %v", m, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("beside the archive there are %v", entries)
	}
}

// TestArchiveBesideAWriter: the metadata describe the archived copy, although runs are recorded meanwhile.
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
		"another README":    {[]Spec{{Name: "a", Jobs: someSpecs()[0].Jobs, Results: []File{{Name: readmeFile}}}}, `"README.md" cannot be`},
		"two files": {[]Spec{
			{Name: "a", Jobs: someSpecs()[0].Jobs, Results: []File{{"tables/x", []byte("1")}}},
			{Name: "b", Jobs: someSpecs()[0].Jobs, Results: []File{{"tables/x", []byte("2")}}},
		}, "two specs make different files tables/x"},
	} {
		wantError(t, Write(t.Context(), path, st, Package{Specs: tc.specs}, right, nil), tc.wants)
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) > 0 {
			t.Fatalf("%s: %v is left", name, entries)
		}
	}
	empty, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "empty.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if err := Write(t.Context(), path, empty, Package{}, right, nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty store: %v", err)
	}
}

// The action of a spec with missing runs has no status.
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
			if e["actionStatus"] != nil || e["description"] != "Made by: ssdl run table1; 3 of its runs are missing" {
				t.Errorf("unfinished: %v", e)
			}
		case "#run-table2":
			if e["actionStatus"] == nil || e["description"] != "Made by: ssdl run table2" {
				t.Errorf("finished: %v", e)
			}
		}
	}
}

// right accepts every run.
func right(store.RunRecord) error { return nil }

// A damaged run stops an archive and an export; a run that verify refuses stops an archive.
func TestWriteVerifies(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.zip")
	st := newStore(t)
	uid := record(t, st, someJob("liar", "", 1), func(r *store.Run) { r.Truth = []int{0, 0} })
	wrong := func(r store.RunRecord) error { return fmt.Errorf("run %s lies", r.Run.UID) }
	wantError(t, Write(t.Context(), out, st, Package{}, wrong, nil), "run "+uid+" lies")

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
	wantError(t, Write(t.Context(), out, st, Package{}, right, nil), "its record hash is", "the file was changed")
	var b bytes.Buffer
	wantError(t, CSV(t.Context(), &b, st, nil), "its record hash is")
	wantError(t, JSONLines(t.Context(), &b, st, nil), "its record hash is")
	_, err = MLflow(t.Context(), filepath.Join(t.TempDir(), "ml"), st, "", nil)
	wantError(t, err, "its record hash is")
	if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) > 0 {
		t.Errorf("%v is left", entries)
	}
}
