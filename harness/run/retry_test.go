package run

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ssdl/harness/provenance"
	"ssdl/harness/store"
)

// sources are the sources of the program, with a file changed by edit.
func sources(t *testing.T, file, old, new string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	root := os.DirFS("../..")
	add := func(name string, d fs.DirEntry, err error) error {
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
	}
	for _, dir := range []string{"methods", "harness/protocol"} {
		if err := fs.WalkDir(root, dir, add); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A program that trains, scores or chooses differently has different code: all earlier results are stale.
func TestProtocolCode(t *testing.T) {
	b := newBench(t, threeRows)
	b.runner.Code = &provenance.Code{Sources: sources(t, "", "", "")}
	p, _ := b.run(t)
	for _, c := range p.Cells {
		for _, task := range c.Final {
			if task.Result.Code.Protocol == "" {
				t.Fatalf("%s has no fingerprint of the protocol", task.Job.Name())
			}
		}
	}
	b.runner.Code = &provenance.Code{Sources: sources(t, "harness/protocol/view.go", "Train: slices.Clone(in.Train)", "Train: slices.Clone(in.Test)")}
	p, sum := b.run(t)
	if n := p.Counts(); sum.Ran != 0 || n[Cached] != 0 || n[Stale] == 0 {
		t.Fatalf("%+v, %v", sum, n)
	}
	if r := p.Cells[0].Final[0].Reason(); !strings.HasPrefix(r, "protocol code ") {
		t.Errorf("stale for %q", r)
	}
	// Runs of both are no mean.
	b.runner.Retry.Stale = true
	b.spec = mustSelect(t, b.spec, "src")
	b.spec.Seeds = b.spec.Seeds[:1]
	b.run(t)
	b.spec.Seeds = append(b.spec.Seeds, 1001)
	b.runner.Retry.Stale = false
	p, _ = b.run(t)
	if got := p.Inconsistencies(p.Cells[0]); len(got) != 1 || got[0].Kind != provenance.ProtocolCode {
		t.Errorf("runs of two protocols: %+v", got)
	}
}

// Stale results stay current until a rerun, which records the reason; a change of comments makes none stale.
func TestRerunStale(t *testing.T) {
	b := newBench(t, threeRows)
	b.runner.Code = &provenance.Code{Sources: sources(t, "", "", "")}
	first, _ := b.run(t)

	b.runner.Code = &provenance.Code{Sources: sources(t, "methods/represent/crc.go", "package represent", "// Nothing new.\npackage represent")}
	if p, sum := b.run(t); sum.Ran != 0 || p.Counts()[Stale] != 0 {
		t.Fatalf("after a comment: %+v, %v", sum, p.Counts())
	}
	b.runner.Code = &provenance.Code{Sources: sources(t, "methods/represent/crc.go", "func (c CRC) Fit(", "func (CRC) more() {}\n\nfunc (c CRC) Fit(")}
	p, sum := b.run(t)
	if sum.Ran != 0 || p.Counts()[Stale] != 15 || p.Counts()[Cached] != 6 { // CRC's 12 tuning and 3 reported jobs
		t.Fatalf("after an edit: %+v, %v", sum, p.Counts())
	}
	task := p.Cells[0].Final[0]
	if task.Result == nil || !strings.HasPrefix(task.Reason(), "method code ") {
		t.Fatalf("%s: %s", task.State, task.Reason())
	}
	b.runner.Retry.Stale = true
	p, sum = b.run(t)
	if sum.Ran != 15 || p.Counts()[Cached] != 21 {
		t.Fatalf("run again: %+v, %v", sum, p.Counts())
	}
	if _, sum = b.run(t); sum.Ran != 0 {
		t.Fatalf("run again twice: %+v", sum)
	}
	was, is := first.Cells[0].Final[0].Result, p.Cells[0].Final[0].Result
	_, run, err := b.runner.Store.RunByUID(t.Context(), is.UID)
	if err != nil || was.UID == is.UID || !strings.HasPrefix(run.Reason, "stale: method code ") {
		t.Fatalf("%s after %s, because of %q: %v", is.UID, was.UID, run.Reason, err)
	}
	if _, _, err := b.runner.Store.RunByUID(t.Context(), was.UID); err != nil {
		t.Fatalf("the earlier run must stay: %v", err)
	}
}

// A failed job runs again on request, or with different code; an interrupted one always.
func TestRetry(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	b.runner.Code = &provenance.Code{Sources: sources(t, "", "", "")}
	b.runner.Timeout = time.Nanosecond
	if p, sum := b.run(t); sum.Failed != 3 || p.Counts()[Failed] != 3 {
		t.Fatalf("%+v", sum)
	}
	b.runner.Timeout = 0
	if p, sum := b.run(t); sum.Ran != 0 || p.Counts()[Failed] != 3 {
		t.Fatalf("without being asked: %+v, %v", sum, p.Counts())
	}
	b.runner.Code = &provenance.Code{Sources: sources(t, "methods/represent/src.go", "func (s SRC) Fit(", "func (s SRC) more() {}\n\nfunc (s SRC) Fit(")}
	p, err := Resolve(t.Context(), b.runner.Library, b.runner.Code, b.runner.Store, b.spec)
	if err != nil || p.Counts()[Retry] != 3 {
		t.Fatalf("with different code: %v, %v", p.Counts(), err)
	}
	b.runner.Code = &provenance.Code{Sources: sources(t, "", "", "")}
	b.runner.Retry.Failed = true
	if _, sum := b.run(t); sum.OK != 3 {
		t.Fatalf("on request: %+v", sum)
	}

	c := newBench(t, threeRows)
	c.spec = mustSelect(t, c.spec, "src")
	p, err = Resolve(t.Context(), c.runner.Library, nil, c.runner.Store, c.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.register(t.Context(), c.runner.Library, c.runner.Store); err != nil {
		t.Fatal(err)
	}
	for _, task := range p.Cells[0].Final {
		run := store.Run{UID: store.NewUID(), Status: store.StatusInterrupted, Error: context.Canceled.Error(), Started: time.Now()}
		if err := c.runner.Store.Record(t.Context(), task.record(), run); err != nil {
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
