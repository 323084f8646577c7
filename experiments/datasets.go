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
	Name     string `yaml:"name"`
	Title    string `yaml:"title"`
	Samples  int    `yaml:"samples"`
	Dim      int    `yaml:"dim"`
	Classes  int    `yaml:"classes"`
	Source   string `yaml:"source"`
	Citation string `yaml:"citation"`
	// Licence says under which terms the photographs may be used, as far as is known.
	Licence string `yaml:"licence"`
	// Creators are the authors of the set, Published the year it came out.
	Creators  []string `yaml:"creators"`
	Published string   `yaml:"published"`
	// Files are the archives of the photographs; none where they cannot be fetched.
	Files []File `yaml:"files"`
	// StandsFor names the set of the paper in whose place this one may be used.
	StandsFor string `yaml:"stands_for"`
	Synthetic bool   `yaml:"synthetic"`
}

// File is an archive that can be fetched. Its last path element is its name.
type File struct {
	URL string `yaml:"url"`
	// Size in bytes and SHA256 in hex are those of the authors' file; 0 and "" where they
	// are not known.
	Size   int64  `yaml:"size"`
	SHA256 string `yaml:"sha256"`
}

// Datasets lists the known data sets: those of the paper first, then the stand-ins in
// the order in which they are preferred. All callers share the list: it is not to be changed.
func Datasets() []Dataset { return datasetList() }

var datasetList = sync.OnceValue(func() []Dataset {
	var out []Dataset
	if err := yaml.Unmarshal(datasets, &out); err != nil {
		panic(fmt.Sprintf("experiments: datasets.yaml: %v", err)) // a test reads it
	}
	return out
})

// Available gives the data sets to use where a spec asks for names. A set that has is
// used itself; for one of the paper's that is missing the first stand-in that has is
// used. If no real set at all is there, the built-in synthetic ones are. A name for
// which there is nothing stays: its cells will say that it is missing.
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
