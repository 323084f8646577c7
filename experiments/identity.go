package experiments

import (
	"slices"
	"strconv"
	"strings"
)

// Facts describes a loaded or recorded data set. 0 and "" mean unknown.
type Facts struct {
	Samples int // as in the file, zero samples included
	Classes int
	Dim     int
	Hash    string // content hash (data.Set.Hash)
	// Declared is the name in the set's meta.json (data.Set.Declared).
	Declared string
}

// The properties in which a data set can differ from the known one of its name.
const (
	PropertySamples = "samples"
	PropertyClasses = "classes"
	PropertyDim     = "dim"
	PropertyHash    = "hash"
	PropertyName    = "name" // Is: the name in meta.json
)

// Difference is a property in which a data set differs from the known one of its name.
type Difference struct {
	Property string `json:"property"`
	Is       string `json:"is"`
	Want     string `json:"want"`
}

// Known returns the known data set of this name.
func Known(name string) (Dataset, bool) {
	i := slices.IndexFunc(Datasets(), func(d Dataset) bool { return d.Name == name })
	if i < 0 {
		return Dataset{}, false
	}
	return Datasets()[i], true
}

// Differences compares the facts of a data set with d, in the order of the properties. No
// difference means that the set can be d: features of the photographs of d have its samples and
// classes for any network. Dim and Hash identify built-in sets only.
func (d Dataset) Differences(f Facts) []Difference {
	var out []Difference
	number := func(property string, is, want int) {
		if is != 0 && is != want {
			out = append(out, Difference{property, strconv.Itoa(is), strconv.Itoa(want)})
		}
	}
	number(PropertySamples, f.Samples, d.Samples)
	number(PropertyClasses, f.Classes, d.Classes)
	if d.Synthetic {
		number(PropertyDim, f.Dim, d.Dim)
	}
	if d.Hash != "" && f.Hash != "" && !strings.EqualFold(f.Hash, d.Hash) {
		out = append(out, Difference{PropertyHash, f.Hash, d.Hash})
	}
	if f.Declared != "" && !d.called(f.Declared) {
		out = append(out, Difference{PropertyName, f.Declared, d.Name})
	}
	return out
}

// called reports whether name is one of d's names, ignoring letter case.
func (d Dataset) called(name string) bool {
	names := append([]string{d.Name, d.Title}, d.AlsoCalled...)
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
