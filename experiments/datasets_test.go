package experiments

import (
	"encoding/hex"
	"net/url"
	"path"
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
		if len(d.Files) > 0 && (d.Licence == "" || d.Citation == "" || len(d.Creators) == 0 || d.Published == "") {
			t.Errorf("%s can be fetched, but its licence, citation, creators or year are not given", d.Name)
		}
		if sum, err := hex.DecodeString(d.Hash); err != nil || d.Synthetic != (len(sum) == 32) {
			t.Errorf("%s has the hash %q; a built-in set has one, and no other", d.Name, d.Hash)
		}
		for _, f := range d.Files {
			if u, err := url.Parse(f.URL); err != nil || u.Host == "" || path.Ext(u.Path) == "" {
				t.Errorf("%s: %q is not the address of a file: %v", d.Name, f.URL, err)
			}
			if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != 0 && len(sum) != 32 || f.Size < 0 {
				t.Errorf("%s: %+v has no SHA-256 or size that could be", d.Name, f)
			}
		}
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
