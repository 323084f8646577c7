package run

import (
	"fmt"
	"io/fs"
	"reflect"
	"sync"

	"ssdl/harness/fingerprint"
	"ssdl/harness/job"
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

// foreignBLAS calls another BLAS where the program was built with one. It is in no fingerprint: runs
// say which BLAS they had, and Inconsistencies compares it.
const foreignBLAS = "ssdl/methods/linalg/internal/openblas"

// fingerprints are those of the method and of the pretext of a job; empty where unknown or where
// it has no such part.
type fingerprints struct{ method, pretext string }

// job returns the fingerprints of a job's parts.
func (c *Code) job(j spec.Job) (f fingerprints, err error) {
	f.method, err = c.Of(j.Method.Name)
	if err == nil {
		f.pretext, err = c.Of(j.Pretext.Name)
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
		if c.tree, err = fingerprint.Parse(c.Sources, "ssdl", foreignBLAS); err != nil {
			return "", err
		}
		c.of = map[string]string{}
	}
	f, err := c.tree.Of(t.PkgPath(), t.Name())
	if err != nil {
		return "", fmt.Errorf("the fingerprint of %s: %w", name, err)
	}
	c.of[name] = f
	return f, nil
}

// changesSince lists the parts of a run's code that are not what the program has now. What is
// unknown on either side is no change.
func (f fingerprints) changesSince(was fingerprints) []job.Change {
	var out []job.Change
	for _, p := range []struct{ what, was, is string }{
		{"method code", was.method, f.method},
		{"pretext code", was.pretext, f.pretext},
	} {
		if p.was != "" && p.is != "" && p.was != p.is {
			out = append(out, job.Change{What: p.what, Was: p.was, Is: p.is})
		}
	}
	return out
}
