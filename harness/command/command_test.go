package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/job"
	"ssdl/methods"
)

// TestMain lets the test binary be the Self of a Runner.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "confine" {
		fmt.Fprintln(os.Stderr, Confine(os.Args[2], os.Args[3:]))
		os.Exit(125)
	}
	if len(os.Args) > 1 && os.Args[1] == "nearest" {
		if err := nearest(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func self(t testing.TB) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, "confine"}
}

// put writes a file into the folder that the test works in.
func put(t testing.TB, name string, content func(io.Writer) error) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := writeFile(name, content); err != nil {
		t.Fatal(err)
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func integers(v ...int) func(io.Writer) error {
	return func(w io.Writer) error { return data.WriteIntegers(w, v) }
}

// rows writes a matrix of float64, row by row.
func rows(m *mat.Dense) func(io.Writer) error {
	return func(w io.Writer) error { return data.WriteColumns(w, mat.DenseCopyOf(m.T())) }
}

// problem has six training samples of two features, of which two labels are hidden, and three classes.
func problem() (methods.Problem, *mat.Dense) {
	X := mat.NewDense(2, 6, []float64{1, 0, .6, .8, 1, 0, 0, 1, .8, .6, 0, 1})
	return methods.Problem{X: X, Labels: []int{0, 1, 2, -1, 0, -1}, Classes: 3}, mat.NewDense(2, 4, []float64{1, 0, 1, 0, 0, 1, 0, 1})
}

// script makes the command of a shell script, in a folder of its own with the other files.
func script(t testing.TB, body string, files map[string]func(io.Writer) error) job.Command {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, "my.sh", text(body))
	paths := []string{"my.sh"}
	for name, content := range files {
		put(t, name, content)
		paths = append(paths, name)
	}
	slices.Sort(paths)
	c, err := Runner{}.Identify(t.Context(), []string{"sh", "my.sh"}, paths)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// predict calls a method on the problem.
func predict(t testing.TB, ctx context.Context, m *Method) ([]int, error) {
	t.Helper()
	p, X := problem()
	model, err := m.Fit(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return model.Predict(ctx, X)
}

// The folder has the files of the protocol, and the result is the output of the program.
func TestTask(t *testing.T) {
	seen := t.TempDir()
	var traced []string
	c := script(t, `cp answer.npy predictions.npy; cp soft.npy scores.npy; cp steps.csv trace.csv; cp *.npy task.json `+seen+`; echo out; echo err >&2; echo "$OMP_NUM_THREADS $HOME" > `+seen+`/env; touch tmp/left`, map[string]func(io.Writer) error{
		"answer.npy": integers(2, 0, 1, 2),
		"soft.npy":   rows(mat.NewDense(4, 3, []float64{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, .5})),
		"steps.csv":  text("name,iteration,value\nobjective,0,1.5\nobjective,1,0.25\n"),
	})
	m := &Method{Command: c, Params: map[string]any{"lambda": 0.125, "name": "x", "on": true}, Seed: 1<<64 - 1}
	p, X := problem()
	p.Trace = func(name string, it int, v float64) { traced = append(traced, fmt.Sprint(name, it, v)) }
	model, err := m.Fit(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := model.Predict(t.Context(), X)
	if err != nil || !slices.Equal(got, []int{2, 0, 1, 2}) {
		t.Fatalf("%v, %v: %+v", got, err, m.Record)
	}
	if r := m.Record; r.State != OK || r.Confined != Unconfined || r.Stdout != "out\n" || r.Stderr != "err\n" || r.CPU <= 0 {
		t.Errorf("record %+v", r)
	}
	if !mat.Equal(m.Scores, mat.NewDense(3, 4, []float64{0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, .5})) {
		t.Errorf("scores %v", mat.Formatted(m.Scores))
	}
	if want := []string{"objective0 1.5", "objective1 0.25"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q", traced)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(seen, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := `{
 "protocol": "ssdl-exec/1",
 "wants": "predictions",
 "classes": 3,
 "seed": 18446744073709551615,
 "threads": 1,
 "params": {
  "lambda": 0.125,
  "name": "x",
  "on": true
 }
}
`
	if d := cmp.Diff(want, read("task.json")); d != "" {
		t.Error(d)
	}
	if env := strings.Fields(read("env")); env[0] != "1" || !strings.HasSuffix(env[1], "/tmp") {
		t.Errorf("environment %q", env)
	}
	for name, want := range map[string][][]float64{
		"X_train.npy": {{1, 0}, {0, 1}, {.6, .8}, {.8, .6}, {1, 0}, {0, 1}},
		"X_test.npy":  {{1, 0}, {0, 1}, {1, 0}, {0, 1}},
		"labels.npy":  {{0}, {1}, {2}, {-1}, {0}, {-1}},
	} {
		file := strings.NewReader(read(name))
		a, err := data.ReadNPYHeader(name, file, file.Size())
		if err != nil {
			t.Fatal(err)
		}
		if err := a.ReadValues(file); err != nil {
			t.Fatal(err)
		}
		var got [][]float64
		for i := range a.Rows {
			row := make([]float64, a.Cols)
			a.Row(i, row)
			got = append(got, row)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// The state says how a program ended, and the text what to do.
func TestStates(t *testing.T) {
	good := map[string]func(io.Writer) error{"answer.npy": integers(0, 0, 0, 0)}
	const answer = "cp answer.npy predictions.npy; "
	for name, c := range map[string]struct {
		body   string
		runner Runner
		within time.Duration
		state  State
		says   string
	}{
		"crash":      {body: "echo went wrong >&2; exit 3", state: Crashed, says: "exit status 3: went wrong"},
		"signal":     {body: "kill -SEGV $$", state: Crashed, says: "segmentation fault"},
		"hang":       {body: "sleep 100 & sleep 100", within: 200 * time.Millisecond, state: Timeout, says: "deadline"},
		"noise":      {body: "yes", runner: Runner{Printed: 1 << 20}, state: Printed, says: "more than 1 MiB"},
		"disk":       {body: "cat /dev/zero > tmp/x", runner: Runner{Written: 2 << 20}, state: Written, says: "more than 2 MiB"},
		"many files": {body: "i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero > tmp/$i; done", runner: Runner{Written: 2 << 20}, state: Written, says: "more than 2 MiB"},
		"nothing":    {body: ":", state: Invalid, says: "predictions.npy is missing, expected 4 classes as int64"},
		"extra":      {body: answer + "touch prediction.npy", state: Invalid, says: "prediction.npy is an extra file"},
		"targets":    {body: answer + "cp answer.npy targets.npy", state: Invalid, says: "targets.npy is an extra file"},
		"link":       {body: "ln -s answer.npy predictions.npy", state: Invalid, says: "predictions.npy is no regular file"},
		"no array":   {body: "echo 1 > predictions.npy", state: Invalid, says: "predictions.npy"},
		"scores":     {body: answer + "cp answer.npy scores.npy", state: Invalid, says: "scores.npy is 4 x 1 of int64, expected 4 x 3 of float64"},
		"trace":      {body: answer + "echo a,b > trace.csv", state: Invalid, says: "trace.csv does not begin with the header"},
		"trace NaN":  {body: answer + "printf 'name,iteration,value\\na,0,nan\\n' > trace.csv", state: Invalid, says: `trace.csv:2: the value is "nan"`},
		"long trace": {body: answer + "head -c 17825792 /dev/zero > trace.csv", state: Invalid, says: "trace.csv has 17825792 bytes, expected at most 16777216"},
		"no tmp":     {body: answer + "rmdir tmp; touch tmp zzz", state: Invalid, says: "tmp is no folder"},
		"good":       {body: answer, state: OK},
		"bystander":  {body: answer + "sleep 100 &", state: OK},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Method{Runner: c.runner, Command: script(t, c.body, good)}
			m.Runner.Self = self(t)
			ctx := t.Context()
			if c.within > 0 {
				var cancel func()
				ctx, cancel = context.WithTimeout(ctx, c.within)
				defer cancel()
			}
			begun := time.Now()
			_, err := predict(t, ctx, m)
			if m.Record.State != c.state || (err == nil) != (c.state == OK) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", m.Record.State, err)
			}
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestWrongArrays(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		is   func(io.Writer) error
		says string
	}{
		"short":   {"predictions.npy", integers(0, 1, 2), "predictions.npy is 3 x 1 of int64, expected 4 classes"},
		"range":   {"predictions.npy", integers(0, 1, 2, 3), "the class of sample 3 is 3, expected 0..2"},
		"hidden":  {"predictions.npy", integers(0, -1, 2, 1), "the class of sample 1 is -1, expected 0..2"},
		"float":   {"predictions.npy", rows(mat.NewDense(4, 1, nil)), "predictions.npy is 4 x 1 of float64"},
		"nan":     {"targets.npy", rows(mat.NewDense(6, 3, append(make([]float64, 17), math.NaN()))), "the value of training sample 5, class 2 is NaN"},
		"classes": {"targets.npy", rows(mat.NewDense(6, 2, nil)), "targets.npy is 6 x 2 of float64, expected 6 x 3"},
	} {
		c2 := script(t, "cp answer "+c.file, map[string]func(io.Writer) error{"answer": c.is})
		var err error
		if c.file == predictionsFile {
			_, err = predict(t, t.Context(), &Method{Command: c2})
		} else {
			p, _ := problem()
			_, err = (&Pretext{Command: c2}).PseudoLabels(t.Context(), p)
		}
		if f := (*Fault)(nil); !errors.As(err, &f) || f.State != Invalid || !strings.Contains(f.Text, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An array of another shape is refused by its header: its values take no memory.
func TestLongArray(t *testing.T) {
	const n = 64 << 20
	dir := t.TempDir()
	put(t, filepath.Join(dir, predictionsFile), func(w io.Writer) error { return data.WriteNPYHeader(w, "<i8", fmt.Sprintf("(%d,)", n/8)) })
	if err := os.Truncate(filepath.Join(dir, predictionsFile), n+128); err != nil { // takes no room
		t.Fatal(err)
	}
	p, X := problem()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readOutput(dir, newTask(wantsPredictions, p, X, nil, 0), nil)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "predictions.npy is 8388608 x 1 of int64, expected 4 classes") {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > n/2 {
		t.Errorf("it took %d bytes", took)
	}
}

// A pretext gets no test samples, and jobs of one key share its output and its record.
func TestPretext(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	F := mat.NewDense(6, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, .5, .5, 0, 1, 0, 0, 0, .25, .75})
	c := script(t, `[ -e X_test.npy ] && exit 9; echo called; echo x >> `+count+`; cp soft.npy targets.npy`, map[string]func(io.Writer) error{"soft.npy": rows(F)})
	p, _ := problem()
	shared := map[string]any{}
	p.Share = func(_ context.Context, key string, build func() (any, int64, error)) (any, error) {
		if v, ok := shared[key]; ok {
			return v, nil
		}
		v, _, err := build()
		shared[key] = v
		return v, err
	}
	for range 2 {
		pretext := &Pretext{Command: c, Params: map[string]any{"k": 5.}}
		pseudo, err := pretext.PseudoLabels(t.Context(), p)
		if err != nil || !mat.Equal(pseudo.F, F.T()) || pretext.Record.Stdout != "called\n" || pretext.Record.State != OK {
			t.Fatalf("%v, %+v", err, pretext.Record)
		}
		if _, err := pseudo.Score(t.Context(), p.X); err == nil {
			t.Error("a program scores unseen samples")
		}
	}
	if b, err := os.ReadFile(count); err != nil || string(b) != "x\n" {
		t.Errorf("called %q, %v", b, err)
	}
}

func TestIdentify(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "bin/answers", text("#!/bin/sh\necho; echo 'Answers 2.1 '\n"))
	put(t, "bin/fails", text("#!/bin/sh\nexit 1\n"))
	put(t, "my.py", text("print()"))
	for _, name := range []string{"bin/answers", "bin/fails"} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := HashFile("my.py")
	if err != nil {
		t.Fatal(err)
	}
	mine := job.File{Path: "my.py", SHA256: sum}
	script, err := HashFile("bin/fails")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ program, version string }{
		{"bin/answers", "Answers 2.1"},
		{"bin/fails", "SHA-256 " + script},
	} {
		is, err := Runner{}.Identify(t.Context(), []string{c.program, "x"}, []string{"my.py"})
		if want := (job.Command{Args: []string{c.program, "x"}, Files: []job.File{mine}, Interpreter: c.version}); err != nil || !cmp.Equal(is, want) {
			t.Errorf("%+v, %v", is, err)
		}
	}
	// A program that is a file of the row has no version: nothing is started.
	is, err := Runner{}.Identify(t.Context(), []string{"./bin/fails"}, []string{"bin/fails"})
	if err != nil || is.Interpreter != "" {
		t.Errorf("%+v, %v", is, err)
	}
	var missing *MissingError
	if is, err := (Runner{}).Identify(t.Context(), []string{"no-such-program"}, []string{"my.py"}); !errors.As(err, &missing) || len(is.Files) != 1 {
		t.Errorf("%+v, %v", is, err)
	}
	if _, err := (Runner{}).Identify(t.Context(), []string{"sh"}, []string{"no.py"}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "no.py") {
		t.Error(err)
	}
	m := &Method{Command: job.Command{Args: []string{"no-such-program"}}}
	if _, err := predict(t, t.Context(), m); m.Record.State != Missing || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("%s: %v", m.Record.State, err)
	}
	m = &Method{Command: job.Command{Args: []string{"sh", "my.py"}, Files: []job.File{{Path: "my.py", SHA256: "0"}}}}
	if _, err := predict(t, t.Context(), m); err == nil || !strings.Contains(err.Error(), "my.py changed since") {
		t.Error(err)
	}
}

func TestReservedNames(t *testing.T) {
	c := script(t, "", map[string]func(io.Writer) error{"task.json": text("{}")})
	if _, err := predict(t, t.Context(), &Method{Command: c}); err == nil || !strings.Contains(err.Error(), "task.json: a file of a program cannot have a name of the protocol") {
		t.Error(err)
	}
}

// A file is never written outside of the folder of the task, and never under another name than its own.
func TestPathsThatLeadElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "q/p.py", text("print()"))
	sum, err := HashFile("q/p.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("q")
	for _, path := range []string{"../q/p.py", "./p.py", "/p.py"} {
		c := job.Command{Args: []string{"sh"}, Files: []job.File{{Path: path, SHA256: sum}}}
		if _, err := predict(t, t.Context(), &Method{Command: c}); err == nil || !strings.Contains(err.Error(), path+": a file of a program must have a plain path below the folder") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Given reads predictions in ascending order of the samples, and returns them in the order of Scored.
func TestGiven(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "p.npy", integers(0, 1, 2, 1))
	sum, err := HashFile("p.npy")
	if err != nil {
		t.Fatal(err)
	}
	g := Given{File: job.File{Path: "p.npy", SHA256: sum}, Test: []int{3, 5, 8, 9}, Scored: []int{9, 3, 8, 5}, Classes: 3}
	got, err := g.Predict(t.Context(), nil)
	if err != nil || !slices.Equal(got, []int{1, 0, 2, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, c := range []struct {
		change func(*Given)
		says   string
	}{
		{func(g *Given) { g.Classes = 2 }, "p.npy: the class of sample 2 is 2, expected 0..1"},
		{func(g *Given) { g.Test = g.Test[:3] }, "p.npy is 4 x 1 of int64, expected 3 classes"},
		{func(g *Given) { g.File.SHA256 = "0" }, "p.npy changed since"},
	} {
		wrong := g
		c.change(&wrong)
		if _, err := wrong.Predict(t.Context(), nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	w := &tail{of: &budget{left: 1 << 20, full: func() { t.Error("full") }}}
	w.Write(bytes.Repeat([]byte("a"), kept))
	w.Write([]byte("\xffend"))
	if s := w.String(); !strings.HasSuffix(s, "a\uFFFDend") || len(s) != kept+2 {
		t.Errorf("%d bytes, ending in %q", len(s), s[len(s)-10:])
	}
}
