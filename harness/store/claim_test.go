package store

import (
	"path/filepath"
	"runtime"
	"testing"
)

// A job is claimed once, by whichever store came first, until it is given back.
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
