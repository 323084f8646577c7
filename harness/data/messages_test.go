package data

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/messages anew")

// messages collects the messages of the cases of a test, and compares them with a file of
// testdata/messages at its end.
type messages struct {
	lines []string
}

func collectMessages(t *testing.T, name string) *messages {
	m := &messages{}
	t.Cleanup(func() {
		path := filepath.Join("testdata", "messages", name+".txt")
		got := strings.Join(m.lines, "\n") + "\n"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Error(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != got {
			t.Errorf("the messages differ from %s (%v); read them and run the test with -update:\n%s", path, err, got)
		}
	})
	return m
}

// add records the error of a case, without the temporary folder of the test.
func (m *messages) add(name, dir string, err error) {
	text := fmt.Sprint(err)
	if dir != "" {
		text = filepath.ToSlash(strings.ReplaceAll(text, dir+string(filepath.Separator), ""))
	}
	m.lines = append(m.lines, name+"\n\t"+strings.ReplaceAll(text, "\n", "\n\t"))
}
