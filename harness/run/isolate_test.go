package run

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/store"
)

// TestMain lets the test binary be the worker of an executor.Isolation, and the faults that one can have.
func TestMain(m *testing.M) {
	switch os.Getenv("SSDL_TEST_WORKER") {
	case "":
		os.Exit(m.Run())
	case "work":
		if err := executor.Work(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "die":
		fmt.Fprintln(os.Stderr, "something broke")
		os.Exit(9)
	case "noise":
		fmt.Println("this is no reply")
	case "hang":
		time.Sleep(time.Hour)
	case "greedy":
		go executor.Work(context.Background(), os.Stdin, os.Stdout)
		for {
			b := make([]byte, 8<<20)
			for i := range b {
				b[i] = 1
			}
			hoard = append(hoard, b)
			time.Sleep(time.Millisecond)
		}
	}
}

// hoard is the memory of the greedy worker.
var hoard [][]byte

// isolated makes the bench run each job in a process of this test binary.
func (b *bench) isolated(t *testing.T, kind string) executor.Isolation {
	t.Helper()
	t.Setenv("SSDL_TEST_WORKER", kind)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return executor.Isolation{Command: []string{exe}, Library: b.runner.Library}
}

// A job has the same bits in a process of its own.
func TestIsolatedRunsAreTheSame(t *testing.T) {
	a, b := newBench(t, threeRows), newBench(t, threeRows)
	pa, _ := a.run(t)
	b.runner.Execute = b.isolated(t, "work").Execute
	pb, sum := b.run(t)
	if sum.OK != 21 || !maps.Equal(a.results(t, pa), b.results(t, pb)) {
		t.Fatalf("%+v: isolated runs differ", sum)
	}
	_, run, err := b.runner.Store.RunByUID(t.Context(), pb.Cells[0].Final[0].Result.UID)
	if err != nil || run.Peak < 1<<20 || run.CPU <= 0 || run.Wall <= 0 {
		t.Errorf("peak %d, CPU %v, wall %v: %v", run.Peak, run.CPU, run.Wall, err)
	}
}

// The run of a failed worker says how it ended; other runs go on.
func TestWorkersThatEndOtherwise(t *testing.T) {
	for _, c := range []struct {
		kind   string
		memory int64
		within time.Duration
		status store.Status
		says   string
	}{
		{"die", 0, 0, store.StatusError, "something broke"},
		{"noise", 0, 0, store.StatusError, "cannot be read"},
		{"hang", 0, 300 * time.Millisecond, store.StatusTimeout, "300ms"},
		{"greedy", 200 << 20, 0, store.StatusMemory, "0.2 GiB"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			if underRace && c.memory > 0 {
				t.Skip("the race detector needs more memory than the limit allows")
			}
			b := newBench(t, threeRows)
			b.spec = mustSelect(t, b.spec, "src")
			i := b.isolated(t, c.kind)
			i.Memory, b.runner.Timeout = c.memory, c.within
			p := b.resolve(t, b.runner.Library)
			task := p.Cells[0].Final[0]
			run := i.Execute(t.Context(), executor.Input{Job: task.Job, Timeout: c.within})
			if run.Status != c.status || !strings.Contains(run.Error, c.says) || !strings.Contains(run.Error, "src on tiny, seed 1000") {
				t.Errorf("%s: %s", run.Status, run.Error)
			}
		})
	}
}

// The process of a cancelled job ends at once.
func TestIsolatedJobIsCancelled(t *testing.T) {
	b := newBench(t, threeRows)
	i := b.isolated(t, "hang")
	p := b.resolve(t, b.runner.Library)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	run := i.Execute(ctx, executor.Input{Job: p.Cells[1].Final[0].Job})
	if took := time.Since(begun); run.Status != store.StatusInterrupted || took > 2*time.Second {
		t.Errorf("%s after %v: %s", run.Status, took, run.Error)
	}
}

// The data of an order must be that of its job.
func TestWorkerRefusesOtherData(t *testing.T) {
	b := newBench(t, threeRows)
	p := b.resolve(t, b.runner.Library)
	i := b.isolated(t, "work")
	i.Library = otherSet(t, "tiny")
	run := i.Execute(t.Context(), executor.Input{Job: p.Cells[1].Final[0].Job})
	if run.Status != store.StatusError || !strings.Contains(run.Error, "changed while jobs were run") {
		t.Errorf("%s: %s", run.Status, run.Error)
	}
}
