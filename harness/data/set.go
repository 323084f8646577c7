// Package data reads labelled feature sets, generates the built-in synthetic ones, and splits them
// into training and test samples. It knows no method. It writes index files of splits and .npy
// arrays only.
//
// A reader checks the container and returns raw bytes with their shape and type (array). Then the
// labels are checked. Then one pass over the samples decodes, refuses NaN and infinities, hashes,
// normalises and transposes. A set with any fault is refused whole.
package data

import "gonum.org/v1/gonum/mat"

// Set is a loaded feature set with labels. Jobs share it, so nobody may change it.
type Set struct {
	// Name is the name of the folder, or of the file without its ending.
	Name string
	// Declared is the name in meta.json, or "". It may contradict Name; this package does not
	// compare them.
	Declared string
	// X is dim x N: one sample per column, of unit l2 norm.
	X *mat.Dense
	// Labels has length N, values 0..len(Classes)-1. Every class occurs.
	Labels []int
	// Classes holds the class names.
	Classes []string
	// Hash is the SHA-256 of the features before normalising, the labels and the dimensions, in
	// lower-case hex. It does not depend on the file format.
	Hash string
	// Source is the path of the set, or its generator.
	Source string
	// DType is the stored type of the features: float16, int32, text, ...
	DType string
	// Files names the samples (meta.json); nil without names.
	Files []string
	// Official has OfficialTrain or OfficialTest for each sample; nil without an official split.
	Official []int
	// Dropped lists the zero samples that Options.DropZero left out, by their index in the file.
	// All other indices are after the removal.
	Dropped []int
	// Synthetic is true for a built-in set, whose numbers are no results on real data.
	Synthetic bool
}

// The values in official_split.npy.
const (
	OfficialTrain = 1
	OfficialTest  = 2
)

// Samples returns N.
func (s *Set) Samples() int { return len(s.Labels) }

// Dim returns the number of features.
func (s *Set) Dim() int { return s.X.RawMatrix().Rows }

// Counts returns the number of samples of each class.
func (s *Set) Counts() []int {
	counts := make([]int, len(s.Classes))
	for _, y := range s.Labels {
		counts[y]++
	}
	return counts
}

// Report summarises a loaded set.
type Report struct {
	Name, Source, DType, Hash string
	// Declared is the name in meta.json, or "".
	Declared string
	// Samples includes the zero samples; Counts and Hash leave them out.
	Samples, Dim int
	Classes      []string
	Counts       []int // per class
	ZeroColumns  []int // by index in the file
	// OfficialTrain and OfficialTest are the sizes of the official split, 0 without one.
	OfficialTrain, OfficialTest int
	Synthetic                   bool
}

// Report summarises s. ZeroColumns is empty unless s was loaded with Options.DropZero: Load refuses
// zero samples otherwise.
func (s *Set) Report() Report {
	r := Report{
		Name: s.Name, Source: s.Source, DType: s.DType, Hash: s.Hash, Declared: s.Declared,
		Samples: s.Samples() + len(s.Dropped), Dim: s.Dim(),
		Classes: s.Classes, Counts: s.Counts(), ZeroColumns: s.Dropped, Synthetic: s.Synthetic,
	}
	for _, o := range s.Official {
		switch o {
		case OfficialTrain:
			r.OfficialTrain++
		case OfficialTest:
			r.OfficialTest++
		}
	}
	return r
}
