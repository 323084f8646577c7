// Package fingerprint tells whether the code of a method changed. A fingerprint is a hash of the
// tokens of the declarations that a type reaches, in its own package and in those it imports of
// this module: comments, layout and the order of declarations do not count, nor does code that
// the type does not reach.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Length is that of a fingerprint: hexadecimal digits of a SHA-256.
const Length = 16

// Tree is the parsed source of a module.
type Tree struct {
	decls    map[node]*decl
	packages map[string]bool
	// assembly holds the tokens of a package's .s files, by its path.
	assembly map[string][]string
}

// node names a top-level declaration: "LCKSVD", or "LCKSVD.Fit" for a method.
type node struct{ pkg, name string }

// decl is all that is declared under one name: on several platforms a function may have several
// bodies.
type decl struct {
	tokens []string // one per declaration
	refs   map[node]bool
	naked  bool // a function whose body is in assembly
}

// Parse reads the non-test Go files and the assembly below root. module is the path of the module
// that root is the top of; packages of it that are left out on purpose are named in without.
func Parse(root fs.FS, module string, without ...string) (*Tree, error) {
	t := &Tree{decls: map[node]*decl{}, packages: map[string]bool{}, assembly: map[string][]string{}}
	for _, pkg := range without {
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
		if slices.Contains(without, pkg) {
			return nil
		}
		if ext == ".s" {
			t.assembly[pkg] = append(t.assembly[pkg], lines(src))
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

// Of returns the fingerprint of a type of a package, e.g. "ssdl/methods/represent" and "CRC". It
// refuses a type that reaches a package of the module that the tree does not have: a change there
// would go unseen.
func (t *Tree) Of(pkg, typ string) (string, error) {
	start := node{pkg, typ}
	if t.decls[start] == nil {
		return "", fmt.Errorf("%s.%s is not among the sources in the program", pkg, typ)
	}
	reached := map[node]bool{start: true}
	assembly := map[string]bool{}
	packages := map[string]bool{}
	for queue := []node{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		visit := func(n node) {
			if !reached[n] && t.decls[n] != nil {
				reached[n] = true
				queue = append(queue, n)
			}
		}
		d := t.decls[at]
		if d.naked {
			assembly[at.pkg] = true
		}
		for n := range d.refs {
			if !t.packages[n.pkg] {
				return "", fmt.Errorf("%s.%s refers to the package %s, which is not among the sources in the program", at.pkg, at.name, n.pkg)
			}
			visit(n)
		}
		if !strings.Contains(at.name, ".") { // the methods of a type come with it
			for n := range t.decls {
				if n.pkg == at.pkg && strings.HasPrefix(n.name, at.name+".") {
					visit(n)
				}
			}
		}
		if !packages[at.pkg] { // and with a package what it does when it is loaded
			packages[at.pkg] = true
			visit(node{at.pkg, "init"})
			visit(node{at.pkg, "_"})
		}
	}
	h := sha256.New()
	for _, n := range slices.SortedFunc(maps.Keys(reached), func(a, b node) int {
		return strings.Compare(a.pkg+"\x00"+a.name, b.pkg+"\x00"+b.name)
	}) {
		fmt.Fprintf(h, "%s %s\n", n.pkg, n.name)
		for _, s := range slices.Sorted(slices.Values(t.decls[n].tokens)) {
			fmt.Fprintf(h, "%d %s\n", len(s), s)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(assembly)) {
		for _, s := range slices.Sorted(slices.Values(t.assembly[pkg])) {
			fmt.Fprintf(h, "%s %d %s\n", pkg, len(s), s)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:Length], nil
}

// file adds the declarations of a Go file.
func (t *Tree) file(pkg, module, name string, src []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	imports := map[string]string{} // those of ours, by the name they have in this file
	for _, i := range f.Imports {
		at, err := strconv.Unquote(i.Path.Value)
		if err != nil || at != module && !strings.HasPrefix(at, module+"/") {
			continue
		}
		local := path.Base(at)
		if i.Name != nil {
			local = i.Name.Name
		}
		imports[local] = at
	}
	add := func(names []string, n ast.Node, naked bool) {
		from, to := fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset
		text, refs := tokens(src[from:to]), references(n, pkg, imports)
		for _, name := range names {
			d := t.decls[node{pkg, name}]
			if d == nil {
				d = &decl{refs: map[node]bool{}}
				t.decls[node{pkg, name}] = d
			}
			d.tokens = append(d.tokens, text)
			d.naked = d.naked || naked
			maps.Copy(d.refs, refs)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			d.Doc = nil
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			add([]string{name}, d, d.Body == nil)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			// Constants may count on the lines above them, so a block of them is one.
			if d.Tok == token.CONST {
				var names []string
				for _, s := range d.Specs {
					names = append(names, namesOf(s)...)
				}
				d.Doc = nil
				add(names, d, false)
				continue
			}
			for _, s := range d.Specs {
				add(namesOf(s), s, false)
			}
		}
	}
	return nil
}

func namesOf(s ast.Spec) []string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		s.Doc, s.Comment = nil, nil
		return []string{s.Name.Name}
	case *ast.ValueSpec:
		s.Doc, s.Comment = nil, nil
		var names []string
		for _, n := range s.Names {
			if n.Name == "_" && s.Type != nil {
				continue // "var _ I = T{}" asserts something and does nothing
			}
			names = append(names, n.Name)
		}
		return names
	}
	return nil
}

// receiver is the name of the type of a receiver: T of T, *T, T[P].
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// references lists what a declaration may refer to: every identifier that could be a top-level
// name of its package, and what it selects from imports. A local variable that hides a top-level
// name adds one reference too many, never one too few.
func references(n ast.Node, pkg string, imports map[string]string) map[node]bool {
	refs := map[node]bool{}
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if from, ok := imports[id.Name]; ok {
					refs[node{from, x.Sel.Name}] = true
					return false
				}
			}
			ast.Inspect(x.X, visit) // x.Sel is a field or a method
			return false
		case *ast.Ident:
			refs[node{pkg, x.Name}] = true
		}
		return true
	}
	ast.Inspect(n, visit)
	return refs
}

// tokens writes out the tokens of a piece of Go, without comments and without what only follows
// from layout: semicolons at line ends, and the comma before a bracket on the next line.
func tokens(src []byte) string {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, nil, 0)
	var out []string
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return strings.Join(out, " ")
		case tok == token.SEMICOLON && lit == "\n":
			lit = ";"
		case !tok.IsLiteral():
			lit = tok.String()
		}
		switch {
		case lit == ")" || lit == "}" || lit == "]":
			for len(out) > 0 && (out[len(out)-1] == ";" || out[len(out)-1] == ",") {
				out = out[:len(out)-1]
			}
		case lit == ";" && (len(out) == 0 || out[len(out)-1] == ";"):
			continue
		}
		out = append(out, lit)
	}
}

// lines are the instructions of an assembly file without comments and blanks.
func lines(src []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(src)) {
		code, _, _ := strings.Cut(line, "//")
		if f := strings.Fields(code); len(f) > 0 {
			b.WriteString(strings.Join(f, " ") + "\n")
		}
	}
	return b.String()
}
