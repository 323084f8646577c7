//go:build unix

package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Pipes and devices are refused before they are opened: opening a pipe waits for ever.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := unix.Mkfifo(pipe, 0o644); err != nil {
		t.Skipf("no pipe can be made: %v", err)
	}
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	good := shard(t, filepath.Join(dir, "good.db"), func(*Store) {})
	beside := shard(t, filepath.Join(dir, "beside.db"), func(*Store) {})
	if err := unix.Mkfifo(beside+"-wal", 0o644); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large.db")
	if err := os.WriteFile(large, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxSource+1); err != nil { // takes no room
		t.Fatal(err)
	}
	s := openStore(t, filepath.Join(dir, "into.db"))
	watchdog := time.AfterFunc(20*time.Second, func() {
		t.Error("a pipe was opened")
		if fd, err := unix.Open(pipe, unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil { // lets the reader go
			unix.Close(fd)
		}
	})
	defer watchdog.Stop()
	for path, want := range map[string]string{
		pipe: "special file", "/dev/zero": "special file", link: "special file", beside: "is a special file", large: "no file of runs is longer",
	} {
		for _, paths := range [][]string{{path}, {good, path}} {
			_, err := merge(t, s, paths...)
			wantError(t, err, filepath.Base(path), want)
		}
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		_, err := Open(t.Context(), path)
		wantError(t, err, path, "is a special file")
		_, err = OpenReadOnly(t.Context(), path)
		wantError(t, err, path, "is a special file")
	}
}
