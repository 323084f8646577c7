package fingerprint

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"ssdl/methods/catalog"
)

// base is a module of two packages; T reaches all of it but unused.
var base = map[string]string{
	"a/a.go": `package a

import (
	"fmt"

	"m/b"
)

// T is the method.
type T struct{ x int }

const (
	one = iota
	two
)

var table = []int{
	1,
	2,
}

// Do does it.
func (t *T) Do() { fmt.Println(helper(t.x), b.Up(two)) }

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
	"c/c.go":      "package c\n\nfunc Other() {}\n",
}

func of(t *testing.T, files map[string]string) string {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := Parse(root, "m")
	if err != nil {
		t.Fatal(err)
	}
	f, err := tree.Of("m/a", "T")
	if err != nil {
		t.Fatal(err)
	}
	if len(f) != Length {
		t.Fatalf("fingerprint %q", f)
	}
	return f
}

// edited is base with old replaced by new in a file.
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
		{"another package", "c/c.go", "Other() {}", "Other() { panic(1) }", false},
		{"what is not reached of a package that is", "b/b.go", "return x", "return -x", false},
		{"a test", "b/b_test.go", "helperOfATest() {}", "helperOfATest() { panic(1) }", false},
		{"a comment in assembly", "b/b.s", "// assembly", "// vector code", false},
		{"a number", "a/a.go", "x > 0", "x > 1", true},
		{"a string", "a/a.go", "fmt.Println(", `fmt.Println("x", `, true},
		{"a field", "a/a.go", "struct{ x int }", "struct{ x, y int }", true},
		{"a tag", "a/a.go", "struct{ x int }", "struct{ x int `param:\"x\"` }", true},
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

func TestFaults(t *testing.T) {
	tree, err := Parse(fstest.MapFS{"a/a.go": {Data: []byte("package a\n")}}, "m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Of("m/a", "T"); err == nil || !strings.Contains(err.Error(), "m/a.T") {
		t.Errorf("a type that is not there: %v", err)
	}
	tree, err = Parse(fstest.MapFS{"a/a.go": {Data: []byte("package a\n\nimport \"m/b/internal/c\"\n\ntype T struct{}\n\nfunc (T) Do() { c.Do() }\n")}}, "m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Of("m/a", "T"); err == nil || !strings.Contains(err.Error(), "m/a.T.Do refers to the package m/b/internal/c") {
		t.Errorf("a package that the program does not have: %v", err)
	}
	if _, err := Parse(fstest.MapFS{"a/a.go": {Data: []byte("package\n")}}, "m"); err == nil || !strings.Contains(err.Error(), "a/a.go") {
		t.Errorf("a file that is no Go: %v", err)
	}
}

// Every method has a fingerprint of its own, and it reaches the code that the methods share.
func TestOurMethods(t *testing.T) {
	tree, err := Parse(os.DirFS("../.."), "ssdl")
	if err != nil {
		t.Fatal(err)
	}
	reaches := func(typ, pkg string) string {
		t.Helper()
		f, err := tree.Of(pkg, typ)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if seen := len(catalog.All()); seen < 19 {
		t.Errorf("%d methods in the catalog", seen)
	}
	before := map[string]string{}
	for typ, pkg := range map[string]string{"SRC": "represent", "NRC": "represent", "SSDL": "dictionary", "FDDL": "dictionary", "LEDL": "dictionary", "PAHL": "pretext"} {
		before[typ] = reaches(typ, "ssdl/methods/"+pkg)
	}
	change := func(n node) { tree.decls[n].tokens = append(tree.decls[n].tokens, "changed") }
	for _, c := range []struct {
		of   node
		hits string
	}{
		{node{"ssdl/methods/sparse", "NNLS"}, "NRC"},
		{node{"ssdl/methods/dictionary", "FDDL"}, "FDDL"},
		// The product is called through gonum, and is there because the package is loaded.
		{node{"ssdl/methods/linalg", "implementation.Dgemm"}, "SRC NRC SSDL FDDL LEDL PAHL"},
	} {
		if tree.decls[c.of] == nil {
			t.Fatalf("there is no %s.%s", c.of.pkg, c.of.name)
		}
		change(c.of)
		for typ, was := range before {
			pkg := map[string]string{"SRC": "represent", "NRC": "represent", "PAHL": "pretext"}[typ]
			if pkg == "" {
				pkg = "dictionary"
			}
			is := reaches(typ, "ssdl/methods/"+pkg)
			if hit := strings.Contains(" "+c.hits+" ", " "+typ+" "); (is != was) != hit {
				t.Errorf("a change of %s.%s changes %s: %v, want %v", c.of.pkg, c.of.name, typ, is != was, hit)
			}
			before[typ] = is
		}
	}
}
