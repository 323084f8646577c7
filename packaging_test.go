package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What others build on is named by its hash: the image by its digest, actions by their commits.
func TestPinned(t *testing.T) {
	image := readFile(t, "Containerfile")
	from := regexp.MustCompile(`(?m)^FROM (\S+)$`).FindAllStringSubmatch(image, -1)
	if len(from) != 1 || !regexp.MustCompile(`^docker\.io/library/golang:\d+\.\d+\.\d+-\w+@sha256:[0-9a-f]{64}$`).MatchString(from[0][1]) {
		t.Errorf("the base of the image is %v", from)
	}
	if !strings.HasSuffix(image, "\nCMD [\"make\", \"reproduce\"]\n") {
		t.Error("the image does not run make reproduce")
	}
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	targets := readFile(t, "Makefile")
	for _, file := range files {
		var w struct {
			Jobs map[string]struct {
				Steps []struct{ Uses, Run string }
			}
		}
		if err := yaml.Unmarshal([]byte(readFile(t, file)), &w); err != nil || len(w.Jobs) == 0 {
			t.Fatalf("%s: %v", file, err)
		}
		for name, job := range w.Jobs {
			for _, s := range job.Steps {
				if s.Uses != "" && !regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`).MatchString(s.Uses) {
					t.Errorf("%s, %s: %s is not named by its commit", file, name, s.Uses)
				}
				if target, ok := strings.CutPrefix(s.Run, "make "); ok && !strings.Contains(targets, "\n"+target+":") {
					t.Errorf("%s, %s: the Makefile has no target %s", file, name, target)
				}
			}
		}
	}
}

// The newest section of the changelog is of the version that is cited.
func TestReleaseIsNamedOnce(t *testing.T) {
	var cff struct {
		Version string
		Date    string `yaml:"date-released"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, "CITATION.cff")), &cff); err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (.*)$`).FindStringSubmatch(readFile(t, "CHANGELOG.md"))
	if want := cff.Version + " (" + cff.Date + ")"; cff.Version == "" || newest == nil || newest[1] != want {
		t.Errorf("the changelog begins with %v, CITATION.cff is of %s", newest, want)
	}
}
