package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/methods"
)

// otherSet writes a data set that differs from that of writeSet in one number.
func otherSet(t *testing.T, name string) *Library {
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
	return &Library{Roots: []string{dir}}
}

// Of several data sets of one name that at hand counts, whichever was run last.
func TestGlanceOfTheDataAtHand(t *testing.T) {
	b := newBench(t, threeRows)
	mine, theirs := b.runner.Library, otherSet(t, "tiny")
	first, _ := b.run(t)
	b.runner.Library = theirs
	second, sum := b.run(t)
	if sum.Ran != 21 {
		t.Fatalf("on other data: %+v", sum)
	}
	for what, x := range map[string]struct {
		lib  *Library
		want *Plan
	}{
		"the first": {mine, first}, "the second": {theirs, second},
		"neither at hand, so the latest": {&Library{}, second},
	} {
		got, err := Glance(t.Context(), x.lib, b.runner.Store, b.spec)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range got.Cells {
			if c.Chosen != x.want.Cells[i].Chosen || inconsistent(got, c) != "" {
				t.Errorf("%s: %s: candidate %d, want %d; %q", what, c.Row.ID, c.Chosen, x.want.Cells[i].Chosen, inconsistent(got, c))
			}
			for k := range c.Final {
				if is, want := c.Final[k].Result.UID, x.want.Cells[i].Final[k].Result.UID; is != want {
					t.Errorf("%s: %s: run %s, want %s", what, c.Row.ID, is, want)
				}
			}
		}
	}
}

// A data set that got another name has its results still, and is not computed again.
func TestGlanceOfRenamedData(t *testing.T) {
	b := newBench(t, threeRows)
	want, _ := b.run(t)
	src := filepath.Join(b.runner.Library.Roots[0], "tiny.csv")
	dir := t.TempDir()
	if err := os.Rename(src, filepath.Join(dir, "small.csv")); err != nil {
		t.Fatal(err)
	}
	b.runner.Library = &Library{Roots: []string{dir}}
	var err error
	if b.spec, err = b.spec.Select(spec.Filter{Datasets: []string{"small"}}); err != nil {
		t.Fatal(err)
	}
	if _, sum := b.run(t); sum.Ran != 0 {
		t.Fatalf("computed again: %+v", sum)
	}
	for _, x := range []struct {
		lib    *Library
		cached int
	}{{b.runner.Library, 21}, {&Library{}, 0}} {
		got, err := Glance(t.Context(), x.lib, b.runner.Store, b.spec)
		if err != nil {
			t.Fatal(err)
		}
		if n := got.Counts()[Cached]; n != x.cached {
			t.Errorf("%d of 21 jobs cached, want %d", n, x.cached)
		}
		if x.cached > 0 && got.Cells[2].Final[0].Result.UID != want.Cells[2].Final[0].Result.UID {
			t.Errorf("another run counts")
		}
	}
}

// A seed on other data is no part of a mean, and where it helped to choose none of the cell either.
func TestMixedData(t *testing.T) {
	b := newBench(t, threeRows)
	mine := b.runner.Library
	b.run(t)
	whole := b.spec
	b.runner.Library, b.spec = otherSet(t, "tiny"), mustSeeds(t, whole, 1000)
	b.run(t)
	got, err := Glance(t.Context(), &Library{}, b.runner.Store, whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Cells {
		if why := inconsistent(got, c); !strings.Contains(why, "differ in the data") {
			t.Errorf("%s: %q", c.Row.ID, why)
		}
	}
	if got, err = Glance(t.Context(), mine, b.runner.Store, whole); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Cells {
		if why := inconsistent(got, c); why != "" {
			t.Errorf("%s, with the data at hand: %q", c.Row.ID, why)
		}
	}
}

// What the tuning ran with is behind the cell too, and so is what the compiler made of the code.
func TestMixedTuningAndProgram(t *testing.T) {
	b := newBench(t, threeRows)
	p, _ := b.run(t)
	c := p.Cells[0]
	if why := inconsistent(p, c); len(c.Tuning) == 0 || why != "" {
		t.Fatalf("%d settings, %q", len(c.Tuning), why)
	}
	for i := range c.Final {
		c.Final[i].Result.MethodCode = "a"
	}
	c.Tuning[1][2].Result.MethodCode = "b"
	if why := inconsistent(p, c); !strings.Contains(why, "code of the method: a with seed 1000, b with seed 1002 of its tuning") {
		t.Errorf("%q", why)
	}
	c = p.Cells[1]
	for _, x := range []struct{ key, a, b, want string }{
		{"GOAMD64", "v1", "v3", "differ in the GOAMD64"},
		{"GOAMD64", "v1", "", ""},
		{"go", "go1.26.1", "go1.26.8", ""},
		{"go", "go1.26.1", "go1.27", "differ in the version of Go: go1.26 with seed 1000, go1.27 with seed 1002"},
		{"modules", "a.b/c v1 h1:x; gonum.org/v1/gonum v0.16.0 h1:y", "gonum.org/v1/gonum v0.17.0 h1:z", "differ in the version of gonum: v0.16.0 "},
		{"modules", "a.b/c v1 h1:x; gonum.org/v1/gonum v0.16.0 h1:y", "a.b/c v2 h1:x; gonum.org/v1/gonum v0.16.0 h1:y", ""},
	} {
		p.envs["a"], p.envs["b"] = map[string]string{x.key: x.a}, map[string]string{x.key: x.b}
		for i, id := range []string{"a", "a", "b"} {
			c.Final[i].Result.EnvID = id
		}
		if why := inconsistent(p, c); why == "" != (x.want == "") || !strings.Contains(why, x.want) {
			t.Errorf("%+v: %q", x, why)
		}
	}
}

// A repetition that differs says in what, and whether another program computed the result.
func TestRepeat(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p, _ := b.run(t)
	task := &p.Cells[0].Final[0]
	repeat := func() string {
		t.Helper()
		differs, err := b.runner.Repeat(t.Context(), p, task)
		if err != nil {
			t.Fatal(err)
		}
		return differs
	}
	if differs := repeat(); differs != "" {
		t.Fatalf("unchanged: %s", differs)
	}
	db, err := sql.Open("sqlite3", filepath.Join(b.runner.Library.Roots[0], "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	set := func(query string) {
		t.Helper()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	set(`UPDATE envs SET facts = json_set(facts, '$.arch', 'vax')`)
	if differs := repeat(); differs != "" {
		t.Errorf("the same bits on another machine: %s", differs)
	}
	set(`UPDATE metrics SET value = 0.125 WHERE name = 'accuracy'`)
	if differs := repeat(); !strings.HasPrefix(differs, "the metric accuracy: 0.125, now ") || !strings.Contains(differs, ", computed with another architecture: vax, now ") {
		t.Errorf("another value on another machine: %q", differs)
	}
	set(`DELETE FROM metrics WHERE name = 'accuracy'`)
	if differs := repeat(); !strings.HasPrefix(differs, "the metric accuracy: none, now ") {
		t.Errorf("a metric that the repetition alone has: %q", differs)
	}
	set(`INSERT INTO metrics (run, name, value) SELECT id, 'accuracy', 0.125 FROM runs`)
	set(`INSERT INTO metrics (run, name, value) SELECT id, 'aaa', 0.5 FROM runs`)
	if differs := repeat(); !strings.HasPrefix(differs, "the metric aaa: 0.5, now none") {
		t.Errorf("a metric that the repetition lacks: %q", differs)
	}
	set(`DELETE FROM metrics WHERE name = 'aaa'`)
	set(`UPDATE envs SET facts = '{}'`)
	if differs := repeat(); !strings.HasPrefix(differs, "the metric accuracy: 0.125, now ") || strings.Contains(differs, "another") {
		t.Errorf("another value, nobody knows where: %q", differs)
	}
}

// What another process failed at since the plan was made is not tried once more, unless it was
// interrupted or is of other code.
func TestFailedElsewhere(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p, err := Resolve(t.Context(), b.runner.Library, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.runner.register(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for i, x := range []struct {
		status store.Status
		code   string
		want   bool
	}{
		{store.StatusTimeout, "a", true},
		{store.StatusInterrupted, "a", false},
		{store.StatusError, "b", false},
	} {
		task := &p.Cells[0].Final[i]
		task.code.method = "a"
		if done, err := b.runner.elsewhere(t.Context(), task); done || err != nil {
			t.Fatalf("before: %v, %v", done, err)
		}
		run := store.Run{UID: store.NewUID(), Status: x.status, Error: "it " + string(x.status), Started: begun, MethodCode: x.code}
		if err := b.runner.Store.Record(t.Context(), task.Record, run); err != nil {
			t.Fatal(err)
		}
		if done, err := b.runner.elsewhere(t.Context(), task); done != x.want || err != nil {
			t.Errorf("%+v: %v, %v", x, done, err)
		}
	}
	again, err := Resolve(t.Context(), b.runner.Library, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := b.runner.elsewhere(t.Context(), &again.Cells[0].Final[0]); done || err != nil {
		t.Errorf("a failure that the plan knew, to be retried: %v, %v", done, err)
	}
}

// An interrupted run is no failure: without the data, too, the choice waits for it.
func TestGlanceWaitsForWhatWasInterrupted(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "crc")
	p, err := Resolve(t.Context(), b.runner.Library, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.runner.register(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for i, tasks := range p.Cells[0].Tuning {
		for k := range tasks {
			run := store.Run{UID: store.NewUID(), Status: store.StatusOK, Started: time.Now(), Metrics: map[string]float64{"accuracy": 0.5}}
			if i == 3 && k == 0 {
				run.Status, run.Error, run.Metrics = store.StatusInterrupted, context.Canceled.Error(), nil
			}
			if err := b.runner.Store.Record(t.Context(), tasks[k].Record, run); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := Glance(t.Context(), b.runner.Library, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Counts(); got.Cells[0].Chosen != -1 || n[Retry] != 1 || n[Pending] != 3 {
		t.Errorf("candidate %d, %v", got.Cells[0].Chosen, n)
	}
}

// witness is a learner that writes down what it is given.
type witness struct{ w io.Writer }

func (l witness) FitTargets(_ context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	fmt.Fprintln(l.w, p.Labels, p.Classes)
	for _, m := range []*mat.Dense{p.X, F} {
		for _, x := range m.RawMatrix().Data {
			fmt.Fprintf(l.w, "%.10g\n", x)
		}
	}
	return nil, nil
}

// What leads from a seed to what a method sees, and from its predictions to the scores, is in no
// fingerprint and in no hash of a job: it goes by the metric version, which is raised when this test
// has to change.
func TestWorkAroundMethods(t *testing.T) {
	dir := t.TempDir()
	writeSet(t, dir, "tiny")
	lib := &Library{Roots: []string{dir}}
	set, err := lib.Set(t.Context(), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	split, err := lib.Split(set, spec.Split{Kind: "class", Train: 0.7, Labels: 0.4}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, eval := range []string{spec.EvalTest, spec.EvalVal} {
		v := look(set, split, spec.Job{Eval: eval, Seed: 1000})
		fmt.Fprintln(h, v.train, v.labels, v.eval)
		for _, x := range methods.Columns(set.X, v.train).RawMatrix().Data {
			fmt.Fprintf(h, "%.10g\n", x) // the last bits are those of the processor
		}
	}
	for _, role := range []string{"method", "pretext"} {
		r := data.Stream(1000, role)
		fmt.Fprintln(h, r.Uint64(), r.IntN(1000), r.Perm(9))
	}
	o := &outcome{Metrics: map[string]float64{}}
	o.accuracies([]int{0, 1, 1, 2, 0}, []int{0, 1, 2, 2, 1}, 4)
	o.losses("", methods.Columns(set.X, []int{0, 1, 2}), []int{0, 1, 2})
	for _, name := range []string{"accuracy", "balanced_accuracy", "bce", "ce_row", "ce_softmax"} {
		fmt.Fprintf(h, "%s %.10g\n", name, o.Metrics[name])
	}
	v := look(set, split, spec.Job{Eval: spec.EvalTest, Seed: 1000})
	p := methods.Problem{X: methods.Columns(set.X, v.train), Labels: v.labels, Classes: 3}
	if _, err := methods.Supervised("a learner", witness{h}).Fit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(h, methods.Harden(methods.Columns(set.X, v.eval)))
	got := fmt.Sprintf("%s %.16x", versions(spec.Job{}.Identity("", "")), h.Sum(nil))
	const want = "method 0, pretext 0, metric 1 b28288fd9c6696878233e222b460c073"
	if got != want {
		t.Errorf("the work around the methods gives\n%s\nand gave\n%s\nIf results change by it, raise metricVersion in harness/spec/job.go.", got, want)
	}
}
