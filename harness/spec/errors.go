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

// shown is the largest number of faults in the text of Errors.
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

// faults collects the errors of one file.
type faults struct {
	file string
	list Errors
}

// at adds a fault at the place of node n.
func (f *faults) at(n *yaml.Node, format string, args ...any) {
	f.note(n.Line, n.Column, fmt.Sprintf(format, args...))
}

// note adds a fault; an unknown place becomes 1:1.
func (f *faults) note(line, column int, message string) {
	message = strings.ReplaceAll(message, "\n", "; ")
	f.list = append(f.list, Error{f.file, max(line, 1), max(column, 1), message})
}

// err returns all faults as Errors, sorted by place, or nil.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.list
}
