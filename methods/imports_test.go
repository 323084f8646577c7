package methods_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// results are what plain values of a plan and the store are made of.
var results = []string{
	"ssdl/methods", "ssdl/methods/", "ssdl/harness/data", "ssdl/harness/store", "ssdl/harness/spec", "ssdl/harness/run", "ssdl/harness/metric",
	"ssdl/harness/stats", "ssdl/harness/fingerprint",
}

// Imports go one way. Each line: a package, and the packages of ours that it may import,
// directly or through others; a trailing slash means everything below.
var allowed = map[string][]string{
	"ssdl/methods":                {},
	"ssdl/methods/linalg":         {},
	"ssdl/methods/sparse":         {"ssdl/methods", "ssdl/methods/linalg"},
	"ssdl/methods/represent":      {"ssdl/methods", "ssdl/methods/linalg", "ssdl/methods/sparse"},
	"ssdl/methods/dictionary":     {"ssdl/methods", "ssdl/methods/linalg", "ssdl/methods/sparse"},
	"ssdl/methods/pretext":        {"ssdl/methods", "ssdl/methods/linalg", "ssdl/methods/sparse"},
	"ssdl/methods/catalog":        {"ssdl/methods", "ssdl/methods/"},
	"ssdl/harness/data":           {},
	"ssdl/harness/store":          {},
	"ssdl/harness/stats":          {},
	"ssdl/harness/spec":           {"ssdl/experiments", "ssdl/methods", "ssdl/methods/"},
	"ssdl/harness/sanitize":       {},
	"ssdl/harness/metric":         {"ssdl/methods", "ssdl/methods/"},
	"ssdl/harness/results":        slices.Concat(results, []string{"ssdl/experiments", "ssdl/experiments/paper"}),
	"ssdl/harness/compare":        slices.Concat(results, []string{"ssdl/experiments", "ssdl/experiments/paper", "ssdl/harness/results"}),
	"ssdl/harness/verdict":        slices.Concat(results, []string{"ssdl/experiments", "ssdl/experiments/paper", "ssdl/harness/results", "ssdl/harness/compare"}),
	"ssdl/harness/report":         slices.Concat(results, []string{"ssdl/experiments", "ssdl/experiments/paper", "ssdl/harness/results", "ssdl/harness/compare", "ssdl/harness/verdict", "ssdl/harness/sanitize"}),
	"ssdl/harness/run":            {"ssdl/experiments", "ssdl/methods", "ssdl/methods/", "ssdl/harness/data", "ssdl/harness/store", "ssdl/harness/spec", "ssdl/harness/fingerprint", "ssdl/harness/metric"},
	"ssdl/harness/fingerprint":    {},
	"ssdl/harness/data/fetch":     {},
	"ssdl/harness/data/croissant": {"ssdl/experiments", "ssdl/harness/data"},
	"ssdl/harness/data/datastats": {"ssdl/experiments/paper", "ssdl/harness/data", "ssdl/harness/sanitize", "ssdl/harness/stats", "ssdl/methods", "ssdl/methods/linalg"},
	"ssdl/harness/data/features":  {},
	"ssdl/harness/archive":        {"ssdl/experiments", "ssdl/experiments/paper", "ssdl/methods", "ssdl/methods/", "ssdl/harness/data", "ssdl/harness/store", "ssdl/harness/spec", "ssdl/harness/sanitize", "ssdl/harness/stats"},
}

func TestImportsGoOneWay(t *testing.T) {
	for pkg, may := range allowed {
		out, err := exec.Command("go", "list", "-deps", pkg).CombinedOutput()
		if err != nil {
			t.Fatalf("go list -deps %s: %v\n%s", pkg, err, out)
		}
		for dep := range strings.Lines(string(out)) {
			dep = strings.TrimSpace(dep)
			if dep == pkg || !strings.HasPrefix(dep, "ssdl/") || permitted(dep, pkg, may) {
				continue
			}
			t.Errorf("%s imports %s", pkg, dep)
		}
	}
}

func permitted(dep, pkg string, may []string) bool {
	if strings.HasPrefix(dep, pkg+"/") { // what belongs to the package itself
		return true
	}
	for _, m := range may {
		if dep == m || (strings.HasSuffix(m, "/") && strings.HasPrefix(dep, m)) {
			return true
		}
	}
	return false
}
