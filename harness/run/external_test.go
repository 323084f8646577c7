package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/command"
	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/job"
	"ssdl/harness/metric"
	"ssdl/harness/store"
)

const externalHead = `
name: outside
datasets: [tiny]
seeds: 1000..1002
split: {kind: class, train: 0.7, labels: 0.4}
select: fixed
rows:
`

// externalBench is a bench in a folder of its own, with a script that always predicts class 0.
func externalBench(t *testing.T, rows string) *bench {
	t.Helper()
	b := newBench(t, externalHead+rows)
	t.Chdir(t.TempDir())
	set, err := b.runner.Library.Set(t.Context(), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	split, err := b.runner.Library.Split(set, b.spec.Split, 1000)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "zeros.npy", integers(t, make([]int, len(split.Test))))
	write(t, "first.sh", []byte("cp zeros.npy predictions.npy\n"))
	return b
}

func write(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func integers(t testing.TB, v []int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := data.WriteIntegers(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const firstRow = "  - {id: first, exec: [sh, first.sh], files: [first.sh, zeros.npy]}\n"

// A row with a program runs once, has the metrics of its predictions, and its run keeps the program's output.
func TestProgramIsARow(t *testing.T) {
	b := externalBench(t, firstRow+"  - {method: crc}\n")
	write(t, "first.sh", []byte("echo hello; cp zeros.npy predictions.npy\n"))
	p, sum := b.run(t)
	if sum.OK != 6 {
		t.Fatalf("%+v", sum)
	}
	_, run, err := b.runner.Store.RunByUID(t.Context(), p.Cells[0].Final[0].Result.UID)
	if err != nil {
		t.Fatal(err)
	}
	if want := (store.Command{State: "ok", Confined: "no", Stdout: "hello\n"}); run.Command == nil || *run.Command != want {
		t.Errorf("%+v", run.Command)
	}
	if v := run.Metrics["accuracy"]; v != 1./3 || run.Metrics[executor.Unconfined] != 1 {
		t.Errorf("metrics %v", run.Metrics)
	}
	if _, sum = b.run(t); sum.Ran != 0 {
		t.Errorf("%d runs again", sum.Ran)
	}
	// Another content is another job, of the same question.
	write(t, "first.sh", []byte("echo other; cp zeros.npy predictions.npy\n"))
	task := b.resolve(t, b.reopened()).Cells[0].Final[0]
	if task.State != Changed || len(task.Changes) != 1 || task.Changes[0].What != "first.sh" {
		t.Errorf("%s: %s", task.State, task.Reason())
	}
}

// A program gets the labels of labelled training samples alone.
func TestNoOtherLabelsAreWritten(t *testing.T) {
	seen := t.TempDir()
	for _, c := range []struct {
		row  string
		eval string
	}{
		{"  - {id: look, exec: [sh, look.sh], files: [look.sh, zeros.npy]}\n", job.EvalTest},
		{"  - {id: look, select: val, exec: [sh, look.sh], files: [look.sh, zeros.npy], tune: {a: {grid: [1, 2]}}}\n", job.EvalVal},
	} {
		b := externalBench(t, c.row)
		write(t, "look.sh", []byte("rm -rf "+seen+"/*; cp * "+seen+" 2>/dev/null; cp zeros.npy predictions.npy\n"))
		p := b.resolve(t, b.runner.Library)
		task := p.Cells[0].Final
		if c.eval == job.EvalVal {
			task = p.Cells[0].Tuning[0]
		}
		set := p.Sets["tiny"]
		split, err := b.runner.Library.Split(set, b.spec.Split, 1000)
		if err != nil {
			t.Fatal(err)
		}
		executor.Execute(t.Context(), executor.Input{Job: task[0].Job, Set: set, Split: split})
		files, err := os.ReadDir(seen)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if want := []string{"X_test.npy", "X_train.npy", "labels.npy", "look.sh", "task.json", "zeros.npy"}; !slices.Equal(names, want) {
			t.Errorf("%s: the folder has %q", c.eval, names)
		}
		text, err := os.ReadFile(filepath.Join(seen, "labels.npy"))
		if err != nil {
			t.Fatal(err)
		}
		file := bytes.NewReader(text)
		labels, err := data.ReadNPYHeader("labels.npy", file, file.Size())
		if err != nil {
			t.Fatal(err)
		}
		if err := labels.ReadValues(file); err != nil {
			t.Fatal(err)
		}
		shown := 0
		for i := range labels.Rows {
			y := []float64{0}
			if labels.Row(i, y); y[0] >= 0 {
				shown++
			}
		}
		want, rows := 0, len(split.Train)
		for _, keeps := range split.Labelled {
			if keeps {
				want++
			}
		}
		if c.eval == job.EvalVal { // a fifth of the labelled samples of each class is held out altogether
			held := want - shown
			if held < 3 {
				t.Errorf("%d of %d labelled samples are held out", held, want)
			}
			want, rows = want-held, rows-held
		}
		if shown != want || labels.Rows != rows {
			t.Errorf("%s: %d of %d labels are shown, expected %d of %d", c.eval, shown, labels.Rows, want, rows)
		}
	}
}

// A failed program makes a failed run that says why; the rest of the grid goes on.
func TestProgramsThatFail(t *testing.T) {
	b := externalBench(t, `  - {id: crash, exec: [sh, crash.sh], files: [crash.sh]}
  - {id: absent, exec: [no-such-program]}
  - {id: nothing, exec: ["true"]}
  - {method: crc}
`)
	write(t, "crash.sh", []byte("echo broken >&2; exit 3\n"))
	p, sum := b.run(t)
	if sum.OK != 3 || sum.Failed != 9 {
		t.Fatalf("%+v", sum)
	}
	for i, want := range []string{"crashed: exit status 3: broken", "missing: there is no program no-such-program", "invalid output: predictions.npy is missing"} {
		task := p.Cells[i].Final[0]
		if task.State != Failed || !strings.Contains(task.Failure.Message, want) || !strings.Contains(task.Failure.Message, "on tiny, seed 1000") {
			t.Errorf("%s: %s, want %q", task.State, task.Reason(), want)
		}
		_, run, err := b.runner.Store.RunByUID(t.Context(), task.Failure.Run)
		if state, _, _ := strings.Cut(want, ":"); err != nil || run.Command == nil || run.Command.State != state {
			t.Errorf("%+v, %v", run.Command, err)
		}
	}
}

// The limits of runs bound a program.
func TestLimitsOfPrograms(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a program is bounded on Linux alone")
	}
	for name, c := range map[string]struct {
		limit  func(*bench)
		status store.Status
		state  command.State
	}{
		"timeout": {func(b *bench) { b.runner.Timeout = 200 * time.Millisecond }, store.StatusTimeout, command.Timeout},
		"memory":  {func(b *bench) { b.runner.Memory = 40 << 20 }, store.StatusMemory, command.OutOfMemory},
	} {
		b := externalBench(t, "  - {id: slow, exec: [sh, slow.sh], files: [slow.sh]}\n")
		b.spec.Seeds = b.spec.Seeds[:1]
		write(t, "slow.sh", []byte("x=$(head -c 60000000 /dev/zero | tr '\\0' a)\nsleep 100\n"))
		c.limit(b)
		p, _ := b.run(t)
		failure := p.Cells[0].Final[0].Failure
		if failure == nil || failure.Status != c.status {
			t.Errorf("%s: %+v", name, failure)
			continue
		}
		if _, run, err := b.runner.Store.RunByUID(t.Context(), failure.Run); err != nil || run.Command == nil || run.Command.State != string(c.state) {
			t.Errorf("%s: %+v, %v", name, run.Command, err)
		}
	}
}

// Scores come in the order of the task, and are measured in that of the samples.
func TestScoresOfAProgram(t *testing.T) {
	b := externalBench(t, "  - {id: first, exec: [sh, first.sh], files: [classes.npy, first.sh, soft.npy]}\n")
	b.spec.Seeds = b.spec.Seeds[:1]
	p := b.resolve(t, b.runner.Library)
	split, err := b.runner.Library.Split(p.Sets["tiny"], b.spec.Split, 1000)
	if err != nil {
		t.Fatal(err)
	}
	classes := make([]int, len(split.Test))
	for i := range classes {
		classes[i] = i % 3
	}
	write(t, "classes.npy", integers(t, classes))
	write(t, "soft.npy", softLabels(t, len(classes)))
	write(t, "first.sh", []byte("cp classes.npy predictions.npy; cp soft.npy scores.npy\n"))
	p, _ = b.run(t)
	_, run, err := b.runner.Store.RunByUID(t.Context(), p.Cells[0].Final[0].Result.UID)
	if err != nil {
		t.Fatal(err)
	}
	F := mat.NewDense(3, len(run.Predictions), nil)
	for j, y := range run.Predictions {
		F.SetCol(j, []float64{.25, .25, .25})
		F.Set(y, j, .5)
	}
	want := metric.MeasureScores(F, run.Truth)
	for _, name := range metric.Names(metric.PseudoLabels) {
		if run.Metrics[name] != want[name] {
			t.Errorf("%s is %v, want %v", name, run.Metrics[name], want[name])
		}
	}
}

// A missing file is an error before anything is computed.
func TestMissingFile(t *testing.T) {
	b := externalBench(t, "  - {id: mine, exec: [sh, no.sh], files: [no.sh]}\n  - {method: crc}\n")
	_, sum, err := b.runner.Run(t.Context(), b.spec)
	var missing *command.FileError
	if !errors.As(err, &missing) || missing.Path != "no.sh" || !strings.Contains(err.Error(), "row mine") || sum.Ran != 0 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// Results are found without the program, without its files, and with RecordedOnly.
func TestRecordedPrograms(t *testing.T) {
	b := externalBench(t, firstRow)
	p, _ := b.run(t)
	was := p.Cells[0].Final[0].Key
	if err := os.Remove("first.sh"); err != nil {
		t.Fatal(err)
	}
	for name, lib := range map[string]*executor.Library{"files": b.reopened(), "recorded": {RecordedOnly: true}} {
		task := b.resolve(t, lib).Cells[0].Final[0]
		if task.Key != was || task.State != Cached {
			t.Errorf("%s: %s %s", name, task.State, task.Reason())
		}
	}
	other := externalBench(t, strings.ReplaceAll(firstRow, "first", "second"))
	other.runner.Store = b.runner.Store
	if task := other.resolve(t, &executor.Library{RecordedOnly: true}).Cells[0].Final[0]; task.State != NoData {
		t.Errorf("a program that was never run: %s %s", task.State, task.Reason())
	}
}

// A program makes pseudo labels for a learner. Jobs that share them share its record too, and have
// the same bits however many run at once, in this process or in others.
func TestProgramAsPretext(t *testing.T) {
	const row = "  - {id: taught, method: ledl, exec: [sh, soft.sh], files: [soft.sh, soft.npy], pretext_params: {k: 5}, params: {K: 9, iterations: 5, lambda: {grid: [0.01, 0.1]}}}\n"
	var want map[string]string
	for name, change := range map[string]func(*bench){
		"one job":   func(b *bench) { b.runner.Jobs = 1 },
		"four jobs": func(b *bench) { b.runner.Jobs = 4 },
		"isolated":  func(b *bench) { b.runner.Execute = b.isolated(t, "work").Execute },
	} {
		b := externalBench(t, row)
		p := b.resolve(t, b.runner.Library)
		split, err := b.runner.Library.Split(p.Sets["tiny"], b.spec.Split, 1000)
		if err != nil {
			t.Fatal(err)
		}
		write(t, "soft.npy", softLabels(t, len(split.Train)))
		write(t, "soft.sh", []byte("echo made; cp soft.npy targets.npy\n"))
		change(b)
		p, sum := b.run(t)
		if sum.OK != 6 {
			t.Fatalf("%s: %+v: %s", name, sum, p.Cells[0].Final[0].Reason())
		}
		got := b.results(t, p)
		if want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: other results", name)
		}
		for _, c := range p.Cells {
			_, run, err := b.runner.Store.RunByUID(t.Context(), c.Final[0].Result.UID)
			if err != nil || run.Command == nil || run.Command.Stdout != "made\n" || run.Metrics["pseudo_accuracy"] == 0 {
				t.Errorf("%s: %+v, %v", name, run.Command, err)
			}
		}
	}
}

// softLabels are n samples x 3 classes.
func softLabels(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := data.WriteNPYHeader(&b, "<f8", fmt.Sprintf("(%d, 3)", n)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for c := range 3 {
			v := []byte{0, 0, 0, 0, 0, 0, 0xd0, 0x3f} // 0.25
			if c == i%3 {
				v[6] = 0xe0 // 0.5
			}
			b.Write(v)
		}
	}
	return b.Bytes()
}

// A row of predictions is scored like any other, on the split of its index file.
func TestPredictionsFromElsewhere(t *testing.T) {
	b := externalBench(t, `  - {id: theirs, predictions: "{dataset}-{seed}.npy", splits: "splits/{dataset}-{seed}.json"}
  - {method: crc}
`)
	p := b.resolve(t, b.runner.Library)
	set := p.Sets["tiny"]
	if err := os.Mkdir("splits", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, seed := range b.spec.Seeds[:2] {
		split, err := b.runner.Library.Split(set, b.spec.Split, seed)
		if err != nil {
			t.Fatal(err)
		}
		var index bytes.Buffer
		if err := split.Write(&index, set); err != nil {
			t.Fatal(err)
		}
		write(t, fmt.Sprintf("splits/tiny-%d.json", seed), index.Bytes())
		predicted := make([]int, len(split.Test))
		for i, j := range split.Test {
			if predicted[i] = set.Labels[j]; i == 0 {
				predicted[i] = (predicted[i] + 1) % 3 // the first is wrong
			}
		}
		write(t, fmt.Sprintf("tiny-%d.npy", seed), integers(t, predicted))
	}
	p, sum := b.run(t)
	if sum.OK != 5 || p.Cells[0].Final[2].State != NoData {
		t.Fatalf("%+v, %s", sum, p.Cells[0].Final[2].State)
	}
	task := p.Cells[0].Final[0]
	_, run, err := b.runner.Store.RunByUID(t.Context(), task.Result.UID)
	if err != nil {
		t.Fatal(err)
	}
	n := len(run.Truth)
	if v, _ := task.Value(); v != float64(n-1)/float64(n) || run.Predictions[0] == run.Truth[0] || run.Predictions[1] != run.Truth[1] {
		t.Errorf("accuracy %v of %d", v, n)
	}
	// Those of another split are refused.
	other, err := os.ReadFile("splits/tiny-1001.json")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "splits/tiny-1000.json", other)
	split, err := b.runner.Library.Split(set, b.spec.Split, 1000)
	if err != nil {
		t.Fatal(err)
	}
	again := executor.Execute(context.Background(), executor.Input{Job: task.Job, Set: set, Split: split})
	if again.Status != store.StatusError || !strings.Contains(again.Error, "splits/tiny-1000.json is the split") || !strings.Contains(again.Error, "ssdl data split tiny --export") {
		t.Errorf("%s: %s", again.Status, again.Error)
	}
}
