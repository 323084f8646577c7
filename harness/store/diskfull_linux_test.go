package store

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk is a folder on a disk of so many bytes.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(bytes)); err != nil {
		t.Skipf("a small disk cannot be made: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fileOfSome makes a file of runs of about two megabytes.
func fileOfSome(t *testing.T) string {
	return shard(t, filepath.Join(t.TempDir(), "theirs.db"), func(s *Store) {
		for seed := range uint64(20) {
			run := bigRun()
			run.Predictions = make([]int, 100_000)
			record(t, s, realJob("ssdl", seed), run)
		}
	})
}

// An import on a full disk says which disk is full: that of the store, or that of temporary files. Nothing
// is imported, and the store is unchanged.
func TestImportOnAFullDisk(t *testing.T) {
	file := fileOfSome(t)
	t.Run("temporary files", func(t *testing.T) {
		small := smallDisk(t, 1<<20)
		t.Setenv("TMPDIR", small)
		s := openStore(t, filepath.Join(t.TempDir(), "runs.db"))
		_, err := merge(t, s, file)
		wantError(t, err, "theirs.db", "no room in "+small, "TMPDIR")
		if left, _ := os.ReadDir(small); len(left) > 0 {
			t.Errorf("%v was left behind", left)
		}
	})
	t.Run("store", func(t *testing.T) {
		s := openStore(t, filepath.Join(smallDisk(t, 1<<20), "runs.db"))
		mine := newRun(start)
		if err := prepare(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		record(t, s, newJob("m", 1, 1), mine)
		_, err := merge(t, s, file)
		wantError(t, err, s.path, "import theirs.db", "its disk is full")
		if n := count(t, s, "SELECT count(*) FROM runs"); n != 1 {
			t.Errorf("%d runs are there", n)
		}
		if _, _, err := s.RunByUID(t.Context(), mine.UID); err != nil {
			t.Error(err)
		}
		wantSound(t, s)
	})
}

func init() { roles["import"] = childImport }

// childImport imports a file where no file may get longer than a megabyte.
func childImport(ctx context.Context, path, name string) error {
	signal.Ignore(unix.SIGXFSZ) // which would end the program
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
		return err
	}
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Merge(ctx, MergeOptions{}, Source{Name: "theirs.db", Path: name})
	return err
}

func TestImportBeyondTheLimitOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	newStore(t, path)
	out, err := child(t, "import", path, fileOfSome(t)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ulimit -f") || !strings.Contains(string(out), "theirs.db") {
		t.Errorf("%v: %s", err, out)
	}
}
