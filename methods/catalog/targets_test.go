package catalog_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
)

// What hardens its targets learns the same, bit for bit, from soft ones and from their classes; what takes
// them as they are does not.
func TestTargets(t *testing.T) {
	w := makeWorld(4, 20, []int{12, 10, 9}, 0.6)
	soft := softTargets(w)
	hard := mat.NewDense(w.C, len(w.labels), nil)
	for j, c := range methods.Harden(soft) {
		hard.Set(c, j, 1)
	}
	for _, e := range catalog.All() {
		if !e.IsLearner() {
			if e.Targets() != "" {
				t.Errorf("%s is no learner and takes %q", e.Name, e.Targets())
			}
			continue
		}
		l, err := e.Learner(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := catalog.Soft
		a, b := traces(t, l, w, soft), traces(t, l, w, hard)
		if len(a) == 0 {
			t.Errorf("%s traces nothing", e.Name)
		}
		first := func(s string) bool { return !strings.HasPrefix(s, "first_") }
		switch as, bs := slices.DeleteFunc(slices.Clone(a), first), slices.DeleteFunc(slices.Clone(b), first); {
		case slices.Equal(a, b):
			want = catalog.Hardened
		case len(as) > 0 && slices.Equal(as, bs):
			want = catalog.HardenedThenSoft
		}
		if e.Targets() != want {
			t.Errorf("%s: the catalog says %q, its traces %q", e.Name, e.Targets(), want)
		}
	}
}

// softTargets are the true classes where they are known, and else one that has a little more than half.
func softTargets(w world) *mat.Dense {
	F := mat.NewDense(w.C, len(w.labels), nil)
	for j, c := range w.labels {
		share := 1.0
		if c == methods.Unlabeled {
			c, share = j%w.C, 0.6
		}
		for i := range w.C {
			F.Set(i, j, (1-share)/float64(w.C-1))
		}
		F.Set(c, j, share)
	}
	return F
}

// traces is what a learner traces of a fit, with all bits.
func traces(t *testing.T, l methods.Learner, w world, F *mat.Dense) []string {
	t.Helper()
	var out []string
	p := w.problem()
	p.Trace = func(name string, it int, v float64) {
		out = append(out, fmt.Sprintf("%s[%d] = %x", name, it, math.Float64bits(v)))
	}
	if _, err := l.FitTargets(t.Context(), p, F); err != nil {
		t.Fatal(err)
	}
	return out
}
