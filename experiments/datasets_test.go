package experiments

import (
	"slices"
	"testing"
)

func TestDatasetsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Datasets() {
		if d.Name == "" || d.Title == "" || d.Samples == 0 || d.Dim == 0 || d.Classes == 0 || d.Source == "" {
			t.Errorf("%+v is incomplete", d)
		}
		if d.StandsFor != "" && !seen[d.StandsFor] {
			t.Errorf("%s stands for %q, which is not listed before it", d.Name, d.StandsFor)
		}
		seen[d.Name] = true
	}
}

func TestAvailable(t *testing.T) {
	paper := []string{"stanford40", "uiuc-se"}
	for _, tc := range []struct {
		has  []string
		ask  []string
		want []string
	}{
		{[]string{"stanford40", "uiuc-se", "sports8"}, paper, paper},
		{[]string{"stanford40", "sports8"}, paper, []string{"stanford40", "sports8"}},
		{[]string{"sports8"}, paper, []string{"stanford40", "sports8"}}, // stanford40 shows as missing, never as synthetic
		{nil, paper, []string{"synth40", "synth8"}},
		{nil, []string{"synth8"}, []string{"synth8"}},
		{nil, []string{"mine"}, []string{"mine"}},
	} {
		has := func(name string) bool {
			return slices.Contains(tc.has, name) || (slices.Contains(tc.ask, name) && name == "synth8")
		}
		if got := Available(tc.ask, has); !slices.Equal(got, tc.want) {
			t.Errorf("with %v, %v gives %v, want %v", tc.has, tc.ask, got, tc.want)
		}
	}
}
