package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// roles are what a child can do, by name.
var roles = map[string]func(ctx context.Context, path, name string) error{
	"write":   childWrite,
	"reopen":  childReopen,
	"forever": childForever,
	"prune":   childPrune,
	"open":    childOpen,
	"read":    childRead,
	"fast":    childFast,
}

func TestMain(m *testing.M) {
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

// childPrune records runs that supersede each other, removes them and brings them back until it is
// killed, and prints each uid once it is recorded.
func childPrune(ctx context.Context, path, name string) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	if err := prepare(ctx, s); err != nil {
		return err
	}
	for i := uint64(0); ; i++ {
		first, second := newRun(start), newRun(start.Add(time.Hour))
		second.Replaces = first.UID
		for _, run := range []Run{first, second} {
			if err := s.Record(ctx, newJob(name, i, 1), run); err != nil {
				return err
			}
			fmt.Println(run.UID)
		}
		if _, err := s.Prune(ctx); err != nil {
			return err
		}
		if _, err := s.Undo(ctx); err != nil {
			return err
		}
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

// childRead opens the file for reading, and reads it.
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

// kills is how many processes the tests of kills kill: $SSDL_KILLS, or a few.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SSDL_KILLS")
	if text == "" {
		return 6
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SSDL_KILLS=%s is no number", text)
	}
	return n
}

// killAtWork starts processes in a role, kills them (SIGKILL) some time after each has begun to work, and
// returns the uids that they printed as recorded.
func killAtWork(t *testing.T, role, path string, after time.Duration, names ...string) (acknowledged []string) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, name := range names {
		cmd := child(t, role, path, name)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			lines := bufio.NewReader(out)
			first, _ := lines.ReadString('\n') // it is at work
			killed := time.AfterFunc(after+time.Duration(i)*time.Millisecond, func() { cmd.Process.Kill() })
			defer killed.Stop()
			rest, err := io.ReadAll(lines)
			if err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Errorf("the writer was not killed: %v: %s", err, errs.String())
			}
			mu.Lock()
			defer mu.Unlock()
			for line := range strings.Lines(first + string(rest)) {
				if uid, complete := strings.CutSuffix(line, "\n"); complete {
					acknowledged = append(acknowledged, uid)
				}
			}
		})
	}
	all.Wait()
	return acknowledged
}

// wantSound fails the test if Check finds a fault in the file.
func wantSound(t *testing.T, s *Store) {
	t.Helper()
	if report, err := s.Check(t.Context(), nil, nil); err != nil || len(report.Faults) > 0 {
		t.Errorf("%d faults, the first %v, %v", len(report.Faults), report.Faults[:min(1, len(report.Faults))], err)
	}
}

// TestKilledWhileWriting kills two writers at a time, at many moments. All runs that they printed as
// recorded are there, and no run is there in part. $SSDL_KILLS says how many are killed.
func TestKilledWhileWriting(t *testing.T) {
	const perFile = 20 // a new file is begun then, so that looking at it does not take ever longer
	total := 0
	var path string
	var acknowledged []string
	for done := 0; done < kills(t); done += 2 {
		if done%perFile == 0 {
			path, acknowledged = filepath.Join(t.TempDir(), "runs.db"), nil
		}
		now := killAtWork(t, "forever", path, time.Duration(done*37%60)*time.Millisecond, fmt.Sprint("a", done), fmt.Sprint("b", done))
		acknowledged = append(acknowledged, now...)
		total += len(now)
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		wantSound(t, s)
		for _, uid := range acknowledged {
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
		// One more of each may be there than was said: killed between the two.
		if n := count(t, s, "SELECT count(*) FROM runs"); n < len(acknowledged) || n > len(acknowledged)+done%perFile+2 {
			t.Errorf("%d runs are there, %d were acknowledged", n, len(acknowledged))
		}
		s.Close()
	}
	t.Logf("%d runs were acknowledged before %d kills", total, kills(t))
}

// TestKilledWhilePruning kills a process that removes runs and brings them back: each is in the file, or
// where Undo finds it.
func TestKilledWhilePruning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	for done := range kills(t) {
		if done%20 == 0 {
			path = filepath.Join(t.TempDir(), "runs.db")
		}
		acknowledged := killAtWork(t, "prune", path, time.Duration(done*37%90)*time.Millisecond, fmt.Sprint("p", done))
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		wantSound(t, s)
		if _, err := s.Undo(t.Context()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		wantSound(t, s)
		for _, uid := range acknowledged {
			if n := count(t, s, "SELECT count(*) FROM runs WHERE uid = '"+uid+"'"); n != 1 {
				t.Errorf("run %s was recorded and is not there", uid)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
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
