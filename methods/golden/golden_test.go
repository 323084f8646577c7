// Package golden holds no code, only the test that runs every method against the
// recorded inputs and outputs of reference implementations.
//
// The files are the *.json of methods/golden/testdata, of a shared/golden folder
// beside the checkout, and of each folder named in $SSDL_GOLDEN (separated as in
// $PATH). A file is given to the handler whose name its "method" field begins with. A file of
// an unknown method fails, and so does one with a parameter that the catalog refuses.
//
// Files may leave out outputs, tolerances and hyperparameters: what there is is compared,
// and a test that can compare nothing is skipped with the reason.
package golden

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode"

	"ssdl/methods/catalog"
)

// handlers maps the beginning of a file's method field (lower case) to its check; the
// longest that fits is taken. Each *_test.go of this folder registers its own in init.
var handlers = map[string]func(t *testing.T, raw []byte){}

func handle(method string, check func(t *testing.T, raw []byte)) {
	handlers[strings.ToLower(method)] = check
}

func TestGolden(t *testing.T) {
	t.Parallel()
	dirs := []string{"testdata", filepath.Join("..", "..", "..", "shared", "golden")}
	dirs = append(dirs, filepath.SplitList(os.Getenv("SSDL_GOLDEN"))...)
	seen := map[string][]byte{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		sort.Strings(files)
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(path), ".json")
			if bytes.Equal(seen[name], raw) {
				continue
			}
			seen[name] = raw
			t.Run(name, func(t *testing.T) { run(t, path, raw) })
		}
	}
}

func run(t *testing.T, path string, raw []byte) {
	var head struct{ Method string }
	if err := json.Unmarshal(raw, &head); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	check := handlerOf(head.Method)
	if check == nil {
		t.Fatalf("%s: unknown method %q; there are %s", path, head.Method, strings.Join(slices.Sorted(maps.Keys(handlers)), "; "))
	}
	defer guard(t)
	check(t, raw)
}

// handlerOf returns the handler with the longest name that a method's name begins with, as a whole
// word; nil if there is none.
func handlerOf(method string) func(t *testing.T, raw []byte) {
	method = strings.ToLower(method)
	best := ""
	for key := range handlers {
		rest, ok := strings.CutPrefix(method, key)
		if ok && len(key) > len(best) && (rest == "" || !unicode.IsLetter(rune(rest[0])) && !unicode.IsDigit(rune(rest[0]))) {
			best = key
		}
	}
	return handlers[best]
}

// build makes a method of the catalog as a spec does: with the catalog's checks, and its defaults
// for what values leave out.
func build[T any](t *testing.T, name string, values catalog.Values) T {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Build(values)
	if err != nil {
		t.Fatalf("the file's parameters: %v", err)
	}
	return m.(T)
}

// guard makes a panic a failure, so that one malformed file does not end the test of the others.
func guard(t *testing.T) {
	if r := recover(); r != nil {
		t.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}

// need skips the test where the file lacks what nothing can be compared without.
func need(t *testing.T, what string, present bool) {
	t.Helper()
	if !present {
		t.Skipf("the file has no %s", what)
	}
}

// has reports whether the file has what a further comparison needs, and logs if not.
func has(t *testing.T, what string, present bool) bool {
	t.Helper()
	if !present {
		t.Logf("the file has no %s: what needs it is not compared", what)
	}
	return present
}

// fields are hyperparameters. A file may leave out any of them.
type fields map[string]json.RawMessage

func field[T any](t *testing.T, f fields, name string) (value T, present bool) {
	t.Helper()
	raw, ok := f[name]
	if !ok || string(raw) == "null" {
		return value, false
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value, true
}

func required[T any](t *testing.T, f fields, name string) T {
	t.Helper()
	value, ok := field[T](t, f, name)
	need(t, name, ok)
	return value
}

func (f fields) number(t *testing.T, name string) float64 {
	t.Helper()
	return required[float64](t, f, name)
}

func (f fields) count(t *testing.T, name string) int { t.Helper(); return required[int](t, f, name) }

// numbers returns the values of names, and whether the file has them all.
func (f fields) numbers(t *testing.T, names ...string) (values []float64, all bool) {
	t.Helper()
	all = true
	for _, name := range names {
		v, ok := field[float64](t, f, name)
		values, all = append(values, v), has(t, name, ok) && all
	}
	return values, all
}

// agrees fails the test where the file says another size than its matrices have.
func (f fields) agrees(t *testing.T, name string, size int) {
	t.Helper()
	if v, ok := field[int](t, f, name); ok && v != size {
		t.Fatalf("%s is %d, but the start has %d", name, v, size)
	}
}

// fixed skips the test where the file asks for another value of what the method does not
// let choose.
func (f fields) fixed(t *testing.T, name string, values ...float64) {
	t.Helper()
	if v, ok := field[float64](t, f, name); ok && !slices.Contains(values, v) {
		t.Skipf("the file asks for %s = %g; the method has it at %g", name, v, values)
	}
}
