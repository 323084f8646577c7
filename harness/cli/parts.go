package cli

import (
	"fmt"
	"slices"
	"strings"

	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

// part is a spec with what -m asks for of it: env is the caller's but for that.
type part struct {
	name string
	env  *env
}

// parts are the specs that were named, or else usual, those that a verb takes of itself. The latter -m
// narrows together: a spec that has none of the rows is left out, and what no spec has is an error.
func (e *env) parts(named, usual []string) ([]part, error) {
	var out []part
	if len(named) > 0 || len(e.common.Methods) == 0 {
		if len(named) == 0 {
			named = usual
		}
		for _, name := range named {
			out = append(out, part{name, e})
		}
		return out, nil
	}
	var known, found []string
	for _, name := range usual {
		s, err := spec.Load(name)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		var rows []string
		for _, m := range e.common.Methods {
			if _, err := s.Select(spec.Filter{Methods: []string{m}}); err == nil {
				rows = append(rows, m)
			}
		}
		for _, r := range s.Rows {
			known = append(known, r.ID, r.Method, r.Name())
		}
		found = append(found, rows...)
		if len(rows) > 0 {
			common, narrowed := *e.common, *e
			common.Methods, narrowed.common = rows, &common
			out = append(out, part{name, &narrowed})
		}
	}
	for _, m := range e.common.Methods {
		if !slices.Contains(found, m) {
			hint := ""
			if n := catalog.Nearest(m, known); n != "" {
				hint = fmt.Sprintf("; did you mean %q?", n)
			}
			return nil, fail(exitUsage, "no row or method %q in %s%s", m, strings.Join(usual, ", "), hint)
		}
	}
	return out, nil
}
