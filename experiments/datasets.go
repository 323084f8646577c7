package experiments

import (
	_ "embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v4"
)

//go:embed datasets.yaml
var datasets []byte

// Dataset is a known data set.
type Dataset struct {
	Name  string `yaml:"name"`
	Title string `yaml:"title"`
	// AlsoCalled lists other names of the published set.
	AlsoCalled []string `yaml:"also_called"`
	Samples    int      `yaml:"samples"`
	// Dim is the number of features of the paper's ResNet-50; other networks have other numbers.
	Dim     int `yaml:"dim"`
	Classes int `yaml:"classes"`
	// Hash is the content hash (data.Set.Hash) of a built-in set; "" for others, whose features
	// depend on the network.
	Hash     string `yaml:"hash"`
	Source   string `yaml:"source"`
	Citation string `yaml:"citation"`
	// Licence says how the photographs may be used, as far as is known.
	Licence string `yaml:"licence"`
	// Creators are the authors of the set, Published its year.
	Creators  []string `yaml:"creators"`
	Published string   `yaml:"published"`
	// Files are the archives of the photographs; none if they cannot be fetched.
	Files []File `yaml:"files"`
	// StandsFor is the paper's set that this one stands in for; "" if none.
	StandsFor string `yaml:"stands_for"`
	Synthetic bool   `yaml:"synthetic"`
}

// File is an archive that can be fetched. The last element of its URL is its name.
type File struct {
	URL string `yaml:"url"`
	// Size in bytes and SHA256 in hex are those of the authors' file; 0 and "" if the
	// authors publish none.
	Size   int64  `yaml:"size"`
	SHA256 string `yaml:"sha256"`
}

// Datasets lists the known data sets: the paper's first, then the stand-ins in order of preference.
// All callers share the list and must not change it.
func Datasets() []Dataset { return datasetList() }

var datasetList = sync.OnceValue(func() []Dataset {
	var out []Dataset
	if err := yaml.Unmarshal(datasets, &out); err != nil {
		panic(fmt.Sprintf("experiments: datasets.yaml: %v", err)) // a test reads it
	}
	return out
})

// Available returns the data sets to use for the names of a spec. has reports whether a set is in
// the data folders. A set that is there is used. A missing set of the paper is replaced by its
// first stand-in that is there. Without any real set, the built-in synthetic ones are used. Any
// other name stays, and its cells say that it is missing.
func Available(names []string, has func(string) bool) []string {
	known := Datasets()
	pick := func(name string, synthetic bool) (string, bool) {
		if has(name) {
			return name, true
		}
		for _, d := range known {
			if d.StandsFor == name && d.Synthetic == synthetic && (synthetic || has(d.Name)) {
				return d.Name, true
			}
		}
		return name, false
	}
	for _, synthetic := range []bool{false, true} {
		out, found := make([]string, len(names)), false
		for i, name := range names {
			var ok bool
			out[i], ok = pick(name, synthetic)
			found = found || ok
		}
		if found {
			return out
		}
	}
	return names
}
