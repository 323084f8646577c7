package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// A store that is deleted or replaced while a writer works is noticed at the next record and at the
// end, with its path.
func TestFileTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be taken away on this system")
	}
	for name, c := range map[string]struct {
		take func(t *testing.T, path string) error
		want string
	}{
		"deleted":        {func(t *testing.T, path string) error { return os.Remove(path) }, "deleted"},
		"folder deleted": {func(t *testing.T, path string) error { return os.RemoveAll(filepath.Dir(path)) }, "deleted"},
		"replaced": {func(t *testing.T, path string) error {
			return os.Rename(shard(t, filepath.Join(t.TempDir(), "other.db"), func(*Store) {}), path)
		}, "it was replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "results", "runs.db")
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if err := prepare(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			record(t, s, newJob("m", 1, 1), newRun(start))
			if err := c.take(t, path); err != nil {
				t.Fatal(err)
			}
			wantError(t, s.Record(t.Context(), newJob("m", 2, 1), newRun(start)), path, "record run", c.want, "while it was open")
			_, err = s.Merge(t.Context(), MergeOptions{}, Source{Name: "a.db", Path: shard(t, filepath.Join(t.TempDir(), "a.db"), func(*Store) {})})
			wantError(t, err, path, c.want)
			wantError(t, s.Close(), path, "close", c.want)
		})
	}
}

// A process that is killed while it creates a store leaves an empty file: a writer uses it, a reader says
// that it is empty and leaves it so.
func TestEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := OpenReadOnly(t.Context(), path)
	wantError(t, err, path, "is empty")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("a reader made %v", entries)
	}
	s := newStore(t, path)
	record(t, s, newJob("m", 1, 1), newRun(start))

	// Killed a little later, it is a database without tables.
	bare := filepath.Join(t.TempDir(), "bare.db")
	tamper(t, bare, "PRAGMA journal_mode = WAL")
	_, err = OpenReadOnly(t.Context(), bare)
	wantError(t, err, bare, "is empty")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

// Record waits for the disk if a run took more than a second, and not for a shorter one.
func TestLongRunsAreDurable(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	if _, err := s.w.Exec(`CREATE TEMP TABLE seen (uid, synchronous);
		CREATE TEMP TRIGGER look AFTER INSERT ON main.runs BEGIN
			INSERT INTO seen SELECT new.uid, synchronous FROM pragma_synchronous; END`); err != nil {
		t.Fatal(err)
	}
	const normal, full = 1, 2
	for i, c := range []struct {
		wall time.Duration
		want int
	}{{time.Millisecond, normal}, {time.Second + 1, full}, {time.Second, normal}, {4 * time.Minute, full}} {
		run := newRun(start)
		run.Wall = c.wall
		record(t, s, newJob("m", uint64(i), 1), run)
		var got, after int
		if err := s.w.QueryRow("SELECT synchronous FROM seen WHERE uid = ?", run.UID).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if err := s.w.QueryRow("PRAGMA synchronous").Scan(&after); err != nil {
			t.Fatal(err)
		}
		if got != c.want || after != normal {
			t.Errorf("a run of %v was recorded with synchronous = %d, want %d, and %d afterwards", c.wall, got, c.want, after)
		}
	}
}
