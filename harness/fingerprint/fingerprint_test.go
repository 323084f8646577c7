package fingerprint

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// base is a module of packages; T reaches all of a but unused, and Up of b.
var base = map[string]string{
	"a/a.go": `package a

import (
	"errors"
	"fmt"

	"m/b"
)

// T is the method.
type T struct {
	x int ` + "`param:\"x\" doc:\"what it is\" min:\"0\"`" + `
}

const (
	one = iota
	two
)

const (
	limit = 3
	spare = 4
)

var errNone = errors.New("nothing")

// Bytes and Cost are for the planner.
func (T) Bytes() int { return 8 }

func (T) Cost() int { return 9 }

// Check may fail.
func (t T) Check() error {
	if t.x > limit {
		return fmt.Errorf("too large: %w", errNone)
	}
	return nil
}

var table = []int{
	1,
	2,
}

// Do does it.
func (t *T) Do() { fmt.Println(helper(t.x), b.Up(two), t.Cost()) }

func helper(x int) int {
	if x > 0 {
		return x // as it is
	}
	return table[0]
}

func unused() int { return 1 }
`,
	"b/b.go":      "package b\n\nfunc Up(x int) int\n\nfunc down(x int) int { return x }\n",
	"b/b_386.go":  "package b\n\nfunc Up2(x int) int { return 2 }\n",
	"b/b.s":       "// assembly\nTEXT Up, 4, $0\n\tRET\n",
	"b/b_test.go": "package b\n\nfunc helperOfATest() {}\n",
	"c/c.go":      "package c\n\nfunc Other() { more() }\n\nfunc more() {}\n\nfunc least() {}\n",
	"d/d.go":      "package d\n\nfunc Ignored() {}\n",
}

// of returns the fingerprint of T and of further roots.
func of(t *testing.T, files map[string]string, further ...Root) string {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := Parse(root, "m", Ignored{Packages: []string{"m/d"}, Methods: []string{"Bytes", "Cost"}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := tree.Of(append([]Root{{"m/a", "T"}}, further...)...)
	if err != nil {
		t.Fatal(err)
	}
	if len(f) != Length {
		t.Fatalf("fingerprint %q", f)
	}
	return f
}

// edited is base with old replaced by new in one file.
func edited(t *testing.T, file, old, new string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, text := range base {
		out[name] = text
	}
	if old == "" {
		out[file] += new
		return out
	}
	if strings.Count(out[file], old) != 1 {
		t.Fatalf("%q is %d times in %s", old, strings.Count(out[file], old), file)
	}
	out[file] = strings.Replace(out[file], old, new, 1)
	return out
}

func TestWhatCounts(t *testing.T) {
	want := of(t, base)
	for _, c := range []struct {
		name, file, old, new string
		counts               bool
	}{
		{"a comment", "a/a.go", "// as it is", "// unchanged", false},
		{"a doc comment", "a/a.go", "// Do does it.", "// Do acts.\n//\n// More.", false},
		{"blanks", "a/a.go", "if x > 0 {", "if   x>0 {\n", false},
		{"a list on one line", "a/a.go", "[]int{\n\t1,\n\t2,\n}", "[]int{1, 2}", false},
		{"what is not reached", "a/a.go", "unused() int { return 1 }", "unused() int { return 2 }", false},
		{"a new function beside", "a/a.go", "func unused", "func another() {}\n\nfunc unused", false},
		{"another package", "c/c.go", "more() {}", "more() { panic(1) }", false},
		{"the doc of a parameter", "a/a.go", "what it is", "what it was", false},
		{"the text of an error", "a/a.go", "too large: %w", "%w: too large", false},
		{"the text of another error", "a/a.go", `New("nothing")`, `New("none")`, false},
		{"a constant beside", "a/a.go", "spare = 4", "spare = 5", false},
		{"a method for the planner", "a/a.go", "return 8", "return 16", false},
		{"what is not reached of a package that is", "b/b.go", "return x", "return -x", false},
		{"a test", "b/b_test.go", "helperOfATest() {}", "helperOfATest() { panic(1) }", false},
		{"a comment in assembly", "b/b.s", "// assembly", "// vector code", false},
		{"a number", "a/a.go", "x > 0", "x > 1", true},
		{"a string", "a/a.go", "fmt.Println(", `fmt.Println("x", `, true},
		{"a field", "a/a.go", "x int `", "x, y int `", true},
		{"a tag", "a/a.go", `min:"0"`, `min:"1"`, true},
		{"an error that is wrapped", "a/a.go", "too large: %w", "too large: %v", true},
		{"a constant", "a/a.go", "limit = 3", "limit = 5", true},
		{"a method for the planner that is called", "a/a.go", "return 9", "return 10", true},
		{"a method of the type", "a/a.go", "func unused", "func (T) More() {}\n\nfunc unused", true},
		{"a table", "a/a.go", "\t2,\n}", "\t3,\n}", true},
		{"the constants above", "a/a.go", "one = iota", "one = iota + 1", true},
		{"what it imports", "b/b.go", "func Up(x int) int", "func Up(x int64) int", true},
		{"assembly", "b/b.s", "RET", "NOP\n\tRET", true},
		{"what its package does when loaded", "b/b.go", "", "\nfunc init() { panic(1) }\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := of(t, edited(t, c.file, c.old, c.new)); (got != want) != c.counts {
				t.Errorf("changed: %v, want %v", got != want, c.counts)
			}
		})
	}
	// The same declarations in other files and another order.
	moved := edited(t, "a/a.go", "func unused() int { return 1 }\n", "")
	cut := strings.Index(moved["a/a.go"], "func helper")
	moved["a/z.go"] = "package a\n\nfunc unused() int { return 1 }\n\n" + moved["a/a.go"][cut:]
	moved["a/a.go"] = moved["a/a.go"][:cut]
	if got := of(t, moved); got != want {
		t.Error("moving a function to another file counts")
	}
}

// A further root adds the code that it reaches; a package adds all of its code.
func TestRoots(t *testing.T) {
	one, all := Root{"m/c", "Other"}, Root{Package: "m/c"}
	for _, c := range []struct {
		name, old, new string
		one, all       bool
	}{
		{"what the root reaches", "more() {}", "more() { panic(1) }", true, true},
		{"what only the package has", "least() {}", "least() { panic(1) }", false, true},
		{"a new function", "func least", "func new() {}\n\nfunc least", false, true},
		{"a comment", "func least", "// least is last.\nfunc least", false, false},
	} {
		files := edited(t, "c/c.go", c.old, c.new)
		if got := of(t, files) != of(t, base); got {
			t.Errorf("%s counts without the root", c.name)
		}
		if got := of(t, files, one) != of(t, base, one); got != c.one {
			t.Errorf("%s counts for a function: %v, want %v", c.name, got, c.one)
		}
		if got := of(t, files, all) != of(t, base, all); got != c.all {
			t.Errorf("%s counts for the package: %v, want %v", c.name, got, c.all)
		}
	}
	if of(t, base, one) == of(t, base) || of(t, base, all) == of(t, base, one) {
		t.Error("a root does not count")
	}
	if of(t, base, one, one) != of(t, base, one) {
		t.Error("a root counts twice")
	}
}

func TestIgnoredPackages(t *testing.T) {
	uses := edited(t, "c/c.go", "package c\n", "package c\n\nimport \"m/d\"\n\nvar _ = d.Ignored\n")
	root := Root{Package: "m/c"}
	before := of(t, uses, root)
	uses["d/d.go"] = "package d\n\nfunc Ignored() { panic(1) }\n"
	if of(t, uses, root) != before {
		t.Error("a change of an ignored package counts")
	}
}

func TestFaults(t *testing.T) {
	tree, err := Parse(fstest.MapFS{"a/a.go": {Data: []byte("package a\n")}}, "m", Ignored{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Of(Root{"m/a", "T"}); err == nil || !strings.Contains(err.Error(), "m/a.T") {
		t.Errorf("a type that is not there: %v", err)
	}
	if _, err := tree.Of(Root{Package: "m/b"}); err == nil || !strings.Contains(err.Error(), "m/b") {
		t.Errorf("a package that is not there: %v", err)
	}
	tree, err = Parse(fstest.MapFS{"a/a.go": {Data: []byte("package a\n\nimport \"m/b/internal/c\"\n\ntype T struct{}\n\nfunc (T) Do() { c.Do() }\n")}}, "m", Ignored{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Of(Root{"m/a", "T"}); err == nil || !strings.Contains(err.Error(), "m/a.T.Do refers to the package m/b/internal/c") {
		t.Errorf("a package that the program does not have: %v", err)
	}
	if _, err := Parse(fstest.MapFS{"a/a.go": {Data: []byte("package\n")}}, "m", Ignored{}); err == nil || !strings.Contains(err.Error(), "a/a.go") {
		t.Errorf("a file that is no Go: %v", err)
	}
}

// The fingerprint of a method includes the code that methods share. The products, which methods call
// through gonum, are a root of their own.
func TestOurMethods(t *testing.T) {
	tree, err := Parse(os.DirFS("../.."), "ssdl", Ignored{Methods: []string{"Stages"}})
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]Root{}
	for _, r := range []Root{
		{"ssdl/methods/represent", "SRC"},
		{"ssdl/methods/represent", "NRC"},
		{"ssdl/methods/dictionary", "SSDL"},
		{"ssdl/methods/dictionary", "FDDL"},
		{"ssdl/methods/dictionary", "LEDL"},
		{"ssdl/methods/pretext", "PAHL"},
	} {
		methods[r.Name] = r
	}
	fingerprints := func() map[string]string {
		t.Helper()
		out := map[string]string{}
		for name, r := range methods {
			f, err := tree.Of(r, Root{"ssdl/methods/linalg", "Register"})
			if err != nil {
				t.Fatal(err)
			}
			out[name] = f
		}
		return out
	}
	before := fingerprints()
	for _, c := range []struct {
		of   Root
		hits string
	}{
		{Root{"ssdl/methods/sparse", "NNLS"}, "NRC"},
		{Root{"ssdl/methods/dictionary", "FDDL"}, "FDDL"},
		{Root{"ssdl/methods/linalg", "implementation.Dgemm"}, "SRC NRC SSDL FDDL LEDL PAHL"},
		{Root{"ssdl/methods/linalg", "lapackImplementation.Dpotrf"}, "SRC NRC SSDL FDDL LEDL PAHL"},
		{Root{"ssdl/methods/represent", "SRC.Stages"}, ""},
	} {
		if tree.decls[c.of] == nil {
			t.Fatalf("there is no %s.%s", c.of.Package, c.of.Name)
		}
		tree.decls[c.of].tokens = append(tree.decls[c.of].tokens, "changed")
		after := fingerprints()
		for name := range methods {
			changed := after[name] != before[name]
			if hit := strings.Contains(" "+c.hits+" ", " "+name+" "); changed != hit {
				t.Errorf("a change of %s.%s changes %s: %v, want %v", c.of.Package, c.of.Name, name, changed, hit)
			}
		}
		before = after
	}
}
