package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ssdl/methods/param"
)

// Values maps parameter names to float64, int, bool or string.
type Values map[string]any

// Param is a parameter of a method, as its struct's tags describe it.
type Param = param.Param

// ParseNumber reads a number as specs write it: see param.ParseNumber.
func ParseNumber(s string) (float64, error) { return param.ParseNumber(s) }

// FormatNumber is the inverse of ParseNumber.
func FormatNumber(x float64) string { return param.FormatNumber(x) }

// Nearest returns the word closest to name, or "" when none is close enough to suggest.
func Nearest(name string, words []string) string { return param.Nearest(name, words) }

// Params lists the parameters of the entry in the order of its fields.
func (e Entry) Params() []Param { return param.Of(e.Proto) }

// Complete checks the given values and fills in the defaults: two sets of values that
// mean the same run become the same. It reports all errors, joined.
func (e Entry) Complete(given Values) (Values, error) {
	params := e.Params()
	out := make(Values, len(params))
	for _, p := range params {
		out[p.Name] = p.Default
	}
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	var errs []error
	for _, name := range names {
		i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			errs = append(errs, e.unknownParam(name, params))
			continue
		}
		v, err := params[i].Check(given[name])
		if err != nil {
			errs = append(errs, &param.Error{Method: e.Name, Param: name, Err: err})
			continue
		}
		out[name] = v
	}
	return out, errors.Join(errs...)
}

func (e Entry) unknownParam(name string, params []Param) error {
	known := make([]string, len(params))
	for i, p := range params {
		known[i] = p.Name
	}
	if s := Nearest(name, known); s != "" {
		return fmt.Errorf("%s has no parameter %q; did you mean %q?", e.Name, name, s)
	}
	return fmt.Errorf("%s has no parameter %q; it has %s", e.Name, name, strings.Join(known, ", "))
}

// Build makes the method, learner or pretext from the given values and the defaults.
func (e Entry) Build(v Values) (any, error) {
	full, err := e.Complete(v)
	if err != nil {
		return nil, err
	}
	return param.With(e.Proto, full), nil
}
