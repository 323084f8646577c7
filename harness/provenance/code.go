package provenance

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"sync"

	"ssdl/harness/fingerprint"
	"ssdl/harness/job"
	"ssdl/methods"
	"ssdl/methods/catalog"
)

// Code computes the fingerprints of methods from the sources that the program was built from. All
// fingerprints of a nil Code are empty.
type Code struct {
	// Sources is the source tree of the module, from its top.
	Sources fs.FS

	mu   sync.Mutex
	tree *fingerprint.Tree
	of   map[string]string
}

// module is the path of this module.
var module = strings.TrimSuffix(reflect.TypeFor[methods.Problem]().PkgPath(), "/methods")

// ignored is code of the methods that cannot change a result: calls of OpenBLAS (a run records its
// BLAS), the check of parameters, and methods for the planner.
var ignored = fingerprint.Ignored{
	Packages: []string{module + "/methods/linalg/internal/openblas", module + "/methods/param"},
	Methods:  []string{"Bytes", "Stages", "OrderDependent"},
}

// The roots of a fingerprint beside the method itself.
var (
	// registration reaches the kernels. The methods call them through gonum.
	registration = fingerprint.Root{Package: module + "/methods/linalg", Name: "Register"}
	// supervision makes a method of a learner.
	supervision = fingerprint.Root{Package: module + "/methods", Name: "Supervised"}
)

// protocolRoots are the code of the harness that decides results: package protocol and the losses. Metrics of
// predictions are left out, since every reader computes them again.
var protocolRoots = []fingerprint.Root{
	{Package: module + "/harness/protocol"},
	{Package: module + "/methods/pretext", Name: "BCE"},
	{Package: module + "/methods/pretext", Name: "CERow"},
	{Package: module + "/methods/pretext", Name: "CESoftmax"},
}

// Job returns the fingerprints of the code that computes a job.
func (c *Code) Job(j job.Job) (f job.Fingerprints, err error) {
	if f.Method, err = c.part(j.Method); err != nil {
		return f, err
	}
	if f.Pretext, err = c.part(j.Pretext); err != nil {
		return f, err
	}
	f.Protocol, err = c.Protocol()
	return f, err
}

// part returns the fingerprint of a part of a job; empty for an external part, whose content is part of
// the job key.
func (c *Code) part(p job.Part) (string, error) {
	if !p.FromCatalog() {
		return "", nil
	}
	return c.Of(p.Name)
}

// Of returns the fingerprint of a method or pretext; empty if c is nil or name is empty.
func (c *Code) Of(name string) (string, error) {
	if c == nil || name == "" {
		return "", nil
	}
	entry, err := catalog.Lookup(name)
	if err != nil {
		return "", err
	}
	t := reflect.TypeOf(entry.Proto)
	roots := []fingerprint.Root{{Package: t.PkgPath(), Name: t.Name()}, registration}
	if entry.IsLearner() {
		roots = append(roots, supervision)
	}
	return c.fingerprint(name, roots)
}

// Protocol returns the fingerprint of protocolRoots; empty if c is nil.
func (c *Code) Protocol() (string, error) {
	if c == nil {
		return "", nil
	}
	return c.fingerprint("the protocol", protocolRoots)
}

// fingerprint computes a fingerprint, once for each name.
func (c *Code) fingerprint(name string, roots []fingerprint.Root) (f string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.of[name]; ok {
		return f, nil
	}
	if c.tree == nil {
		if c.tree, err = fingerprint.Parse(c.Sources, module, ignored); err != nil {
			return "", err
		}
		c.of = map[string]string{}
	}
	if f, err = c.tree.Of(roots...); err != nil {
		return "", fmt.Errorf("the fingerprint of %s: %w", name, err)
	}
	c.of[name] = f
	return f, nil
}
