package spec

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"ssdl/methods/catalog"
)

// isName reports whether s can name a spec, a row or a data set (a folder).
var isName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`).MatchString

// maxName bounds the length of a name. File systems allow 255 bytes, and file names join several names.
const maxName = 64

// kind describes n in error messages.
func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}

// fields returns the values of a mapping by key. Faults are unknown keys, duplicate keys, and a node that is
// not a mapping; what names the mapping in them.
func (f *faults) fields(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for _, kv := range f.pairs(n, what) {
		if slices.Contains(known, kv.key) {
			out[kv.key] = kv.value
			continue
		}
		if s := catalog.Nearest(kv.key, known); s != "" {
			f.at(kv.node, "%s has no field %q; did you mean %q?", what, kv.key, s)
		} else {
			f.at(kv.node, "%s has no field %q; it has %s", what, kv.key, strings.Join(known, ", "))
		}
	}
	return out
}

type pair struct {
	key         string
	node, value *yaml.Node
}

// pairs returns the keys and values of a mapping in the order of the file. A duplicate key is a fault
// and left out.
func (f *faults) pairs(n *yaml.Node, what string) []pair {
	if n.Kind != yaml.MappingNode {
		f.at(n, "%s must be a mapping (key: value), not %s", what, kind(n))
		return nil
	}
	first := map[string]int{}
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			f.at(k, "a key of %s must be a word, not %s", what, kind(k))
			continue
		}
		if line, ok := first[k.Value]; ok {
			f.at(k, "%s has %q twice; the first is on line %d", what, k.Value, line)
			continue
		}
		first[k.Value] = k.Line
		out = append(out, pair{k.Value, k, v})
	}
	return out
}

// items returns the entries of a list. An empty list is a fault.
func (f *faults) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		f.at(n, "%s must be a list, not %s", what, kind(n))
		return nil
	}
	if len(n.Content) == 0 {
		f.at(n, "%s is empty; give at least one", what)
	}
	return n.Content
}

// text reads a string of one line. An absent node (nil) is "".
func (f *faults) text(n *yaml.Node, what string) string {
	switch {
	case n == nil:
		return ""
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		f.at(n, "%s must be text, not %s", what, kind(n))
	case strings.TrimSpace(n.Value) == "" || strings.ContainsAny(n.Value, "\n\r\t"):
		f.at(n, "%s must be one line of text, not %q", what, n.Value)
	default:
		return n.Value
	}
	return ""
}

// name reads a name: see isName and maxName.
func (f *faults) name(n *yaml.Node, what string) string {
	s := f.text(n, what)
	switch {
	case s != "" && !isName(s):
		f.at(n, "%s %q is not a name. Use letters, digits and . _ + -", what, s)
	case len(s) > maxName:
		f.at(n, "%s %.20q... has %d characters. Use at most %d: files are named after it", what, s, len(s), maxName)
	default:
		return s
	}
	return ""
}

// names reads a list of names without duplicates.
func (f *faults) names(n *yaml.Node, what string) []string {
	var out []string
	for _, item := range f.items(n, what) {
		s := f.name(item, "a name in "+what)
		if slices.Contains(out, s) {
			f.at(item, "%s has %q twice", what, s)
		} else if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// choice reads one of the allowed words; an absent node is the default def, a fault "".
func (f *faults) choice(n *yaml.Node, what, def string, allowed ...string) string {
	if n == nil {
		return def
	}
	s := f.text(n, what)
	if s == "" || slices.Contains(allowed, s) {
		return s
	}
	// Never suggest to tune on the test part.
	suggest := slices.DeleteFunc(slices.Clone(allowed), func(a string) bool { return a == SelectTest })
	if near := catalog.Nearest(s, suggest); near != "" {
		f.at(n, "%s cannot be %q; did you mean %q?", what, s, near)
	} else {
		f.at(n, "%s cannot be %q; it is one of %s", what, s, strings.Join(suggest, ", "))
	}
	return ""
}

// octal matches numbers that some YAML readers read as octal.
var octal = regexp.MustCompile(`^[-+]?0[0-9_]`)

// number reads an unquoted number: decimal, or a power such as 2^-14.
func number(n *yaml.Node) (float64, error) {
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		return 0, fmt.Errorf("must be a number, not %s", kind(n))
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return 0, fmt.Errorf("must be a number; write %s without quotes", n.Value)
	case octal.MatchString(n.Value):
		return 0, fmt.Errorf("must be a number; write %s without the leading zero", n.Value)
	}
	v, err := catalog.ParseNumber(n.Value)
	if err != nil {
		return 0, err
	}
	if v == 0 {
		return 0, nil // -0 would make another job key
	}
	return v, nil
}

// ref is a parameter of a row.
type ref struct {
	full  string // name in an Assignment
	entry catalog.Entry
	param catalog.Param
}

// check tests a value against the parameter and converts it to its kind.
func (r ref) check(v any) (any, error) {
	if r.param.Kind == reflect.Interface {
		return v, nil
	}
	v, err := r.param.Check(v)
	if err != nil {
		return nil, r.wrap(err)
	}
	return v, nil
}

func (r ref) wrap(err error) error {
	return fmt.Errorf("%s: parameter %s: %w", r.entry.Name, r.param.Name, err)
}

// scalar reads one value of a parameter.
func (r ref) scalar(n *yaml.Node) (any, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return nil, r.wrap(fmt.Errorf("needs a value, not %s", kind(n)))
	}
	switch r.param.Kind {
	case reflect.Interface:
		return r.open(n)
	case reflect.Int, reflect.Float64:
		v, err := number(n)
		if err != nil {
			return nil, r.wrap(err)
		}
		return r.check(v)
	case reflect.Bool:
		if n.Tag != "!!bool" {
			return nil, r.wrap(errors.New("must be true or false, without quotes"))
		}
		return r.check(strings.ToLower(n.Value))
	}
	return r.check(n.Value)
}
