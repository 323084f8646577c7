package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// numpy is the path of a Python that has numpy; a test that needs one is skipped without.
func numpy(t *testing.T) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/bin") {
		python := filepath.Join(dir, "python3")
		if exec.Command(python, "-c", "import numpy").Run() == nil && !strings.Contains(dir, "shims") {
			return python
		}
	}
	t.Skip("no python3 here has numpy: apt-get install python3-numpy")
	return ""
}

// fence is a block of a page of Markdown with its language and the name of its file, which may be empty.
var fence = regexp.MustCompile("(?ms)^```(\\w+) ?([\\w.]*)$\n(.*?)^```$")

// The files and commands that docs/exec.md shows work.
func TestExecPage(t *testing.T) {
	python := numpy(t)
	page, err := os.ReadFile("../../docs/exec.md")
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := append(os.Environ(), "SSDL_TEST_MAIN=1", "SSDL_DATA=", "PATH="+filepath.Dir(python)+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands := 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		kind, name, text := block[1], block[2], block[3]
		if kind != "console" {
			if name == "" {
				t.Errorf("a block of %s has no name", kind)
			} else if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for line := range strings.Lines(text) {
			args := strings.Fields(line)
			program := map[string]string{"ssdl": exe, "python3": python}[args[0]]
			if program == "" {
				t.Fatalf("%s: neither ssdl nor python3", line)
			}
			cmd := exec.Command(program, args[1:]...)
			cmd.Dir, cmd.Env = dir, env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", line, err, out)
			} else if commands++; strings.Contains(line, "theirs.yaml") && !strings.Contains(string(out), "theirs (not run here)") {
				t.Errorf("%s: predictions are not marked:\n%s", line, out)
			}
		}
	}
	if commands < 6 {
		t.Errorf("the page has %d commands", commands)
	}
}

// The adapters keep every rule of the protocol. An adapter without its interpreter is skipped.
func TestAdapters(t *testing.T) {
	t.Chdir("../..")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program, file, adapter string
		args                   []string
	}{
		{"python3", "crc.py", "ssdl_exec.py", nil},
		{"python3", "src.py", "ssdl_exec.py", nil},
		{"python3", "ledl.py", "ssdl_exec.py", nil},
		{"octave-cli", "crc.m", "ssdl_exec.m", []string{"--no-init-file"}},
		{"Rscript", "crc.R", "ssdl_exec.R", nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			program := c.program
			if program == "python3" {
				program = numpy(t)
			} else if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not installed", program)
			}
			args := append(append([]string{"exec", "check", "--files", "scripts/exec/" + c.adapter, "--params", "lambda=0.0625", "--", program}, c.args...), "scripts/exec/"+c.file)
			cmd := exec.Command(exe, args...)
			cmd.Env = append(os.Environ(), "SSDL_TEST_MAIN=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
