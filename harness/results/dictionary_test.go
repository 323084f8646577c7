package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/store"
	"ssdl/methods/catalog"
)

func TestDictionaryOfTraces(t *testing.T) {
	got := dictionaryOf([]store.Point{{Name: "atoms", Value: 24}, {Name: "objective", Value: 3}, {Name: "first_atoms", Value: 30}, {Name: "degenerate", Value: 1}})
	if want := (Dictionary{24, 30, true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := dictionaryOf([]store.Point{{Name: "degenerate"}}); got != (Dictionary{}) {
		t.Errorf("a run without one: %+v", got)
	}
}

// K is shown unless it is 0.
func TestShownParams(t *testing.T) {
	got := ShownParams(catalog.Values{"size": 0.5, "K": 0, "atoms": 0, "alpha": 0.0})
	if diff := cmp.Diff([]Value{{"alpha", 0.0}, {"size", 0.5}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for k, shown := range map[any]int{12: 1, 12.0: 1, 0: 0, 0.0: 0} {
		if got := ShownParams(catalog.Values{"K": k}); len(got) != shown {
			t.Errorf("K %v: %v", k, got)
		}
	}
}
