package fingerprint

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// file adds the declarations of a Go file.
func (t *Tree) file(pkg, module, name string, src []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	imports := map[string]string{} // of this module, by local name
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
	add := func(names []string, n ast.Node, noBody bool) {
		text := tokens(withoutWords(fset, src, n))
		refs, selected := references(n, pkg, imports)
		for _, name := range names {
			d := t.decls[Root{pkg, name}]
			if d == nil {
				d = &decl{refs: map[Root]bool{}, selected: map[string]bool{}}
				t.decls[Root{pkg, name}] = d
			}
			d.tokens = append(d.tokens, text)
			d.noBody = d.noBody || noBody
			maps.Copy(d.refs, refs)
			maps.Copy(d.selected, selected)
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
			if d.Tok == token.CONST && dependent(d) {
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

// dependent reports whether a constant of a block depends on the lines above it.
func dependent(block *ast.GenDecl) bool {
	found := false
	for _, s := range block.Specs {
		found = found || len(s.(*ast.ValueSpec).Values) == 0
	}
	ast.Inspect(block, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == "iota"
		return !found
	})
	return found
}

// withoutWords returns the text of a node without words that cannot change a result: the doc in
// field tags, and the text of errors except for the verbs that wrap errors.
func withoutWords(fset *token.FileSet, src []byte, n ast.Node) []byte {
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	replace := func(lit *ast.BasicLit, text string) {
		edits = append(edits, edit{fset.Position(lit.Pos()).Offset, fset.Position(lit.End()).Offset, strconv.Quote(text)})
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag == nil {
				break
			}
			if tag, err := strconv.Unquote(n.Tag.Value); err == nil {
				replace(n.Tag, withoutDoc(tag))
			}
		case *ast.CallExpr:
			if len(n.Args) == 0 || !isCall(n, "fmt", "Errorf") && !isCall(n, "errors", "New") {
				break
			}
			if lit, ok := n.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				replace(lit, strings.Repeat("%w", strings.Count(lit.Value, "%w")))
			}
		}
		return true
	})
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	at, end := fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset
	var out []byte
	for _, e := range edits {
		out = append(append(out, src[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, src[at:end]...)
}

// withoutDoc removes the key doc from a struct tag.
func withoutDoc(tag string) string {
	doc := reflect.StructTag(tag).Get("doc")
	return strings.TrimSpace(strings.Replace(tag, "doc:"+strconv.Quote(doc), "", 1))
}

func isCall(c *ast.CallExpr, pkg, name string) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == pkg && s.Sel.Name == name
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
				continue // "var _ I = T{}" is an assertion
			}
			names = append(names, n.Name)
		}
		return names
	}
	return nil
}

// receiver returns the type name of a receiver: T for T, *T and T[P].
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

// references returns what a declaration may refer to: every identifier that could be a top-level
// name of its package, and its selections from imports. A local variable that hides a top-level
// name adds a reference too many, never one too few. selected are the fields and methods it uses.
func references(n ast.Node, pkg string, imports map[string]string) (refs map[Root]bool, selected map[string]bool) {
	refs, selected = map[Root]bool{}, map[string]bool{}
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if from, ok := imports[id.Name]; ok {
					refs[Root{from, x.Sel.Name}] = true
					return false
				}
			}
			ast.Inspect(x.X, visit)
			selected[x.Sel.Name] = true
			return false
		case *ast.Ident:
			refs[Root{pkg, x.Name}] = true
		}
		return true
	}
	ast.Inspect(n, visit)
	return refs, selected
}

// tokens writes the tokens of Go code, without comments and without tokens that depend on layout:
// semicolons at line ends, and the comma before a bracket on the next line.
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

// instructions returns an assembly file without comments and blanks.
func instructions(src []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(src)) {
		code, _, _ := strings.Cut(line, "//")
		if f := strings.Fields(code); len(f) > 0 {
			b.WriteString(strings.Join(f, " ") + "\n")
		}
	}
	return b.String()
}
