// Tests runs go test with its arguments and prints its output. At the end it prints how many tests were
// skipped, with name and reason. Its exit status is that of go test.
//
//	go run ./scripts/tests ./...
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
		os.Exit(1)
	}
	skipped, err := relay(out, os.Stdout)
	summarise(os.Stdout, skipped)
	err = errors.Join(err, cmd.Wait())
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(ended.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "tests:", err)
		os.Exit(1)
	}
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// skip is a test that was skipped.
type skip struct{ test, reason string }

// relay prints the results of packages and the output of failed tests, and collects the skipped
// tests.
func relay(in io.Reader, out io.Writer) ([]skip, error) {
	var skipped []skip
	wrote := map[string]*strings.Builder{} // output of each running test
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil { // a message of go itself
				e = event{Action: "output", Output: string(line)}
			}
			name := strings.TrimPrefix(e.Package+" "+e.Test, " ")
			switch {
			case e.Action == "build-output", e.Action == "output" && e.Test == "":
				if e.Output != "PASS\n" {
					io.WriteString(out, e.Output)
				}
			case e.Action == "output":
				if wrote[name] == nil {
					wrote[name] = &strings.Builder{}
				}
				wrote[name].WriteString(e.Output)
			case e.Test == "" || wrote[name] == nil:
			case e.Action == "fail":
				io.WriteString(out, wrote[name].String())
				delete(wrote, name)
			case e.Action == "skip":
				skipped = append(skipped, skip{name, reasonIn(wrote[name].String())})
				delete(wrote, name)
			case e.Action == "pass":
				delete(wrote, name)
			}
		}
		if err == io.EOF {
			return skipped, nil
		}
		if err != nil {
			return skipped, err
		}
	}
}

// place matches the file and line before a message of a test.
var place = regexp.MustCompile(`^\s*[\w.]+\.go:\d+: `)

// reasonIn is the last message of a skipped test.
func reasonIn(output string) string {
	reason := "no reason given"
	for line := range strings.Lines(output) {
		if at := place.FindString(line); at != "" {
			reason = strings.TrimSpace(line[len(at):])
		}
	}
	return reason
}

// summarise counts the skipped tests and lists them by reason.
func summarise(out io.Writer, skipped []skip) {
	if len(skipped) == 0 {
		fmt.Fprintln(out, "no test was skipped")
		return
	}
	fmt.Fprintf(out, "tests skipped: %d\n", len(skipped))
	slices.SortFunc(skipped, func(a, b skip) int {
		return strings.Compare(a.reason+"\n"+a.test, b.reason+"\n"+b.test)
	})
	for i, s := range skipped {
		if i == 0 || s.reason != skipped[i-1].reason {
			fmt.Fprintf(out, "  %s\n", s.reason)
		}
		fmt.Fprintf(out, "    %s\n", s.test)
	}
}
