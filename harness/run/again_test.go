package run

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ssdl/harness/store"
)

// sources are those of the program; edit changes a file of them.
func sources(t *testing.T, file, old, new string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, "methods", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".s") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if name == file {
			if strings.Count(string(text), old) == 0 {
				t.Fatalf("%q is not in %s", old, file)
			}
			text = []byte(strings.Replace(string(text), old, new, 1))
		}
		out[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Results of other code count until they are run again, which says why; comments change nothing.
func TestRerunStale(t *testing.T) {
	b := newBench(t, threeRows)
	b.runner.Code = &Code{Sources: sources(t, "", "", "")}
	first, _ := b.run(t)

	b.runner.Code = &Code{Sources: sources(t, "methods/represent/crc.go", "package represent", "// Nothing new.\npackage represent")}
	if p, sum := b.run(t); sum.Ran != 0 || p.Counts()[Stale] != 0 {
		t.Fatalf("after a comment: %+v, %v", sum, p.Counts())
	}
	b.runner.Code = &Code{Sources: sources(t, "methods/represent/crc.go", "func (c CRC) Fit(", "func (CRC) more() {}\n\nfunc (c CRC) Fit(")}
	p, sum := b.run(t)
	if sum.Ran != 0 || p.Counts()[Stale] != 15 || p.Counts()[Cached] != 6 { // CRC's 12 tuning and 3 reported jobs
		t.Fatalf("after an edit: %+v, %v", sum, p.Counts())
	}
	task := p.Cells[0].Final[0]
	if task.Result == nil || !strings.Contains(task.Reason, "code of the method changed") {
		t.Fatalf("%s: %s", task.State, task.Reason)
	}
	b.runner.Again.Stale = true
	p, sum = b.run(t)
	if sum.Ran != 15 || p.Counts()[Cached] != 21 {
		t.Fatalf("run again: %+v, %v", sum, p.Counts())
	}
	if _, sum = b.run(t); sum.Ran != 0 {
		t.Fatalf("run again twice: %+v", sum)
	}
	was, is := first.Cells[0].Final[0].Result, p.Cells[0].Final[0].Result
	_, run, err := b.runner.Store.RunByUID(t.Context(), is.UID)
	if err != nil || was.UID == is.UID || !strings.HasPrefix(run.Reason, "stale: code of the method changed") {
		t.Fatalf("%s after %s, because of %q: %v", is.UID, was.UID, run.Reason, err)
	}
	if _, _, err := b.runner.Store.RunByUID(t.Context(), was.UID); err != nil {
		t.Fatalf("the earlier run must stay: %v", err)
	}
}

// What failed is tried again on request, or with other code; what was interrupted always.
func TestRetry(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	b.runner.Code = &Code{Sources: sources(t, "", "", "")}
	b.runner.Timeout = time.Nanosecond
	if p, sum := b.run(t); sum.Failed != 3 || p.Counts()[Failed] != 3 {
		t.Fatalf("%+v", sum)
	}
	b.runner.Timeout = 0
	if p, sum := b.run(t); sum.Ran != 0 || p.Counts()[Failed] != 3 {
		t.Fatalf("without being asked: %+v, %v", sum, p.Counts())
	}
	b.runner.Code = &Code{Sources: sources(t, "methods/represent/src.go", "func (s SRC) Fit(", "func (s SRC) more() {}\n\nfunc (s SRC) Fit(")}
	p, err := Resolve(t.Context(), b.runner.Library, b.runner.Code, b.runner.Store, b.spec)
	if err != nil || p.Counts()[Retry] != 3 {
		t.Fatalf("with other code: %v, %v", p.Counts(), err)
	}
	b.runner.Code = &Code{Sources: sources(t, "", "", "")}
	b.runner.Again.Failed = true
	if _, sum := b.run(t); sum.OK != 3 {
		t.Fatalf("on request: %+v", sum)
	}

	c := newBench(t, threeRows)
	c.spec = mustSelect(t, c.spec, "src")
	p, err = Resolve(t.Context(), c.runner.Library, nil, c.runner.Store, c.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.runner.register(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, task := range p.Cells[0].Final {
		run := store.Run{UID: store.NewUID(), Status: store.StatusInterrupted, Error: context.Canceled.Error(), Started: time.Now()}
		if err := c.runner.Store.Record(t.Context(), task.Record, run); err != nil {
			t.Fatal(err)
		}
	}
	if p, sum := c.run(t); sum.OK != 3 || !strings.HasPrefix(reason(t, c, p), "retry: interrupted, 1×") {
		t.Fatalf("after an interruption: %+v, %q", sum, reason(t, c, p))
	}
}

func reason(t *testing.T, b *bench, p *Plan) string {
	t.Helper()
	_, run, err := b.runner.Store.RunByUID(t.Context(), p.Cells[0].Final[0].Result.UID)
	if err != nil {
		t.Fatal(err)
	}
	return run.Reason
}

// inconsistent writes what Mixed finds, "" for nothing.
func inconsistent(p *Plan, c *Cell) string {
	run := func(seed uint64, tuning bool) string {
		if tuning {
			return fmt.Sprintf("seed %d of its tuning", seed)
		}
		return fmt.Sprintf("seed %d", seed)
	}
	var parts []string
	for _, x := range p.Mixed(c) {
		switch {
		case x.WantFrom == OtherRun:
			parts = append(parts, fmt.Sprintf("differ in the %s: %s with %s, %s with %s", x.Kind, x.Want, run(x.WantSeed, x.WantTuning), x.Is, run(x.Seed, x.Tuning)))
		case x.WantFrom == LocalData && x.Want == "":
			parts = append(parts, fmt.Sprintf("%s: %s, unknown", x.Kind, x.WantFrom))
		default:
			parts = append(parts, fmt.Sprintf("%s: %s %s", x.Kind, x.WantFrom, x.Want))
		}
	}
	return strings.Join(parts, "; ")
}

// Runs of different code, architecture or BLAS are no mean; the program's own kernels are one.
func TestMixed(t *testing.T) {
	b := newBench(t, threeRows)
	p, _ := b.run(t)
	c := p.Cells[1]
	if why := inconsistent(p, c); why != "" {
		t.Fatalf("runs of one call: %s", why)
	}
	set := func(i int, code, arch, blas string) {
		id := code + arch + blas
		p.envs[id] = map[string]string{"arch": arch, "blas": blas}
		c.Final[i].Result.MethodCode, c.Final[i].Result.EnvID = code, id
	}
	for _, x := range []struct{ code, arch, blas, want string }{
		{"a", "amd64", "go-avx512", ""},
		{"a", "amd64", "go-avx2", ""},
		{"", "amd64", "go", ""},
		{"b", "amd64", "go-avx512", "differ in the code of the method: a with seed 1000, b with seed 1002"},
		{"a", "arm64", "go", "differ in the architecture"},
		{"a", "amd64", "openblas", "differ in the BLAS"},
	} {
		set(0, "a", "amd64", "go-avx512")
		set(1, "a", "amd64", "go-avx512")
		set(2, x.code, x.arch, x.blas)
		if why := inconsistent(p, c); why == "" != (x.want == "") || !strings.Contains(why, x.want) {
			t.Errorf("%+v: %q", x, why)
		}
	}
}

// By name the store tells what it tells with the data at hand, and tells it without them.
func TestGlance(t *testing.T) {
	b := newBench(t, threeRows)
	want, _ := b.run(t)
	look := func() *Plan {
		t.Helper()
		p, err := Glance(t.Context(), b.runner.Library, b.runner.Store, b.spec)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got := look()
	if !maps.Equal(b.results(t, want), b.results(t, got)) {
		t.Fatal("the results differ from those of Resolve")
	}
	for i, c := range got.Cells {
		if c.Chosen != want.Cells[i].Chosen || inconsistent(got, c) != "" {
			t.Errorf("%s: candidate %d, want %d; %s", c.Row.ID, c.Chosen, want.Cells[i].Chosen, inconsistent(got, c))
		}
	}
	// A seed of another version of the method, as another program left it. That of this program
	// counts, whatever the clock said.
	other := func(task Task, key string) {
		t.Helper()
		job, run, err := b.runner.Store.RunByUID(t.Context(), task.Result.UID)
		if err != nil {
			t.Fatal(err)
		}
		job.Identity = bytes.Replace(job.Identity, []byte(`"version":`), []byte(`"version":9`), 1)
		job.Key = key
		run.UID, run.JobKey, run.Started = store.NewUID(), "", run.Started.Add(time.Hour)
		if err := b.runner.Store.Record(t.Context(), job, run); err != nil {
			t.Fatal(err)
		}
	}
	other(want.Cells[1].Final[2], "0123")
	got = look()
	if why := inconsistent(got, got.Cells[1]); why != "" || got.Cells[1].Final[2].Result.UID != want.Cells[1].Final[2].Result.UID {
		t.Errorf("with a result of another version beside: run %s, %q", got.Cells[1].Final[2].Result.UID, why)
	}
	// It counts where there is no other, and is no mean with the rest.
	more := mustSeeds(t, b.spec, 1000, 1001, 1002, 1003)
	b.spec = mustSeeds(t, b.spec, 1003)
	added, _ := b.run(t)
	lone := added.Cells[1].Final[0]
	other(lone, "4567")
	path := filepath.Join(b.runner.Library.Roots[0], "runs.db")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`DELETE FROM runs WHERE uid = ?`, lone.Result.UID); err != nil {
		t.Fatal(err)
	}
	b.spec = more
	got = look()
	if why := inconsistent(got, got.Cells[1]); !strings.Contains(why, "differ in the version") {
		t.Errorf("two versions in a cell: %q", why)
	}
	if why := inconsistent(got, got.Cells[0]); why != "" {
		t.Errorf("the other cell: %s", why)
	}
}
