package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTryLock(t *testing.T) {
	open := func(path string) *os.File {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	path := filepath.Join(t.TempDir(), "lock")
	first, second := open(path), open(path)
	if held, err := TryLock(first); err != nil || !held {
		t.Fatalf("a free lock: %t, %v", held, err)
	}
	if held, err := TryLock(second); err != nil || held {
		t.Errorf("a lock that is held: %t, %v", held, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if held, err := TryLock(second); err != nil || !held {
		t.Errorf("a lock that was released: %t, %v", held, err)
	}
}
