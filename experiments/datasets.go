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
	// AlsoCalled lists other names under which the set is published.
	AlsoCalled []string `yaml:"also_called"`
	Samples    int      `yaml:"samples"`
	// Dim is the number of features of the ResNet-50 that the paper uses; other networks
	// give other numbers.
	Dim     int `yaml:"dim"`
	Classes int `yaml:"classes"`
	// Hash is the content hash (data.Set.Hash) of a built-in set; "" of others, whose
	// features depend on the network.
	Hash     string `yaml:"hash"`
	Source   string `yaml:"source"`
	Citation string `yaml:"citation"`
	// Licence says under which terms the photographs may be used, as far as is known.
	Licence string `yaml:"licence"`
	// Creators are the authors of the set, Published the year it came out.
	Creators  []string `yaml:"creators"`
	Published string   `yaml:"published"`
	// Files are the archives of the photographs; none if they cannot be fetched.
	Files []File `yaml:"files"`
	// StandsFor names the set of the paper in whose place this one may be used.
	StandsFor string `yaml:"stands_for"`
	Synthetic bool   `yaml:"synthetic"`
}

// File is an archive that can be fetched. Its last path element is its name.
type File struct {
	URL string `yaml:"url"`
	// Size in bytes and SHA256 in hex are those of the authors' file; 0 and "" if the
	// authors publish none.
	Size   int64  `yaml:"size"`
	SHA256 string `yaml:"sha256"`
}

// Datasets lists the known data sets: those of the paper first, then the stand-ins in
// order of preference. All callers share the list: it must not be changed.
func Datasets() []Dataset { return datasetList() }

var datasetList = sync.OnceValue(func() []Dataset {
	var out []Dataset
	if err := yaml.Unmarshal(datasets, &out); err != nil {
		panic(fmt.Sprintf("experiments: datasets.yaml: %v", err)) // a test reads it
	}
	return out
})

// Available returns the data sets to use for the names of a spec. has reports whether a set
// is in the data folders. A set that is there is used itself, a missing one of the paper is
// replaced by its first stand-in that is there. If no real set is there at all, the built-in
// synthetic ones are used. A name without any of these stays: its cells say that it is
// missing.
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
