package run

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"sync"

	"ssdl/harness/fingerprint"
	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

// Code tells the fingerprints of the methods that the program has, from the sources it was
// built of. A nil Code knows none.
type Code struct {
	// Sources is the source tree of the module, from its top.
	Sources fs.FS

	mu   sync.Mutex
	tree *fingerprint.Tree
	of   map[string]string
}

// ignored is code of the methods that cannot change a result: calls of OpenBLAS, since a run
// records which BLAS it had, the check of parameters, and what a method only tells the planner.
var ignored = fingerprint.Ignored{
	Packages: []string{"ssdl/methods/linalg/internal/openblas", "ssdl/methods/param"},
	Methods:  []string{"Bytes", "Stages", "OrderDependent"},
}

// The roots of a fingerprint beside the method itself.
var (
	// registration reaches the kernels. The methods call them through gonum.
	registration = fingerprint.Root{Package: "ssdl/methods/linalg", Name: "Register"}
	// supervision makes a method of a learner.
	supervision = fingerprint.Root{Package: "ssdl/methods", Name: "Supervised"}
)

// fingerprints are those of the method and of the pretext of a job; empty where unknown or where
// it has no such part.
type fingerprints struct{ method, pretext string }

// job returns the fingerprints of a job's parts.
func (c *Code) job(j spec.Job) (f fingerprints, err error) {
	f.method, err = c.Of(j.Method)
	if err == nil {
		f.pretext, err = c.Of(j.Pretext)
	}
	return f, err
}

// Of returns the fingerprint of a method or pretext; it is empty if c is nil or name is.
func (c *Code) Of(name string) (string, error) {
	if c == nil || name == "" {
		return "", nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.of[name]; ok {
		return f, nil
	}
	entry, err := catalog.Lookup(name)
	if err != nil {
		return "", err
	}
	t := reflect.TypeOf(entry.Proto)
	if c.tree == nil {
		if c.tree, err = fingerprint.Parse(c.Sources, "ssdl", ignored); err != nil {
			return "", err
		}
		c.of = map[string]string{}
	}
	roots := []fingerprint.Root{{Package: t.PkgPath(), Name: t.Name()}, registration}
	if entry.IsLearner() {
		roots = append(roots, supervision)
	}
	f, err := c.tree.Of(roots...)
	if err != nil {
		return "", fmt.Errorf("the fingerprint of %s: %w", name, err)
	}
	c.of[name] = f
	return f, nil
}

// since says which parts of a run's code are not what the program has now; empty if none is, or
// if either is unknown.
func (f fingerprints) since(was fingerprints) string {
	var out []string
	for _, p := range []struct{ what, was, is string }{
		{"method", was.method, f.method},
		{"pretext", was.pretext, f.pretext},
	} {
		if p.was != "" && p.is != "" && p.was != p.is {
			out = append(out, fmt.Sprintf("code of the %s changed: %s -> %s", p.what, p.was, p.is))
		}
	}
	return strings.Join(out, ", ")
}
