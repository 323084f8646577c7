// Package fingerprint detects changes of code that can change a result. A fingerprint is a hash of
// the tokens of all declarations that some roots reach, within this module. It ignores what cannot
// change a result: comments, layout, the order of declarations and files, the wording of errors,
// the documentation of parameters, and code that the roots do not reach.
package fingerprint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Length is the length of a fingerprint: hexadecimal digits of a SHA-256.
const Length = 16

// Root is where a fingerprint starts: a top-level declaration, or the whole package if Name is
// empty. A type includes its methods.
type Root struct {
	// Package is an import path, e.g. "ssdl/methods/represent".
	Package string
	// Name is e.g. "CRC" or "NewGallery", or "CRC.Fit" for one method.
	Name string
}

// Ignored is code that cannot change a result. A fingerprint leaves it out.
type Ignored struct {
	// Packages are import paths.
	Packages []string
	// Methods are names such as "Bytes". A type does not include its methods of these names; they
	// are included only if other included code calls a method of that name.
	Methods []string
}

// Tree is the parsed source of a module.
type Tree struct {
	decls    map[Root]*decl
	packages map[string]bool
	// assembly holds the tokens of a package's .s files, by its path.
	assembly map[string][]string
	ignored  Ignored
}

// decl is all that is declared under one name: a function may have several bodies, one per
// platform.
type decl struct {
	tokens   []string // one per declaration
	refs     map[Root]bool
	selected map[string]bool // fields and methods it uses
	noBody   bool            // a function whose body is in assembly
}

// Parse reads the non-test Go files and the assembly below root, the top folder of the module.
func Parse(root fs.FS, module string, ignored Ignored) (*Tree, error) {
	t := &Tree{decls: map[Root]*decl{}, packages: map[string]bool{}, assembly: map[string][]string{}, ignored: ignored}
	for _, pkg := range ignored.Packages {
		t.packages[pkg] = true
	}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		ext := path.Ext(name)
		if ext != ".go" && ext != ".s" {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		pkg := path.Join(module, path.Dir(name))
		if slices.Contains(ignored.Packages, pkg) {
			return nil
		}
		if ext == ".s" {
			t.assembly[pkg] = append(t.assembly[pkg], instructions(src))
			return nil
		}
		t.packages[pkg] = true
		return t.file(pkg, module, name, src)
	})
	if err != nil {
		return nil, fmt.Errorf("the sources in the program: %w", err)
	}
	return t, nil
}

// Of returns the fingerprint of the code that the roots reach. It refuses roots, and packages of
// the module that the code reaches, which the tree does not have: their changes would go unseen.
func (t *Tree) Of(roots ...Root) (string, error) {
	w := walk{
		Tree: t, reached: map[Root]bool{}, assembly: map[string]bool{}, loaded: map[string]bool{},
		selected: map[string]bool{}, waiting: map[string][]Root{},
	}
	for _, r := range roots {
		if err := w.start(r); err != nil {
			return "", err
		}
	}
	for len(w.queue) > 0 {
		at := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.follow(at); err != nil {
			return "", err
		}
	}
	h := sha256.New()
	for _, n := range slices.SortedFunc(maps.Keys(w.reached), func(a, b Root) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name))
	}) {
		fmt.Fprintf(h, "%s %s\n", n.Package, n.Name)
		for _, s := range slices.Sorted(slices.Values(t.decls[n].tokens)) {
			fmt.Fprintf(h, "%d %s\n", len(s), s)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(w.assembly)) {
		for _, s := range slices.Sorted(slices.Values(t.assembly[pkg])) {
			fmt.Fprintf(h, "%s %d %s\n", pkg, len(s), s)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:Length], nil
}

// walk is the state of Of.
type walk struct {
	*Tree
	reached  map[Root]bool
	queue    []Root
	assembly map[string]bool // packages with a reached function that has no Go body
	loaded   map[string]bool // packages with a reached declaration
	// selected holds the ignored method names that reached code uses; waiting holds, by name, the
	// methods that no reached code uses yet.
	selected map[string]bool
	waiting  map[string][]Root
}

// start visits a root.
func (w *walk) start(r Root) error {
	if r.Name != "" {
		if w.decls[r] == nil {
			return fmt.Errorf("%s.%s is not among the sources in the program", r.Package, r.Name)
		}
		w.visit(r)
		return nil
	}
	found := false
	for n := range w.decls {
		if n.Package == r.Package {
			w.visit(n)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("the package %s is not among the sources in the program", r.Package)
	}
	return nil
}

func (w *walk) visit(n Root) {
	if !w.reached[n] && w.decls[n] != nil {
		w.reached[n] = true
		w.queue = append(w.queue, n)
	}
}

// follow visits what a reached declaration refers to.
func (w *walk) follow(at Root) error {
	d := w.decls[at]
	if d.noBody {
		w.assembly[at.Package] = true
	}
	for n := range d.refs {
		if !w.packages[n.Package] {
			return fmt.Errorf("%s.%s refers to the package %s, which is not among the sources in the program", at.Package, at.Name, n.Package)
		}
		w.visit(n)
	}
	for name := range d.selected {
		if slices.Contains(w.ignored.Methods, name) && !w.selected[name] {
			w.selected[name] = true
			for _, n := range w.waiting[name] {
				w.visit(n)
			}
		}
	}
	if !strings.Contains(at.Name, ".") { // a type includes its methods
		for n := range w.decls {
			method, ok := strings.CutPrefix(n.Name, at.Name+".")
			switch {
			case n.Package != at.Package || !ok:
			case slices.Contains(w.ignored.Methods, method) && !w.selected[method]:
				w.waiting[method] = append(w.waiting[method], n)
			default:
				w.visit(n)
			}
		}
	}
	if !w.loaded[at.Package] { // a package runs these when it is loaded
		w.loaded[at.Package] = true
		w.visit(Root{at.Package, "init"})
		w.visit(Root{at.Package, "_"})
	}
	return nil
}
