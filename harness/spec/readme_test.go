package spec_test

import (
	"os"
	"strings"
	"testing"

	"ssdl/harness/spec"
)

// The example of the README is a spec that runs.
func TestReadmeExampleParses(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(raw), "```yaml\n")
	block, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("README.md has no yaml example")
	}
	s, err := spec.Parse("README.md", []byte(block))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Cells()); n != 7 {
		t.Fatalf("%d cells, want the six of crc and one", n)
	}
}
