package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The commit is recorded, and what differs from it: an edit, a new source file, their taking back.
func TestCheckout(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=Test", "-c", "user.email=test@example.org"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	look := func() (commit, dirty string) {
		env := map[string]string{}
		checkout(t.Context(), dir, env)
		return env["commit"], env["dirty"]
	}
	git("init", "-q")
	write("go.mod", "module ssdl\n")
	write("a.go", "package a\n")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	commit, dirty := look()
	if len(commit) != 40 || dirty != "" {
		t.Fatalf("a clean checkout is %q, dirty %q", commit, dirty)
	}
	for built, want := range map[string]string{commit: commit, "0123": ""} {
		env := map[string]string{"vcs.revision": built}
		checkout(t.Context(), dir, env)
		if env["commit"] != want {
			t.Errorf("of a program built of %s the commit is %q, want %q", built, env["commit"], want)
		}
	}
	t.Setenv("GIT_DIR", t.TempDir()) // as in a hook of another repository
	if got, _ := look(); got != commit {
		t.Errorf("in a hook of another repository the commit is %q, want %s", got, commit)
	}
	os.Unsetenv("GIT_DIR")
	seen := map[string]bool{"": true}
	for _, change := range []func(){
		func() { write("a.go", "package a\n\nvar A = 1\n") },
		func() { write("b.go", "package a\n") },
		func() { write("b.go", "package a\n\nvar B = 1\n") },
		func() { write("c.go", "package a\n\nvar B = 1\n") },
	} {
		change()
		if _, dirty = look(); seen[dirty] {
			t.Errorf("after a change the difference is %q, as before", dirty)
		}
		seen[dirty] = true
	}
	write("a.go", "package a\n")
	os.Remove(filepath.Join(dir, "b.go"))
	os.Remove(filepath.Join(dir, "c.go"))
	write("notes.txt", "no source")
	if _, dirty = look(); dirty != "" {
		t.Errorf("everything was taken back, and the difference is %q", dirty)
	}
	write("go.mod", "module other\n")
	if commit, _ := look(); commit != "" {
		t.Errorf("the checkout of another module counts as ours: %s", commit)
	}
}
