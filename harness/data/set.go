// Package data gives labelled feature sets and their splits: strict readers of .npy
// folders, .npz, .mat and .csv files, the built-in synthetic sets, seeded splits into
// training and test samples, and index files to exchange them. It fits no model, knows
// no method and writes nothing but index files.
//
// A set goes from disk to memory in one direction: a reader checks the container and
// hands over raw bytes with their shape and type (array); the labels are checked; then
// one pass over the samples decodes, refuses what is not finite, hashes, normalises and
// transposes. Nothing is computed from a set that has any fault.
package data

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// ErrData is wrapped by every error that says a file or a set is unusable, as opposed
// to absent (fs.ErrNotExist) or unreadable.
var ErrData = errors.New("unusable data")

// bad is the one form of an error about the content of a file: where, what was found,
// what was expected or what to do.
func bad(path, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", path, ErrData, fmt.Sprintf(format, args...))
}

// Set is a labelled feature set, ready for use. It is shared between jobs and must not
// be changed.
type Set struct {
	// Name is the folder's or the file's name without its ending.
	Name string
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
	// Files names the samples (meta.json); nil when it is not known.
	Files []string
	// Official marks the samples of the official split, officialTrain or officialTest;
	// nil when the set has none.
	Official []int
	// Dropped lists the zero samples that Options.DropZero left out, by their index in
	// the file. All other indices count the samples that were kept.
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
	// Samples counts the zero samples too; Counts and Hash are of the others.
	Samples, Dim int
	Classes      []string
	Counts       []int // per class
	ZeroColumns  []int // by index in the file
	// OfficialTrain and OfficialTest are the sizes of the official split, 0 without one.
	OfficialTrain, OfficialTest int
	Synthetic                   bool
}

// Report summarises a set. For a report that lists zero samples load the set with
// Options.DropZero, as Check does.
func (s *Set) Report() Report {
	r := Report{
		Name: s.Name, Source: s.Source, DType: s.DType, Hash: s.Hash,
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
