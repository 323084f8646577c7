package experiments

import (
	"slices"
	"strconv"
	"strings"
)

// Facts are what a data set that was loaded, or that is on record, says of itself. Numbers
// that are 0 and texts that are "" are unknown.
type Facts struct {
	Samples int // as in the file, zero samples included
	Classes int
	Dim     int
	Hash    string // content hash (data.Set.Hash)
	// Declared is the name that the set's own meta.json gives it (data.Set.Declared).
	Declared string
}

// The properties in which a data set can differ from the known one of its name.
const (
	PropertySamples = "samples"
	PropertyClasses = "classes"
	PropertyDim     = "dim"
	PropertyHash    = "hash"
	PropertyName    = "name" // Is: what meta.json calls the set
)

// Difference is a property in which a data set is not the known one of its name.
type Difference struct {
	Property string `json:"property"`
	Is       string `json:"is"`
	Want     string `json:"want"`
}

// Known returns the known data set of that name.
func Known(name string) (Dataset, bool) {
	i := slices.IndexFunc(Datasets(), func(d Dataset) bool { return d.Name == name })
	if i < 0 {
		return Dataset{}, false
	}
	return Datasets()[i], true
}

// Differences compares the facts of a data set with d and returns what differs, in the order
// of the properties. None means that the data set can be d: features of the photographs of d
// have its samples and classes, whatever network made them. Dim and hash belong to the
// content of built-in sets alone.
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

// called reports whether name is one of d's, ignoring letter case.
func (d Dataset) called(name string) bool {
	names := append([]string{d.Name, d.Title}, d.AlsoCalled...)
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
