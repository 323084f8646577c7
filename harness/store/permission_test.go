//go:build unix

package store

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadOnlyFolder needs a user whom permissions bind; root becomes "nobody" for it.
func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := prepare(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	record(t, s, newJob("m", 1, 1), newRun(start))
	s.Close()
	for _, role := range []string{"open", "read"} {
		out, err := asNobody(t, dir, role, path)
		t.Logf("%s: %v %s", role, err, out)
		switch role {
		case "open":
			if err == nil {
				t.Error("a file in a folder that cannot be written was opened for writing")
			} else {
				wantError(t, errors.New(out), path, "cannot be written", "permission denied")
			}
		case "read":
			if err != nil || !strings.Contains(out, "1 data sets") {
				t.Errorf("a file in a folder that cannot be written: %v: %s", err, out)
			}
		}
	}
}

// asNobody runs a role of the test binary on a file whose folder it cannot write.
func asNobody(t *testing.T, dir, role, path string) (output string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The binary may lie where nobody but its owner can see it.
	bin := filepath.Join(dir, "bin")
	if _, err := os.Stat(bin); err != nil {
		from, err := os.Open(self)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		to, err := os.OpenFile(bin, os.O_WRONLY|os.O_CREATE, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for d := dir; d != os.TempDir() && d != filepath.Dir(d); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(d, 0o755) })
	}
	cmd := exec.CommandContext(t.Context(), bin)
	cmd.Env = append(os.Environ(), roleVar+"="+role, pathVar+"="+path)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	output, _, _ = strings.Cut(string(out), "\n") // under -cover there is more
	return output, err
}
