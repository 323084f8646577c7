package experiments

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/data"
)

func TestDifferences(t *testing.T) {
	synth8, ok := Known("synth8")
	if !ok {
		t.Fatal("synth8 is not known")
	}
	for _, c := range []struct {
		name, known string
		facts       Facts
		want        []Difference
	}{
		{"nothing is known of it", "uiuc-se", Facts{}, nil},
		{"the paper's features", "uiuc-se", Facts{Samples: 1579, Classes: 8, Dim: 2048}, nil},
		{"features of another network", "uiuc-se", Facts{1579, 8, 512, "ab", "UIUC sports event"}, nil},
		{"sports8 under its name", "uiuc-se", Facts{1600, 8, 2048, "ab", "sports8"}, []Difference{{"samples", "1600", "1579"}, {"name", "sports8", "uiuc-se"}}},
		{"sports8 cut to its size", "uiuc-se", Facts{1579, 8, 2048, "ab", "sports8"}, []Difference{{"name", "sports8", "uiuc-se"}}},
		{"some classes", "stanford40", Facts{Samples: 9532, Classes: 39, Declared: "stanford40"}, []Difference{{"classes", "39", "40"}}},
		{"the built-in set", "synth8", Facts{synth8.Samples, synth8.Classes, synth8.Dim, synth8.Hash, ""}, nil},
		{"another set in its shape", "synth8", Facts{1579, 8, 2048, "ab", ""}, []Difference{{"hash", "ab", synth8.Hash}}},
		{"another dim", "synth8", Facts{Dim: 2}, []Difference{{"dim", "2", "2048"}}},
	} {
		d, ok := Known(c.known)
		if !ok {
			t.Fatalf("%s is not known", c.known)
		}
		if diff := cmp.Diff(c.want, d.Differences(c.facts)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if d, ok := Known("mine"); ok {
		t.Errorf("mine is %+v", d)
	}
}

// The hashes on record are those of what the generators make.
func TestBuiltinHashes(t *testing.T) {
	for _, name := range data.Builtins() {
		set, _ := data.Builtin(name)
		d, ok := Known(name)
		if !ok || d.Hash == "" || !d.Synthetic {
			t.Errorf("%s is on record as %+v", name, d)
		}
		if diff := cmp.Diff([]Difference(nil), d.Differences(factsOf(set))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, d := range Datasets() {
		if _, ok := data.Builtin(d.Name); ok != d.Synthetic {
			t.Errorf("%s: built in is %t, on record as synthetic is %t", d.Name, ok, d.Synthetic)
		}
	}
}

func factsOf(s *data.Set) Facts {
	r := s.Report()
	return Facts{r.Samples, len(r.Classes), r.Dim, r.Hash, r.Declared}
}

// A folder called uiuc-se that holds sports8 says so in its meta.json.
func TestSports8IsNotUIUC(t *testing.T) {
	from, ok := data.Find("sports8", filepath.SplitList(os.Getenv("SSDL_DATA")))
	if !ok {
		t.Skip("needs the data set sports8 below $SSDL_DATA")
	}
	from, err := filepath.Abs(from)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "uiuc-se")
	if err := os.Symlink(from, dir); err != nil {
		t.Skipf("no links here: %v", err)
	}
	set, err := data.Load(t.Context(), dir, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]Difference{
		"uiuc-se": {{"samples", "1600", "1579"}, {"name", "sports8", "uiuc-se"}},
		"sports8": nil,
	} {
		d, _ := Known(name)
		if diff := cmp.Diff(want, d.Differences(factsOf(set))); diff != "" || set.Name != "uiuc-se" {
			t.Errorf("%s as %s: %s", set.Name, name, diff)
		}
	}
}
