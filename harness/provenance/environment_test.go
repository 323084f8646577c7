package provenance

import (
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	env := Environment()
	for _, name := range []string{"go", "os", "arch", "cores", "blas", "executable"} {
		if env[name] == "" {
			t.Errorf("the environment has no %s", name)
		}
	}
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(env["executable"]) {
		t.Errorf("the hash of the program is %q", env["executable"])
	}
}

// The environment records the replacement of a module, and says if the sources are modified.
func TestSourcesOf(t *testing.T) {
	build := func(replace *debug.Module, settings ...debug.BuildSetting) map[string]string {
		env := map[string]string{}
		gonum := &debug.Module{Path: "gonum.org/v1/gonum", Version: "v0.17.0", Sum: "h1:x=", Replace: replace}
		describeBuild(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings, Deps: []*debug.Module{gonum}}, env)
		return env
	}
	revision, clean, modified := debug.BuildSetting{Key: "vcs.revision", Value: "c0ffee"}, debug.BuildSetting{Key: "vcs.modified", Value: "false"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	fork := &debug.Module{Path: "example.org/gonum", Version: "v0.17.1", Sum: "h1:y="}
	for _, c := range []struct {
		env   map[string]string
		want  Sources
		gonum string
	}{
		{build(nil, revision, clean), Committed, "v0.17.0"},
		{build(nil, revision, modified), Modified, "v0.17.0"},
		{build(nil), Unknown, "v0.17.0"},
		{build(&debug.Module{Path: "../gonum"}, revision, clean), Modified, "v0.17.0 => ../gonum"},
		{build(fork, revision, clean), Committed, "v0.17.0 => example.org/gonum v0.17.1 h1:y="},
		{map[string]string{"version": "v1.2.0"}, Committed, ""},
		{map[string]string{"commit": "c0ffee"}, Committed, ""},
		{map[string]string{"commit": "c0ffee", "dirty": "00"}, Modified, ""},
		{nil, Unknown, ""},
	} {
		if got := SourcesOf(c.env); got != c.want {
			t.Errorf("the sources of %v are %s, want %s", c.env, got, c.want)
		}
		if got := moduleVersion(c.env["modules"], "gonum.org/v1/gonum"); got != c.gonum {
			t.Errorf("gonum in %v is %q, want %q", c.env, got, c.gonum)
		}
	}
}

// Only gonum computes beside the fingerprinted code: Inconsistencies compares no other module.
func TestModulesThatCompute(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "../../methods/catalog", "../protocol").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	// x/sys tells what the processor has.
	if want := []string{"golang.org/x/sys", "gonum.org/v1/gonum", "ssdl"}; !slices.Equal(found, want) {
		t.Errorf("results come from the modules %v, want %v", found, want)
	}
}
