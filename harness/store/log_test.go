package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxLog bounds the size of the write-ahead log in bytes.
const maxLog = 32 << 20

// watchLog returns a function that tells how long the log of a store ever was.
func watchLog(t *testing.T, s *Store) (longest func() int64) {
	t.Helper()
	var n int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			n = max(n, s.logSize())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return sync.OnceValue(func() int64 {
		close(stop)
		<-done
		return n
	})
}

// The log stays short although there is always a reader: SQLite alone would never empty it.
func TestLogStaysShort(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	longest := watchLog(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				s.view(ctx, func(tx *sql.Tx) error { // held for a while
					var n int
					err := tx.QueryRow("SELECT count(*) FROM jobs").Scan(&n)
					time.Sleep(20 * time.Millisecond)
					return err
				})
			}
		})
	}
	const mb = 48
	written := 0
	for seed := uint64(0); written < mb<<20; seed++ {
		run := bigRun()
		run.Predictions = make([]int, 100_000)
		record(t, s, newJob("m", seed, 1), run)
		written += len(run.Predictions)
	}
	stop()
	readers.Wait()
	if n := longest(); n > maxLog {
		t.Errorf("the log had %d bytes", n)
	}
}

// Each holds no transaction while its caller works, so that it does not keep the log from being emptied.
func TestEachHoldsNoLog(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	for seed := range uint64(3) {
		record(t, s, newJob("m", seed, 1), newRun(start))
	}
	seen := 0
	if err := s.Each(t.Context(), nil, func(RunRecord) error {
		seen++
		record(t, s, newJob("new", uint64(seen), 1), newRun(start)) // which is not among the runs
		conn, err := s.w.Conn(t.Context())
		if err != nil {
			return err
		}
		defer conn.Close()
		if !s.emptyLog(t.Context(), conn) || s.logSize() > 0 {
			t.Errorf("the log has %d bytes", s.logSize())
		}
		return nil
	}); err != nil || seen != 3 {
		t.Errorf("%d runs, %v", seen, err)
	}
}

// A writer waits for a reader that does not end only as long as for another writer; then the log grows.
func TestEndlessReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	newStore(t, path)
	s, err := open(t.Context(), path, 300*time.Millisecond, "NORMAL")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.view(t.Context(), func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM jobs").Scan(&n); err != nil {
			return err
		}
		for seed := uint64(0); s.logSize() <= logHard; seed++ {
			run := bigRun()
			run.Predictions = make([]int, 1_000_000)
			record(t, s, newJob("m", seed, 1), run)
		}
		began := time.Now()
		record(t, s, newJob("last", 1, 1), newRun(start))
		if took := time.Since(began); took < 250*time.Millisecond || took > 10*time.Second {
			t.Errorf("the writer waited for %v", took)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	record(t, s, newJob("after", 1, 1), newRun(start))
	if n := s.logSize(); n > logSoft {
		t.Errorf("after the reader the log has %d bytes", n)
	}
}

// childFast looks for and records many runs of a millisecond.
func childFast(ctx context.Context, path, name string) error {
	name, text, _ := strings.Cut(name, " ")
	runs, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	if err := prepare(ctx, s); err != nil {
		return err
	}
	for i := range runs {
		job := newJob(name, uint64(i), 1)
		if _, err := s.State(ctx, []string{job.Key()}); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
		run := benchRun()
		run.Wall = time.Millisecond
		if err := s.Record(ctx, job, run); err != nil {
			return err
		}
	}
	return s.Close()
}

// Many processes that record short runs end with all of them, without a long log and without an error.
// $SSDL_FAST_RUNS says how many runs each of 16 processes records; by default it is fewer of both.
func TestFastWriters(t *testing.T) {
	processes, runs := 4, 150
	if text := os.Getenv("SSDL_FAST_RUNS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("SSDL_FAST_RUNS=%s is no number", text)
		}
		processes, runs = 16, n
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	s := newStore(t, path)
	longest := watchLog(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var reader, writers sync.WaitGroup
	reader.Go(func() {
		for ctx.Err() == nil { // as a progress display does
			s.Each(ctx, nil, func(RunRecord) error { return nil })
		}
	})
	began := time.Now()
	for i := range processes {
		cmd := child(t, "fast", path, fmt.Sprintf("writer%d %d", i, runs))
		writers.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
		})
	}
	writers.Wait()
	took := time.Since(began)
	stop()
	reader.Wait()
	n := longest()
	t.Logf("%d processes of %d runs took %v; the log had at most %d bytes, the file has %d", processes, runs, took, n, count(t, s, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
	if n > maxLog {
		t.Errorf("the log had %d bytes", n)
	}
	if n := count(t, s, "SELECT count(*) FROM runs"); n != processes*runs {
		t.Errorf("%d of %d runs are there", n, processes*runs)
	}
	wantIntact(t, s)
}
