package run

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/executor"
	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// otherSet writes a data set that differs from that of writeSet in one number.
func otherSet(t *testing.T, name string) *executor.Library {
	t.Helper()
	dir := t.TempDir()
	writeSet(t, dir, name)
	path := filepath.Join(dir, name+".csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(text, []byte(","))
	if err := os.WriteFile(path, append([]byte("0.5,"), rest...), 0o644); err != nil {
		t.Fatal(err)
	}
	return &executor.Library{Roots: []string{dir}}
}

// uids lists the final runs by row and seed.
func uids(p *Plan) map[string][]string {
	out := map[string][]string{}
	for _, c := range p.Cells {
		for _, task := range c.Final {
			uid := ""
			if task.Result != nil {
				uid = task.Result.UID
			}
			out[c.Row.ID] = append(out[c.Row.ID], uid)
		}
	}
	return out
}

// Without local data a plan uses the recorded data; it has nothing to run.
func TestPlanWithoutTheData(t *testing.T) {
	b := newBench(t, threeRows)
	whole := b.spec
	b.spec = mustSeeds(t, whole, 1000, 1001)
	b.run(t)
	b.spec = mustSelect(t, whole, "src", "hl+ssdl")
	want, _ := b.run(t)
	for _, lib := range []*executor.Library{{}, {Roots: b.runner.Library.Roots, RecordedOnly: true}} {
		got := b.resolve(t, lib)
		if d := cmp.Diff(uids(want), uids(got)); d != "" {
			t.Errorf("(-with the data +without):\n%s", d)
		}
	}
	b.spec = whole
	p := b.resolve(t, &executor.Library{})
	if n := p.Counts(); n[NoData] != 4 || n[Cached] != 8+6 || n[Pending] != 3 || len(p.Todo(RetryPolicy{})) != 0 {
		t.Errorf("with a seed that was not run: %v, %d to do", n, len(p.Todo(RetryPolicy{})))
	}
	b.spec = mustSeeds(t, whole, 7)
	if n := b.resolve(t, &executor.Library{}).Counts(); n[NoData] != 4+2 {
		t.Errorf("of a split that was never drawn: %v", n)
	}
}

// Of two data sets of one name a plan uses the local one, or else the one recorded last.
func TestTwoDataSetsOfOneName(t *testing.T) {
	b := newBench(t, threeRows)
	mine, theirs := b.runner.Library, otherSet(t, "tiny")
	first, _ := b.run(t)
	b.runner.Library = theirs
	second, sum := b.run(t)
	if sum.Ran != 21 {
		t.Fatalf("on other data: %+v", sum)
	}
	check := func(what string, lib *executor.Library, want *Plan) {
		t.Helper()
		if d := cmp.Diff(uids(want), uids(b.resolve(t, lib))); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	check("the first is local", mine, first)
	check("the second is local", theirs, second)
	check("neither is", &executor.Library{}, second)
	b.runner.Library = mine
	if _, sum := b.run(t); sum.Ran != 0 {
		t.Fatalf("back on the first: %+v", sum)
	}
	check("neither is, and the first was planned last", &executor.Library{}, first)
}

// A column shows one data set, also if others of its name have runs.
func TestColumnsAreOfOneDataSet(t *testing.T) {
	b := newBench(t, threeRows)
	mine, theirs, whole := b.runner.Library, otherSet(t, "tiny"), b.spec
	b.spec = mustSelect(t, whole, "crc", "hl+ssdl")
	b.run(t)
	b.runner.Library, b.spec = theirs, mustSelect(t, whole, "src")
	b.run(t)
	b.spec = whole
	for what, x := range map[string]struct {
		lib  *executor.Library
		want map[State]int
	}{
		"nothing local":    {&executor.Library{}, map[State]int{Cached: 3, NoData: 12 + 3, Pending: 3}},
		"the first local":  {mine, map[State]int{Cached: 18, Changed: 3}},
		"the second local": {theirs, map[State]int{Cached: 3, Changed: 12 + 3, Pending: 3}},
	} {
		p := b.resolve(t, x.lib)
		if got := p.Counts(); !maps.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", what, got, x.want)
		}
		for _, c := range p.Cells {
			for _, task := range c.Final {
				if task.State == Changed && (len(task.Changes) != 1 || task.Changes[0].What != "data") {
					t.Errorf("%s: %s changed by %+v", what, executor.Describe(task.Job), task.Changes)
				}
			}
		}
	}
}

// A renamed data set keeps its results.
func TestRenamedDataSet(t *testing.T) {
	b := newBench(t, threeRows)
	want, _ := b.run(t)
	src := filepath.Join(b.runner.Library.Roots[0], "tiny.csv")
	dir := t.TempDir()
	if err := os.Rename(src, filepath.Join(dir, "small.csv")); err != nil {
		t.Fatal(err)
	}
	b.runner.Library = &executor.Library{Roots: []string{dir}}
	var err error
	if b.spec, err = b.spec.Select(spec.Filter{Datasets: []string{"small"}}); err != nil {
		t.Fatal(err)
	}
	if p := b.resolve(t, &executor.Library{}); !p.Cells[0].NoData() {
		t.Errorf("under a name that nobody registered: %v", p.Counts())
	}
	if _, sum := b.run(t); sum.Ran != 0 {
		t.Fatalf("computed again: %+v", sum)
	}
	for what, lib := range map[string]*executor.Library{"local": b.runner.Library, "absent": {}} {
		if d := cmp.Diff(uids(want), uids(b.resolve(t, lib))); d != "" {
			t.Errorf("%s (-before +renamed):\n%s", what, d)
		}
	}
}

// An index file with the split that was drawn finds the results of the drawn one.
func TestSplitFileInPlaceOfADrawnSplit(t *testing.T) {
	const rows = "  - method: crc\n  - method: src\n    params: {lambda: 2^-5}\n"
	drawn := newBench(t, "name: drawn\ndatasets: [tiny]\nseeds: [1000]\nsplit: {kind: class, train: 0.7, labels: 0.4}\nselect: fixed\nrows:\n"+rows)
	want, _ := drawn.run(t)
	b, _ := fileBench(t, rows)
	b.runner.Store, b.spec = drawn.runner.Store, mustSeeds(t, b.spec, 1000)
	p, sum := b.run(t)
	if d := cmp.Diff(uids(want), uids(p)); d != "" || sum.Ran != 0 {
		t.Errorf("%+v (-drawn +file):\n%s", sum, d)
	}
}

// A run with another share of labels is another question: a share that was never run is new, not changed.
func TestOtherShareOfLabels(t *testing.T) {
	src := "name: rate\ndatasets: [tiny]\nseeds: 1000\nsplit: {kind: class, train: 0.7, labels: 0.4}\nmetric: accuracy\nselect: fixed\n" +
		"rows:\n  - {method: crc, params: {lambda: 2^-5}}\n"
	b := newBench(t, src)
	b.run(t)
	swept, err := spec.Parse("test.yaml", []byte(strings.Replace(src, "labels: 0.4", "labels: {grid: [0.2, 0.4]}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	b.spec = swept
	if n := b.resolve(t, b.reopened()).Counts(); n[New] != 1 || n[Cached] != 1 {
		t.Errorf("of two shares of labels, one of which was run: %v", n)
	}
}

// A replaced index file makes another split: the results on the earlier one are found again when it is back,
// and no cell has runs on both.
func TestReplacedSplitFile(t *testing.T) {
	b, path := fileBench(t, "  - method: crc\n  - method: src\n    params: {lambda: 2^-5}\n")
	whole := b.spec
	b.spec = mustSeeds(t, whole, 1000)
	first, _ := b.run(t)
	b.writeSplit(t, path, 7)
	b.runner.Library, b.spec = b.reopened(), mustSeeds(t, whole, 1001)
	b.run(t)
	b.spec = mustSeeds(t, whole, 1000, 1001)
	if n := b.resolve(t, b.reopened()).Counts(); n[Changed] != 2 || n[Cached] != 2 {
		t.Errorf("with the second file: %v", n)
	}
	second, sum := b.run(t)
	if sum.Ran != 2 {
		t.Fatalf("run again: %+v", sum)
	}
	b.spec = mustSeeds(t, whole, 1000)
	for _, x := range []struct {
		drawn uint64
		want  *Plan
	}{{7, second}, {1000, first}} {
		b.writeSplit(t, path, x.drawn)
		for i, c := range b.resolve(t, b.reopened()).Cells {
			if is, want := c.Final[0].Result.UID, x.want.Cells[i].Final[0].Result.UID; is != want {
				t.Errorf("with the file of seed %d %s has run %s, want %s", x.drawn, c.Row.ID, is, want)
			}
		}
	}
	b.spec = mustSeeds(t, whole, 1000, 1001)
	if d := cmp.Diff(uids(second), uids(b.resolve(t, &executor.Library{}))); d != "" {
		t.Errorf("without the data, on the split that was registered last:\n%s", d)
	}
}

// A result of another version of a method is no result of this one.
func TestOtherVersion(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p := b.resolve(t, b.runner.Library)
	if err := p.register(t.Context(), b.runner.Library, b.runner.Store); err != nil {
		t.Fatal(err)
	}
	task := p.Cells[0].Final[0]
	old := task.record()
	old.Method.Version = 1
	run := executor.Execute(t.Context(), executor.Input{Job: task.Job, Set: p.Sets["tiny"], Split: mustSplit(t, b, task.Job)})
	if err := b.runner.Store.Record(t.Context(), old, run); err != nil {
		t.Fatal(err)
	}
	p = b.resolve(t, b.runner.Library)
	got := p.Cells[0].Final[0]
	if want := []job.Change{{What: "method version", Was: "1", Is: "2"}}; got.State != Changed || got.Result != nil || !cmp.Equal(got.Changes, want) {
		t.Errorf("%s: %+v", got.State, got.Changes)
	}
	if p.Cells[0].Final[1].State != New {
		t.Errorf("the next seed is %s", p.Cells[0].Final[1].State)
	}
}

// An import does not change which data set a name stands for.
func TestImportedNames(t *testing.T) {
	mine, theirs := newBench(t, threeRows), newBench(t, threeRows)
	theirs.runner.Library = otherSet(t, "tiny")
	want, _ := mine.run(t)
	theirs.run(t)
	path := filepath.Join(t.TempDir(), "theirs.db")
	if err := theirs.runner.Store.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.runner.Store.Merge(t.Context(), store.MergeOptions{}, store.Source{Name: "theirs.db", Path: path}); err != nil {
		t.Fatal(err)
	}
	for what, lib := range map[string]*executor.Library{"local": mine.runner.Library, "absent": {}} {
		if d := cmp.Diff(uids(want), uids(mine.resolve(t, lib))); d != "" {
			t.Errorf("%s (-before +after the import):\n%s", what, d)
		}
	}
	fresh := newBench(t, threeRows)
	if _, err := fresh.runner.Store.Merge(t.Context(), store.MergeOptions{}, store.Source{Name: "theirs.db", Path: path}); err != nil {
		t.Fatal(err)
	}
	if n := fresh.resolve(t, &executor.Library{}).Counts()[Cached]; n != 21 {
		t.Errorf("%d of 21 results found in an empty store after the import", n)
	}
}
