package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests of this file start the test binary anew, in the role that these variables
// name, since locks and crashes are between processes.
const (
	roleVar = "STORE_TEST_ROLE"
	pathVar = "STORE_TEST_PATH"
	nameVar = "STORE_TEST_NAME"
)

// A child's writers and what each writes.
const (
	childWriters = 4
	childRuns    = 15
)

func TestMain(m *testing.M) {
	roles := map[string]func(ctx context.Context, path, name string) error{
		"write":   childWrite,
		"reopen":  childReopen,
		"forever": childForever,
		"open":    childOpen,
		"read":    childRead,
	}
	if role := roles[os.Getenv(roleVar)]; role != nil {
		if err := role(context.Background(), os.Getenv(pathVar), os.Getenv(nameVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is the test binary in a role.
func child(t *testing.T, role, path, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleVar+"="+role, pathVar+"="+path, nameVar+"="+name)
	return cmd
}

// childWrite opens the file, which may not be there yet, and writes with several writers.
func childWrite(ctx context.Context, path, name string) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	if err := prepare(ctx, s); err != nil {
		return err
	}
	errs := make([]error, childWriters)
	var wg sync.WaitGroup
	for w := range childWriters {
		wg.Go(func() {
			for i := range childRuns {
				// Every job is met by all writers of all processes.
				if err := s.Record(ctx, newJob("shared", uint64(i), 1), newRun(start)); err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return s.Close()
}

// childReopen opens and closes the file for each run: the first to come and the last to
// leave have the most to do.
func childReopen(ctx context.Context, path, name string) error {
	for i := range childRuns {
		s, err := Open(ctx, path)
		if err != nil {
			return err
		}
		if err := prepare(ctx, s); err != nil {
			return err
		}
		if err := s.Record(ctx, newJob("shared", uint64(i), 1), newRun(start)); err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// childForever records until it is killed, and prints each uid once it is recorded.
func childForever(ctx context.Context, path, name string) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	if err := prepare(ctx, s); err != nil {
		return err
	}
	for i := uint64(0); ; i++ {
		run := bigRun()
		if err := s.Record(ctx, newJob(name, i, 1), run); err != nil {
			return err
		}
		fmt.Println(run.UID)
	}
}

// childOpen opens the file for writing.
func childOpen(ctx context.Context, path, name string) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	return s.Close()
}

// childRead opens the file for reading, and looks.
func childRead(ctx context.Context, path, name string) error {
	s, err := OpenReadOnly(ctx, path)
	if err != nil {
		return err
	}
	list, err := s.Datasets(ctx)
	if err != nil {
		return err
	}
	fmt.Println(len(list), "data sets")
	return s.Close()
}

// bigRun has 20 metrics, 200 points of a series and 5000 predictions: a transaction of
// several pages.
func bigRun() Run {
	r := newRun(start)
	r.Metrics, r.Series, r.Predictions, r.Truth = map[string]float64{}, nil, make([]int, 5000), nil
	for i := range 20 {
		r.Metrics["metric "+strconv.Itoa(i)] = float64(i) / 3
	}
	for i := range 200 {
		r.Series = append(r.Series, Point{"objective", i, 1 / float64(i+1)})
	}
	return r
}

func TestProcessesWriteToOneNewFile(t *testing.T) {
	for _, c := range []struct {
		role    string
		runs    int
		rounds  int
		started int
	}{
		{"write", childWriters * childRuns, 5, 2},
		{"reopen", childRuns, 3, 3},
	} {
		t.Run(c.role, func(t *testing.T) {
			for round := range c.rounds {
				path := filepath.Join(t.TempDir(), "runs.db")
				outs := make([]strings.Builder, c.started)
				var wg sync.WaitGroup
				for i := range c.started {
					cmd := child(t, c.role, path, "")
					cmd.Stderr = &outs[i]
					wg.Go(func() {
						if err := cmd.Run(); err != nil {
							t.Errorf("round %d: %v: %s", round, err, outs[i].String())
						}
					})
				}
				wg.Wait()
				s, err := OpenReadOnly(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				if n := count(t, s, "SELECT count(*) FROM runs"); n != c.started*c.runs {
					t.Errorf("round %d: %d runs of %d are there", round, n, c.started*c.runs)
				}
				if n := count(t, s, "SELECT count(*) FROM jobs"); n != childRuns {
					t.Errorf("round %d: %d jobs instead of %d", round, n, childRuns)
				}
				wantIntact(t, s)
				s.Close()
			}
		})
	}
}

// TestKilledWhileWriting kills a writer with the hardest signal at several moments. What
// it said to be recorded is there, and nothing is there by half.
func TestKilledWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	acknowledged := 0
	for i := range 5 {
		cmd := child(t, "forever", path, fmt.Sprint("round", i))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		first, err := lines.ReadString('\n') // it is at work
		if err != nil {
			t.Fatal(err)
		}
		killed := time.AfterFunc(time.Duration(20+37*i)*time.Millisecond, func() { cmd.Process.Kill() })
		defer killed.Stop()
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the writer was not killed: %v", err)
		}

		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		wantIntact(t, s)
		for uid := range strings.Lines(first + string(rest)) {
			uid, complete := strings.CutSuffix(uid, "\n")
			if !complete {
				continue
			}
			acknowledged++
			if n := count(t, s, "SELECT count(*) FROM runs WHERE uid = '"+uid+"'"); n != 1 {
				t.Errorf("run %s was recorded and is not there", uid)
			}
		}
		if n := count(t, s, `SELECT count(*) FROM runs r WHERE
			(SELECT count(*) FROM metrics WHERE run = r.id) <> 20
			OR (SELECT count(*) FROM series WHERE run = r.id) <> 200
			OR (SELECT count(*) FROM predictions WHERE run = r.id) <> 1`); n != 0 {
			t.Errorf("%d runs are there by half", n)
		}
		if n := count(t, s, "SELECT count(*) FROM jobs WHERE id NOT IN (SELECT job FROM runs)"); n != 0 {
			t.Errorf("%d jobs are there without a run", n)
		}
		// One more may be there than was said: killed between the two.
		if n := count(t, s, "SELECT count(*) FROM runs"); n < acknowledged || n > acknowledged+i+1 {
			t.Errorf("%d runs are there, %d were acknowledged", n, acknowledged)
		}
		s.Close()
	}
	t.Logf("%d runs were acknowledged before five kills", acknowledged)
}

func wantIntact(t testing.TB, s *Store) {
	t.Helper()
	var verdict string
	if err := s.r.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity check: %q, %v", verdict, err)
	}
	if n := count(t, s, "SELECT count(*) FROM pragma_foreign_key_check"); n != 0 {
		t.Errorf("%d foreign keys lead nowhere", n)
	}
}
