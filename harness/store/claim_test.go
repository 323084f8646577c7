package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Remove removes a store and the files beside it, but not while a job runs.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	release, ok, err := s.Claim("job")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if runtime.GOOS == "linux" { // elsewhere a process does not see its own locks
		var file *FileError
		if err := Remove(path); !errors.As(err, &file) || !strings.Contains(err.Error(), fmt.Sprintf("not removed: process %d on ", os.Getpid())) {
			t.Errorf("while a job runs: %v", err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	for _, p := range []string{path + ".pruned", other} {
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // there is nothing to remove the second time
		if err := Remove(path); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "other.db" {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The first store to claim a job has it until it releases it.
func TestClaim(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		t.Skip("on this system a process does not exclude itself; the stress test has two processes")
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	a, b := newStore(t, path), newStore(t, path)
	claim := func(s *Store, key string, want bool) func() {
		t.Helper()
		release, ok, err := s.Claim(key)
		if err != nil || ok != want {
			t.Fatalf("claim of %s: %v, %v, want %v", key, ok, err, want)
		}
		return release
	}
	release := claim(a, "one", true)
	claim(b, "one", false)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if h, ok := b.ClaimedBy("one"); !ok || h.PID != os.Getpid() || h.Host != host || time.Since(h.Since).Abs() > time.Minute {
		t.Errorf("it is claimed by %+v, %v", h, ok)
	}
	if h, ok := b.ClaimedBy("never"); ok {
		t.Errorf("what nobody claimed is claimed by %+v", h)
	}
	claim(b, "two", true)
	claim(a, "two", false)
	release()
	claim(b, "one", true)
	c, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	claim(c, "three", true)
	claim(a, "three", false)
	if err := c.Close(); err != nil { // as at the end of a process
		t.Fatal(err)
	}
	claim(a, "three", true)
}
