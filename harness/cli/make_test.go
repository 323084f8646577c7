package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// make clean keeps runs and downloads; make clean-runs deletes the whole store.
func TestMakeClean(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	makefile, err := filepath.Abs("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range strings.Fields("bin/ssdl bin/libonnxruntime.so r/tables/t.txt r/figures/f.png r/mine.db r/runs.db r/runs.db-wal r/runs.db-shm r/runs.db.lock r/runs.db.claims") {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ target, left string }{
		{"clean", "bin/libonnxruntime.so r/mine.db r/runs.db r/runs.db-shm r/runs.db-wal r/runs.db.claims r/runs.db.lock"},
		{"clean-runs", "bin/libonnxruntime.so r/mine.db"},
		{"clean-runs", "bin/libonnxruntime.so r/mine.db"},
	} {
		// The test stands in for the program, and nothing is built.
		cmd := exec.Command("make", "-C", dir, "-f", makefile, tc.target, "BIN="+map[bool]string{true: self, false: "bin/ssdl"}[tc.target == "clean-runs"], "RESULTS=r", "GO=true")
		cmd.Env = append(os.Environ(), "SSDL_TEST_MAIN=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make %s: %v\n%s", tc.target, err, out)
		}
		var left []string
		for _, pattern := range []string{"bin/*", "r/*", "r/*/*"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range found {
				name, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				left = append(left, filepath.ToSlash(name))
			}
		}
		if want := strings.Fields(tc.left); !slices.Equal(left, want) {
			t.Errorf("make %s leaves %v, want %v", tc.target, left, want)
		}
	}
}
