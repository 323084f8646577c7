// Package data reads labelled feature sets, generates the built-in synthetic ones, and
// splits them into training and test samples. It fits no model, knows no method and writes
// nothing but index files of splits and, for others, .npy arrays.
//
// A set goes from disk to memory in one direction: a reader checks the container and
// returns raw bytes with their shape and type (array); the labels are checked; then one
// pass over the samples decodes, refuses values that are not finite, hashes, normalises and
// transposes. A set with any fault is refused whole.
package data

import "gonum.org/v1/gonum/mat"

// Set is a labelled feature set, ready for use. Jobs share it: it must not be changed.
type Set struct {
	// Name is the name of the folder, or of the file without its ending.
	Name string
	// Declared is the name that meta.json gives the set; "" without one. It may contradict
	// Name, and is not checked here.
	Declared string
	// X is dim x N, one sample per column, every column of unit l2 norm.
	X *mat.Dense
	// Labels has length N; entries are 0..len(Classes)-1 and every class occurs.
	Labels []int
	// Classes holds the class names.
	Classes []string
	// Hash is the SHA-256 of the content (the raw features before normalising, the
	// labels, the dimensions) in lower-case hex. It does not depend on the file format.
	Hash string
	// Source says where the set comes from: its path, or the generator.
	Source string
	// DType is the type in which the features are stored: float16, int32, text, ...
	DType string
	// Files names the samples (meta.json); nil without names.
	Files []string
	// Official marks the samples of the official split, officialTrain or officialTest;
	// nil when the set has none.
	Official []int
	// Dropped lists the zero samples that Options.DropZero left out, by their index in
	// the file. All other indices count the remaining samples.
	Dropped []int
	// Synthetic is true for a built-in set: no number made from it is a result on data.
	Synthetic bool
}

// The codes of official_split.npy.
const (
	officialTrain = 1
	officialTest  = 2
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

// Report is what a full check of a set found.
type Report struct {
	Name, Source, DType, Hash string
	// Declared is the name that meta.json gives the set; "" without one.
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

// Report summarises a set. It lists zero samples only if the set was loaded with
// Options.DropZero: without it, a set with zero samples is refused.
func (s *Set) Report() Report {
	r := Report{
		Name: s.Name, Source: s.Source, DType: s.DType, Hash: s.Hash, Declared: s.Declared,
		Samples: s.Samples() + len(s.Dropped), Dim: s.Dim(),
		Classes: s.Classes, Counts: s.Counts(), ZeroColumns: s.Dropped, Synthetic: s.Synthetic,
	}
	for _, o := range s.Official {
		switch o {
		case officialTrain:
			r.OfficialTrain++
		case officialTest:
			r.OfficialTest++
		}
	}
	return r
}
