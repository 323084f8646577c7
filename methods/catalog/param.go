package catalog

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Values maps parameter names to float64, int, bool or string.
type Values map[string]any

// Param is one parameter of a method, read from a struct field such as
//
//	Lambda float64 `param:"lambda" default:"2^-4" min:"0" doc:"ridge weight"`
//	Rule   string  `param:"rule" default:"ratio" choices:"ratio,plain" doc:"class rule"`
type Param struct {
	Name    string
	Kind    reflect.Kind // Float64, Int, Bool or String
	Default any
	// Min and Max bound numbers (inclusive); infinite where there is no bound.
	Min, Max float64
	Choices  []string
	Doc      string
	field    int
}

// Params lists the parameters of the entry in the order of its fields.
func (e Entry) Params() []Param {
	t := reflect.TypeOf(e.Proto)
	var out []Param
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("param")
		if name == "" {
			continue
		}
		p := Param{Name: name, Kind: f.Type.Kind(), Min: math.Inf(-1), Max: math.Inf(1), Doc: f.Tag.Get("doc"), field: i}
		if c := f.Tag.Get("choices"); c != "" {
			p.Choices = strings.Split(c, ",")
		}
		if s := f.Tag.Get("min"); s != "" {
			p.Min = mustNumber(e, name, s)
		}
		if s := f.Tag.Get("max"); s != "" {
			p.Max = mustNumber(e, name, s)
		}
		d, err := p.parse(f.Tag.Get("default"))
		if err != nil {
			panic(fmt.Sprintf("catalog: default of %s.%s: %v", e.Name, name, err))
		}
		p.Default = d
		out = append(out, p)
	}
	return out
}

// mustNumber reads a number out of a struct tag; a test builds every entry, so a bad
// tag never leaves the house.
func mustNumber(e Entry, name, s string) float64 {
	v, err := ParseNumber(s)
	if err != nil {
		panic(fmt.Sprintf("catalog: tag of %s.%s: %v", e.Name, name, err))
	}
	return v
}

// Check converts v to the parameter's kind and tests its range. Numbers may be given
// as int or float64 (an int parameter takes a float64 only if it is whole) or as a
// string that ParseNumber reads.
func (p Param) Check(v any) (any, error) {
	switch x := v.(type) {
	case int:
		if p.Kind == reflect.Float64 {
			v = float64(x)
		}
	case float64:
		if p.Kind == reflect.Int && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			v = int(x)
		}
	case string:
		if p.Kind != reflect.String {
			parsed, err := p.parse(x)
			if err != nil {
				return nil, err
			}
			v = parsed
		}
	}
	if reflect.TypeOf(v) == nil || reflect.TypeOf(v).Kind() != p.Kind {
		return nil, fmt.Errorf("%v is no %s", v, p.kindName())
	}
	switch x := v.(type) {
	case int:
		return v, p.inRange(float64(x))
	case float64:
		return v, p.inRange(x)
	case string:
		if p.Choices != nil && !slices.Contains(p.Choices, x) {
			hint := "one of " + strings.Join(p.Choices, ", ")
			if s := Nearest(x, p.Choices); s != "" {
				hint = fmt.Sprintf("did you mean %q? (%s)", s, hint)
			}
			return nil, fmt.Errorf("%q is not allowed: %s", x, hint)
		}
	}
	return v, nil
}

func (p Param) kindName() string {
	switch p.Kind {
	case reflect.Int:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	}
	return "string"
}

func (p Param) inRange(x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return errors.New("must be finite")
	}
	if x < p.Min || x > p.Max {
		return fmt.Errorf("%g is out of range: %s", x, p.Range())
	}
	return nil
}

// Range says in words what the parameter's bounds or choices are; "" if there are none.
func (p Param) Range() string {
	switch {
	case p.Choices != nil:
		return strings.Join(p.Choices, "|")
	case math.IsInf(p.Min, -1) && math.IsInf(p.Max, 1):
		return ""
	case math.IsInf(p.Max, 1):
		return "at least " + FormatNumber(p.Min)
	case math.IsInf(p.Min, -1):
		return "at most " + FormatNumber(p.Max)
	}
	return FormatNumber(p.Min) + " to " + FormatNumber(p.Max)
}

// FormatNumber is the inverse of ParseNumber: it writes powers of two below 1/4 as such.
func FormatNumber(x float64) string {
	if frac, exp := math.Frexp(x); frac == 0.5 && exp < -1 {
		return "2^" + strconv.Itoa(exp-1)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func (p Param) parse(s string) (any, error) {
	switch p.Kind {
	case reflect.Float64:
		return ParseNumber(s)
	case reflect.Int:
		v, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", s)
		}
		return v, nil
	case reflect.Bool:
		v, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", s)
		}
		return v, nil
	case reflect.String:
		return s, nil
	}
	return nil, fmt.Errorf("a parameter cannot be a %s", p.Kind)
}

// ParseNumber reads a decimal number or a power such as 2^-14 (base and exponent whole).
func ParseNumber(s string) (float64, error) {
	if base, exp, ok := strings.Cut(s, "^"); ok {
		b, err1 := strconv.Atoi(strings.TrimSpace(base))
		e, err2 := strconv.Atoi(strings.TrimSpace(exp))
		if err1 != nil || err2 != nil || b == 0 {
			return 0, fmt.Errorf("%q is no power: write e.g. 2^-14", s)
		}
		if b == 2 {
			return math.Ldexp(1, e), nil
		}
		return math.Pow(float64(b), float64(e)), nil
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return v, nil
}

// Complete checks the given values and fills in the defaults: two sets of values that
// mean the same run become the same. All errors are reported, joined.
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
			errs = append(errs, fmt.Errorf("%s: parameter %s: %w", e.Name, name, err))
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
	s := reflect.New(reflect.TypeOf(e.Proto)).Elem()
	for _, p := range e.Params() {
		s.Field(p.field).Set(reflect.ValueOf(full[p.Name]))
	}
	return s.Interface(), nil
}

// Nearest returns the word closest to name, or "" when none is close enough to suggest.
func Nearest(name string, words []string) string {
	best, bestDist := "", 1+len(name)/3
	for _, w := range words {
		if d := editDistance(strings.ToLower(name), strings.ToLower(w)); d <= bestDist && (best == "" || d < bestDist) {
			best, bestDist = w, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
