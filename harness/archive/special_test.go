//go:build unix

package archive

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Pipes and devices are refused before they are read.
func TestExtractRefusesSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe.zip"), filepath.Join(dir, "large.zip")
	if err := unix.Mkfifo(pipe, 0o644); err != nil {
		t.Skipf("no pipe can be made: %v", err)
	}
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxBytes+1); err != nil { // takes no room
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(20*time.Second, func() {
		t.Error("a pipe was opened")
		if fd, err := unix.Open(pipe, unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil { // lets the reader go
			unix.Close(fd)
		}
	})
	defer watchdog.Stop()
	for path, want := range map[string]string{pipe: "special file", "/dev/zero": "special file", dir: "folder", large: "no archive is that large"} {
		_, err := Extract(t.Context(), path, t.TempDir(), TrustedKeys{})
		wantError(t, err, path, want)
		if _, err := ReadTrustedKeys(path); err == nil {
			t.Errorf("keys were read from %s", path)
		}
	}
}
