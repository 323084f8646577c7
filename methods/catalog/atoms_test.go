package catalog_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ssdl/methods"
	"ssdl/methods/catalog"
)

// dictionaries lists the learners with a number of atoms, and the parameters that give it: K, or
// atoms for each class, or both for two stages.
func dictionaries(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, e := range catalog.All() {
		for _, p := range e.Params() {
			if (p.Name == "K" || p.Name == "atoms") && p.Kind == reflect.Int {
				out[e.Name] = append(out[e.Name], p.Name)
			}
		}
	}
	if len(out) < 10 {
		t.Fatalf("%d learners have atoms", len(out))
	}
	return out
}

// tracedAtoms fits a learner to true targets for all columns and returns the atoms it traces, by the
// name of the fact.
func tracedAtoms(t *testing.T, name string, values catalog.Values, p methods.Problem, truth []int) map[string]float64 {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.Learner(values)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	p.Trace = func(fact string, _ int, v float64) {
		if fact == "atoms" || fact == "first_atoms" {
			got[fact] = v
		}
	}
	if _, err := l.FitTargets(t.Context(), p, methods.OneHot(truth, p.Classes, 0)); err != nil {
		t.Fatalf("%s %v: %v", name, values, err)
	}
	return got
}

// One vocabulary says for every learner how many atoms it has relative to the data, and a fit traces
// how many it used.
func TestAtomsFollowTheData(t *testing.T) {
	w := makeWorld(30, 30, []int{20, 20, 20}, 0.4) // 60 samples, 24 labelled, 30 features
	all := makeWorld(30, 30, []int{20, 20, 20}, 1)
	behind, alone := w.problem(), w.problem().Labelled()
	for name, params := range dictionaries(t) {
		for _, c := range []struct {
			of            string
			behind, alone float64
		}{
			{"all", 30, 12}, {"labelled", 12, 12}, {"dim", 15, 15},
		} {
			values := catalog.Values{"size": 0.5, "size_of": c.of}
			if len(params) > 1 {
				values["first_size"], values["first_size_of"] = 0.5, c.of
			}
			for what, atoms := range tracedAtoms(t, name, values, behind, all.labels) {
				if atoms != c.behind {
					t.Errorf("%s behind a pretext, half of %s: %s is %g, want %g", name, c.of, what, atoms, c.behind)
				}
			}
			got := tracedAtoms(t, name, values, alone, alone.Labels)
			for what, atoms := range got {
				if atoms != c.alone {
					t.Errorf("%s on labelled samples, half of %s: %s is %g, want %g", name, c.of, what, atoms, c.alone)
				}
			}
			if len(got) != len(params) {
				t.Errorf("%s traces %v, want a number of atoms for each of %v", name, got, params)
			}
		}
		given := catalog.Values{}
		for _, p := range params {
			given[p] = 9
			if p == "atoms" {
				given[p] = 3 // of each class
			}
		}
		for what, atoms := range tracedAtoms(t, name, given, behind, all.labels) {
			if atoms != 9 {
				t.Errorf("%s with %v: %s is %g, want 9", name, given, what, atoms)
			}
		}
	}
}

// The number of atoms without a parameter, which the published results have.
func TestDefaultAtoms(t *testing.T) {
	w := makeWorld(31, 30, []int{20, 20, 20}, 0.4)
	all := makeWorld(31, 30, []int{20, 20, 20}, 1)
	behind, alone := w.problem(), w.problem().Labelled()
	for name, want := range map[string]string{
		"ssdl":   "atoms 30 12",
		"ledl":   "atoms 24 24",
		"cdlf":   "atoms 24 24 first_atoms 30 12",
		"lcksvd": "atoms 42 18", // 16.8 of 24 are 6 for each class
		"dksvd":  "atoms 42 18",
		"csdl":   "atoms 30 12", "fddl": "atoms 30 12", "dpl": "atoms 30 12", "addl": "atoms 30 12", "lcpdl": "atoms 30 12",
	} {
		a, b := tracedAtoms(t, name, nil, behind, all.labels), tracedAtoms(t, name, nil, alone, alone.Labels)
		var got []string
		for what := range a {
			got = append(got, fmt.Sprintf("%s %g %g", what, a[what], b[what]))
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", name, s, want)
		}
	}
}

// A number of atoms far above the samples is refused with the largest that is allowed, before memory is
// taken for it; the largest itself is accepted.
func TestFarTooManyAtoms(t *testing.T) {
	w := makeWorld(32, 12, []int{9, 7, 6}, 0.5)
	const samples = 5 + 4 + 3 // labelled
	for name, params := range dictionaries(t) {
		e, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, param := range params {
			most := 4 * samples
			if param == "atoms" {
				most /= w.C
			}
			for _, k := range []int{most + 1, 50_000_000, 1 << 52} {
				m, err := e.Method(catalog.Values{param: k})
				if err != nil {
					t.Fatal(err)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err = m.Fit(t.Context(), w.problem())
				runtime.ReadMemStats(&after)
				wantRefusal(t, name, err, fmt.Sprintf("%s = %d", param, k), fmt.Sprintf("choose at most %d", most))
				if held := after.TotalAlloc - before.TotalAlloc; held > 1<<22 {
					t.Errorf("%s with %s = %d takes %d bytes before it refuses", name, param, k, held)
				}
			}
			m, err := e.Method(catalog.Values{param: most})
			if err != nil {
				t.Fatal(err)
			}
			fitPredict(t, m, w.problem(), w.test)
		}
	}
}

func wantRefusal(t *testing.T, method string, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, methods.ErrInput) {
		t.Errorf("%s: error %v, want one that wraps ErrInput", method, err)
		return
	}
	for _, word := range append(words, method) {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %q does not say %q", method, err, word)
		}
	}
}

// Where the share is no whole number, K is rounded down and the atoms of a class up.
func TestRoundingOfAtoms(t *testing.T) {
	w := makeWorld(33, 9, []int{7, 7, 7}, 1) // half of 21 is 10.5, of 7 it is 3.5, of 9 features 4.5
	p := w.problem()
	for name, want := range map[string][2]float64{
		"ssdl": {10, 4}, "ledl": {10, 4},
		"dksvd": {12, 6}, // 3.5 and 1.5 for each class, to the nearest
		"dpl":   {12, 6}, // 3.5 and 1.5 for each class
	} {
		for i, of := range []string{"all", "dim"} {
			got := tracedAtoms(t, name, catalog.Values{"size": 0.5, "size_of": of}, p, w.labels)
			if got["atoms"] != want[i] {
				t.Errorf("%s, half of %s: %g atoms, want %g", name, of, got["atoms"], want[i])
			}
		}
	}
}
