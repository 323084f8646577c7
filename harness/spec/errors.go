package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Error is one fault of a spec and its place in the file (line and column count from 1).
type Error struct {
	File         string
	Line, Column int
	Message      string
}

func (e Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors is every fault of a spec, in the order of the file.
type Errors []Error

// shown bounds the text of Errors: what has more faults is no spec.
const shown = 100

// Error gives one line per fault.
func (e Errors) Error() string {
	var lines []string
	for _, one := range e[:min(len(e), shown)] {
		lines = append(lines, one.Error())
	}
	if len(e) > shown {
		lines = append(lines, fmt.Sprintf("%s: and %d more", e[0].File, len(e)-shown))
	}
	return strings.Join(lines, "\n")
}

// faults collects the errors of one file while it is read, so that they are reported
// together.
type faults struct {
	file string
	list Errors
}

// at notes a fault at the place of node n.
func (f *faults) at(n *yaml.Node, format string, args ...any) {
	f.note(n.Line, n.Column, fmt.Sprintf(format, args...))
}

// note adds a fault; a place that the YAML reader does not know becomes 1:1.
func (f *faults) note(line, column int, message string) {
	message = strings.ReplaceAll(message, "\n", "; ")
	f.list = append(f.list, Error{f.file, max(line, 1), max(column, 1), message})
}

// err returns what was noted, sorted by place, or nil.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.list
}
