package main

import (
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/imports.txt and the generated blocks of the documents")

// Imports go one way: each package imports what testdata/imports.txt says, all of it and nothing
// else of ours. ARCHITECTURE.md has the picture. A new import is a line there, and a decision.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(out)) {
		pkg, imports := strings.Fields(line)[0], strings.Fields(line)[1:]
		ours := slices.DeleteFunc(imports, func(p string) bool { return !strings.HasPrefix(p, "ssdl/") })
		for i := range ours {
			ours[i] = strings.TrimPrefix(ours[i], "ssdl/")
		}
		got.WriteString(strings.TrimSpace(strings.TrimPrefix(pkg, "ssdl/")+": "+strings.Join(ours, " ")) + "\n")
	}
	const file = "testdata/imports.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); d != "" {
		t.Errorf("imports (-%s +now); if they should be so, run go test . -update:\n%s", file, d)
	}
}
