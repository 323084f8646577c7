package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The blocks of the documents marked "sh test" run, those of a page in one folder.
func TestDocumentedCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, scripts := t.TempDir(), 0
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		commands := ""
		for _, m := range regexp.MustCompile("(?ms)^```sh test\\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1) {
			commands += m[1]
		}
		if commands == "" {
			continue
		}
		scripts++
		name := filepath.Base(page)
		script := fmt.Sprintf("exec sh -ex %s.sh\n-- %s.sh --\n%s", name, name, commands)
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if scripts == 0 {
		t.Fatal("no document has commands to test")
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: withoutData(t)})
}

// Commands that the documents show have verbs, arguments and flags that exist.
func TestDocumentedVerbs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^    (?:bin/)?ssdl ([^#\n]*)`)
	found := 0
	for _, page := range append(pages, "../../README.md", "../../REPRODUCE.md") {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(raw), -1) {
			if strings.ContainsAny(m[1], `'"$\`) { // a shell would read it otherwise
				continue
			}
			found++
			parser, err := newParser()
			if err != nil {
				t.Fatal(err)
			}
			_, err = parser.Parse(strings.Fields(m[1]))
			if e := (*exitError)(nil); err != nil && !errors.As(err, &e) { // the data need not be here
				t.Errorf("%s: ssdl %s: %v", page, m[1], err)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d commands", found)
	}
}
