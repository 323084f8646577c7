package run

import (
	"io/fs"
	"testing"

	"ssdl/harness/fingerprint"
	"ssdl/harness/provenance"
	"ssdl/methods/catalog"
)

// Every entry of the catalog has a fingerprint. Each includes the kernels behind gonum, those of learners also
// methods.Supervised, and none the methods for the planner.
func TestFingerprintOfEveryMethod(t *testing.T) {
	fingerprints := func(sources fs.FS) map[string]string {
		t.Helper()
		code, out := &provenance.Code{Sources: sources}, map[string]string{}
		for _, e := range catalog.All() {
			f, err := code.Of(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			if len(f) != fingerprint.Length {
				t.Errorf("the fingerprint of %s is %q", e.Name, f)
			}
			out[e.Name] = f
		}
		return out
	}
	before := fingerprints(sources(t, "", "", ""))
	for _, c := range []struct {
		what, file, old, new string
		changes              func(catalog.Entry) bool
	}{
		{
			"a kernel", "methods/linalg/product.go", "kBlock = 384", "kBlock = 256",
			func(catalog.Entry) bool { return true },
		},
		{
			"the targets of a learner by itself", "methods/problem.go", "OneHot(p.Labels, p.Classes, 0)", "OneHot(p.Labels, p.Classes, 1)",
			catalog.Entry.IsLearner,
		},
		{
			"an estimate of memory", "methods/dictionary/ssdl.go", "return int64(8 *", "return int64(16 *",
			func(catalog.Entry) bool { return false },
		},
	} {
		after := fingerprints(sources(t, c.file, c.old, c.new))
		for _, e := range catalog.All() {
			if got, want := after[e.Name] != before[e.Name], c.changes(e); got != want {
				t.Errorf("%s changes the fingerprint of %s: %v, want %v", c.what, e.Name, got, want)
			}
		}
	}
}
