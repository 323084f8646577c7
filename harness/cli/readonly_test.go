//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A results folder that cannot be written can be read. The test needs a user whom permissions bind; root becomes "nobody" for it.
func TestReadOnlyResults(t *testing.T) {
	s := &stress{t: t, dir: t.TempDir()}
	src := strings.Replace(stressSpec, "1000..1007", "1000..1001", 1)
	if err := os.WriteFile(filepath.Join(s.dir, "spec.yaml"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "data", "tiny.csv"), tinySet(), 0o644); err != nil {
		t.Fatal(err)
	}
	table := s.run("run", "spec.yaml", "--results", "r")
	for _, beside := range []string{".lock", ".claims"} {
		if err := os.Remove(filepath.Join(s.dir, "r", "runs.db"+beside)); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self) // it may lie where only its owner can see it
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(s.dir, "ssdl")
	if err := os.WriteFile(bin, text, 0o755); err != nil {
		t.Fatal(err)
	}
	for d := filepath.Join(s.dir, "r"); d != os.TempDir() && d != filepath.Dir(d); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(d, 0o755) })
	}
	try := func(args ...string) (stdout []byte, stderr string, err error) {
		cmd := exec.Command(bin, append(args, "--results", "r")...)
		cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "SSDL_TEST_MAIN=1", "SSDL_DATA=")
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		var b bytes.Buffer
		cmd.Stderr = &b
		stdout, err = cmd.Output()
		return stdout, b.String(), err
	}
	for _, args := range []string{"status spec.yaml", "explain spec.yaml src", "plan spec.yaml", "gc --dry-run", "check spec.yaml --sample 1"} {
		if _, stderr, err := try(strings.Fields(args)...); err != nil {
			t.Errorf("%s: %v\n%s", args, err, stderr)
		}
	}
	if got, stderr, err := try("report", "spec.yaml"); err != nil || !bytes.Equal(got, table) {
		t.Errorf("report: %v\n%s%s", err, got, stderr)
	}
	// A write that the disk refuses is not an internal error.
	for args, want := range map[string]string{
		"run spec.yaml -s 7": "runs.db: cannot", "gc": "runs.db: cannot", "reproduce --spec spec.yaml -s 7": "runs.db: cannot", "import r/runs.db": "runs.db: cannot",
		"figure spec.yaml": "pictures cannot be written", "compare spec.yaml --figure": "pictures cannot be written",
		"archive spec.yaml -o r/a.zip": "r/a.zip", "export spec.yaml -o r/a.csv": "r/a.csv cannot be written", "export --mlflow r/m": "r/m", "site spec.yaml -o r/a.html": "r/a.html cannot be written",
	} {
		_, stderr, err := try(strings.Fields(args)...)
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v\n%s, want status %d and %q", args, err, stderr, exitUsage, want)
		}
	}
}
