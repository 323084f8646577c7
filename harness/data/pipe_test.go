//go:build unix

package data

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// soon fails the test if f does not return within a moment.
func soon(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: still waiting", what)
		return nil
	}
}

// Opening a pipe without a writer waits for ever.
func TestPipes(t *testing.T) {
	pipe := func(path string) {
		t.Helper()
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
	}
	for _, name := range []string{"features.npy", "labels.npy", "official_split.npy", "meta.json"} {
		dir := dataFolder(t, "{}")
		pipe(filepath.Join(dir, name))
		for what, f := range map[string]func() error{
			"Load":    func() error { _, err := Load(t.Context(), dir, Options{}); return err },
			"Inspect": func() error { _, err := Inspect(dir); return err },
			"Norms":   func() error { _, err := Norms(t.Context(), dir); return err },
		} {
			wantRefusal(t, soon(t, what, f), name, "is a named pipe, expected a regular file")
		}
	}
	for _, name := range []string{"x.csv", "x.npz", "x.mat"} {
		root := t.TempDir()
		path := filepath.Join(root, name)
		pipe(path)
		found, ok := Find("x", []string{root})
		if !ok || found != path {
			t.Errorf("%s is not found, and so cannot be refused by name", name)
		}
		wantRefusal(t, soon(t, name, func() error { _, err := Load(t.Context(), path, Options{}); return err }), name, "is a named pipe")
		list, err := List([]string{root})
		if err != nil || len(list) != 1 || list[0].Err == nil {
			t.Errorf("%s: List = %+v, %v", name, list, err)
		}
	}
	path := filepath.Join(t.TempDir(), "split.json")
	pipe(path)
	wantRefusal(t, soon(t, "ReadSplit", func() error { _, err := ReadSplit(path, &Set{}); return err }), "split.json", "is a named pipe")
	wantRefusal(t, soon(t, "ReadSplit", func() error { _, err := ReadSplit(path, labelled(2, 2)); return err }), "split.json", "is a named pipe")
}
