// Package param reads the parameters of a method from the tags of its struct, and checks values
// against them:
//
//	Lambda float64 `param:"lambda" default:"2^-4" min:"2^-30" doc:"weight of the squared norm of a code"`
//	Rule   string  `param:"rule" default:"ratio" choices:"ratio,plain" doc:"how classes are compared"`
//
// A field with a param tag is a parameter: a float64, an int, a bool or a string. Numbers are
// finite, and min and max bound them, inclusive. Choices lists the values of a string. The default
// keeps to both.
//
// Nothing else checks parameters one by one: specs, the catalog and the methods all use this
// package. A method itself checks only how parameters fit each other and the data.
package param

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Param is one parameter of a method.
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

// Error says that a parameter of a method cannot have the value it has.
type Error struct {
	Method, Param string
	// Missing is true if a field still has its zero value, and zero is not allowed.
	Missing bool
	// Err says what is wrong with the value, or what to choose.
	Err error
}

func (e *Error) Error() string {
	if e.Missing {
		return fmt.Sprintf("%s: parameter %s is not set; %v", e.Method, e.Param, e.Err)
	}
	return fmt.Sprintf("%s: parameter %s: %v", e.Method, e.Param, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Of lists the parameters of a method in the order of its fields; none if m is no struct. It panics
// on a tag that it cannot read, which is a mistake in the source of the method.
func Of(m any) []Param {
	t := reflect.TypeOf(m)
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var out []Param
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("param")
		if name == "" {
			continue
		}
		mistake := func(tag string, err error) {
			panic(fmt.Sprintf("param: %s.%s: tag %s: %v", t, f.Name, tag, err))
		}
		p := Param{Name: name, Kind: f.Type.Kind(), Min: math.Inf(-1), Max: math.Inf(1), Doc: f.Tag.Get("doc"), field: i}
		if c := f.Tag.Get("choices"); c != "" {
			p.Choices = strings.Split(c, ",")
		}
		bound := func(tag string, b *float64) {
			if s := f.Tag.Get(tag); s != "" {
				v, err := ParseNumber(s)
				if err != nil {
					mistake(tag, err)
				}
				*b = v
			}
		}
		bound("min", &p.Min)
		bound("max", &p.Max)
		d, err := p.Check(f.Tag.Get("default"))
		if err != nil {
			mistake("default", err)
		}
		p.Default = d
		out = append(out, p)
	}
	return out
}

// Check tests the parameters of the struct m and returns an *Error for each that is out of its
// range, joined. method is its name, for the errors.
func Check(method string, m any) error {
	var errs []error
	for _, p := range Of(m) {
		v := reflect.ValueOf(m).Field(p.field)
		_, err := p.Check(v.Interface())
		switch {
		case err == nil:
		case v.IsZero():
			errs = append(errs, &Error{Method: method, Param: p.Name, Missing: true, Err: fmt.Errorf("choose %s", p.allowed())})
		default:
			errs = append(errs, &Error{Method: method, Param: p.Name, Err: err})
		}
	}
	return errors.Join(errs...)
}

// With returns a copy of the struct m whose parameters have the given values. They are complete and
// checked.
func With(m any, values map[string]any) any {
	s := reflect.New(reflect.TypeOf(m)).Elem()
	s.Set(reflect.ValueOf(m))
	for _, p := range Of(m) {
		s.Field(p.field).Set(reflect.ValueOf(values[p.Name]))
	}
	return s.Interface()
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
		return nil, fmt.Errorf("%v is %s", v, p.otherKind())
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

// otherKind is what a value of another kind is.
func (p Param) otherKind() string {
	switch p.Kind {
	case reflect.Int:
		return "not a whole number"
	case reflect.Float64:
		return "not a number"
	case reflect.Bool:
		return "neither true nor false"
	}
	return "not a string"
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

// Range is the parameter's bounds or choices, as a help text shows them; "" if there are none.
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

// allowed is Range in a sentence.
func (p Param) allowed() string {
	if last := len(p.Choices) - 1; last > 0 {
		return strings.Join(p.Choices[:last], ", ") + " or " + p.Choices[last]
	}
	return p.Range()
}

func (p Param) parse(s string) (any, error) {
	switch p.Kind {
	case reflect.Float64:
		return ParseNumber(s)
	case reflect.Int:
		v, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", s)
		}
		return v, nil
	case reflect.Bool:
		v, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", s)
		}
		return v, nil
	}
	return nil, fmt.Errorf("a parameter cannot be a %s", p.Kind)
}
