package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The commands in docs/archive.md parse.
func TestArchivePageCommands(t *testing.T) {
	page, err := os.ReadFile("../../docs/archive.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(page)) {
		command, ok := strings.CutPrefix(line, "    ssdl ")
		if !ok {
			continue
		}
		found++
		parser, err := newParser(kong.Writers(io.Discard, io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		quoted := strings.Split(strings.TrimSpace(command), "'") // every second part is one word
		var args []string
		for i, part := range quoted {
			if i%2 == 1 {
				args = append(args, part)
			} else {
				args = append(args, strings.Fields(part)...)
			}
		}
		if _, err := parser.Parse(args); err != nil {
			t.Errorf("ssdl %s: %v", strings.TrimSpace(command), err)
		}
	}
	if found < 8 {
		t.Errorf("the page has %d commands", found)
	}
}
