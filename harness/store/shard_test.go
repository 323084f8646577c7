package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// Runs of shards are treated as recorded here: they have no origin, the earliest is current, and a second
// merge adds none.
func TestMergeShards(t *testing.T) {
	dir := t.TempDir()
	first, second := realJob("ssdl", 1), realJob("src", 1)
	mine, theirs, other := scored(start, 0.9), scored(longAgo, 0.9), scored(start, 0.8)
	into := shard(t, filepath.Join(dir, "into.db"), func(s *Store) { record(t, s, first, mine) })
	var files []Source
	for name, fill := range map[string]func(*Store){
		"001-0001.db": func(s *Store) { record(t, s, first, theirs) },
		"001-0002.db": func(s *Store) { record(t, s, second, other) },
	} {
		path := shard(t, filepath.Join(dir, name), fill)
		files = append(files, Source{Name: name, Path: path})
	}
	s := openStore(t, into)
	for i, added := range []int{2, 0} {
		m, err := s.Merge(t.Context(), MergeOptions{Shards: true}, files...)
		if err != nil || m.Runs != added || m.Known != 2-added {
			t.Fatalf("merge %d: %+v, %v", i, m, err)
		}
	}
	current(t, s, first, theirs)
	current(t, s, second, other)
	if got := finished(t, s, second); got.Origin != nil {
		t.Errorf("the origin of a shard's run is %+v", got.Origin)
	}
	if report, err := s.Check(t.Context(), nil, nil); err != nil || len(report.Faults) > 0 || report.Imported != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// What was verified in a shard is verified here, once; what another's file says of repetitions is not taken over.
func TestMergeRepetitions(t *testing.T) {
	dir := t.TempDir()
	j, r := realJob("ssdl", 1), scored(start, 0.9)
	file := Source{Name: "1.db", Path: shard(t, filepath.Join(dir, "1.db"), func(s *Store) {
		record(t, s, j, r)
		if err := s.RecordRepetition(t.Context(), Repetition{Run: r.UID, Started: start, Workers: 3, Env: r.Env}); err != nil {
			t.Fatal(err)
		}
	})}
	for name, want := range map[string]int{"merged": 1, "imported": 0} {
		s := openStore(t, shard(t, filepath.Join(dir, name+".db"), func(*Store) {}))
		for range 2 {
			if _, err := s.Merge(t.Context(), MergeOptions{Shards: name == "merged"}, file); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Repetitions(t.Context(), []string{r.UID}); err != nil || len(got) != want {
			t.Errorf("%s: %d repetitions, want %d: %v", name, len(got), want, err)
		}
		if report, err := s.Check(t.Context(), nil, nil); err != nil || len(report.Faults) > 0 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
}

func TestWallTimes(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	short, long, broken := newRun(start), newRun(start), failed(newRun(start), StatusError, "ssdl: no")
	short.Wall, long.Wall, broken.Wall = time.Second, 2*time.Second, time.Hour
	record(t, s, newJob("ssdl", 1, 1), short)
	record(t, s, newJob("ssdl", 2, 1), long)
	record(t, s, newJob("ssdl", 3, 1), broken)
	other := newRun(start)
	other.Wall = time.Hour
	record(t, s, newJob("src", 1, 1), other)
	got, err := s.WallTimes(t.Context())
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if d := got[Computation{"d0", "ssdl", "pahl"}]; d != 1500*time.Millisecond {
		t.Errorf("ssdl takes %v, want 1.5 s", d)
	}
}

// BenchmarkMergeShards merges 100 stores of 100 runs each, which must take less than five seconds.
func BenchmarkMergeShards(b *testing.B) {
	dir := b.TempDir()
	run := benchRun()
	run.Wall = time.Millisecond // nothing waits for the disk
	var files []Source
	for k := range 100 {
		name := fmt.Sprintf("001-%04d.db", k+1)
		s := newStore(b, filepath.Join(dir, "work", name))
		for i := range 100 {
			run.UID = NewUID()
			if err := s.Record(b.Context(), newJob("m", uint64(100*k+i), 1), run); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Backup(b.Context(), filepath.Join(dir, name)); err != nil {
			b.Fatal(err)
		}
		files = append(files, Source{Name: name, Path: filepath.Join(dir, name)})
	}
	n := 0
	for b.Loop() {
		n++
		s := newStore(b, filepath.Join(dir, fmt.Sprint("into", n), "runs.db"))
		if m, err := s.Merge(b.Context(), MergeOptions{Shards: true}, files...); err != nil || m.Runs != 10_000 {
			b.Fatalf("%+v, %v", m, err)
		}
	}
}
