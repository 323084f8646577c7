package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"ssdl/harness/job"
)

// listStore has n runs, one in ten of them failed, as fast as they can be written.
func listStore(tb testing.TB, n int) *Store {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "runs.db")
	s, err := Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	if err := s.Register(tb.Context(), []Dataset{{Hash: "d", Name: "tiny", Samples: 2, Dim: 1, Classes: 2, Source: "a test"}}, []NamedSplit{{Split: Split{Hash: "s", Dataset: "d", Kind: "class", Train: 1, Labeled: 1, Test: 1}, Asked: Asked{How: "class"}}}); err != nil {
		tb.Fatal(err)
	}
	tx, err := s.w.Begin()
	if err != nil {
		tb.Fatal(err)
	}
	defer tx.Rollback()
	for i := range n {
		j := Job{Job: job.Job{DatasetHash: "d", SplitHash: "s", Seed: uint64(i), Eval: job.EvalTest, Method: job.Part{Name: []string{"crc", "src"}[i%2], Params: map[string]any{"lambda": 0.5}}}, Dataset: "tiny"}
		id, key, err := insertJob(tb.Context(), tx, j)
		if err != nil {
			tb.Fatal(err)
		}
		if i == 0 {
			if _, err := tx.Exec(`INSERT INTO envs (id, facts) VALUES ('e', '{}')`); err != nil {
				tb.Fatal(err)
			}
		}
		r := Run{UID: fmt.Sprintf("%032x", i), Status: StatusOK, Started: time.Unix(int64(i), 0), Wall: time.Second, Metrics: map[string]float64{"accuracy": 0.5, "bce": 1}}
		if i%10 == 9 {
			r.Status, r.Error, r.Metrics = StatusError, "it failed", nil
		}
		if err := insertRun(tb.Context(), tx, id, key, "e", r); err != nil {
			tb.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestList(t *testing.T) {
	s := listStore(t, 40)
	for _, c := range []struct {
		name       string
		l          Listing
		all, shown int
		first      uint64
	}{
		{"all", Listing{}, 40, 40, 39},
		{"a part", Listing{Offset: 10, Limit: 5}, 40, 5, 29},
		{"behind the end", Listing{Offset: 100, Limit: 5}, 40, 0, 0},
		{"a method", Listing{Part: "crc"}, 20, 20, 38},
		{"failed ones", Listing{Status: StatusError, Limit: 2}, 4, 2, 39},
		{"a data set that there is not", Listing{Dataset: "x"}, 0, 0, 0},
		{"no SQL", Listing{Dataset: "' OR 1=1 --"}, 0, 0, 0},
	} {
		c.l.Metrics = []string{"accuracy"}
		runs, all, err := s.List(t.Context(), c.l)
		if err != nil || all != c.all || len(runs) != c.shown || c.shown > 0 && runs[0].Seed != c.first {
			t.Errorf("%s: %d of %d runs, %v", c.name, len(runs), all, err)
			continue
		}
		for _, r := range runs {
			if failed := r.Status == StatusError; failed != (r.Error != "") || failed == (r.Metrics["accuracy"] == 0.5) || r.Metrics["bce"] != 0 {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
}

// Claimed reports the jobs that another store has reserved, and reserves none.
func TestClaimed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("on this system a process does not see its own locks")
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	a := newStore(t, path)
	reader, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	claimed := func(want ...string) {
		t.Helper()
		is, err := reader.Claimed([]string{"one", "two"})
		if err != nil || len(is) != len(want) || len(want) > 0 && !is[want[0]] {
			t.Errorf("claimed are %v, %v, want %v", is, err, want)
		}
	}
	claimed()
	release, ok, err := a.Claim("one")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	claimed("one")
	if _, ok, err := newStore(t, path).Claim("two"); err != nil || !ok {
		t.Errorf("asking has reserved a job: %v, %v", ok, err)
	}
	release()
	if is, err := reader.Claimed([]string{"one"}); err != nil || len(is) != 0 {
		t.Errorf("after it was given back: %v, %v", is, err)
	}
}

// BenchmarkList lists all runs of a store, as a program would, and a page of them, as a reader.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		s := listStore(b, n)
		for _, limit := range []int{0, 200} {
			b.Run(fmt.Sprintf("%d/limit=%d", n, limit), func(b *testing.B) {
				for b.Loop() {
					if runs, all, err := s.List(b.Context(), Listing{Limit: limit, Metrics: []string{"accuracy", "bce"}}); err != nil || all != n || len(runs) == 0 {
						b.Fatal(len(runs), all, err)
					}
				}
			})
		}
	}
}
