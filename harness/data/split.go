package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

// SplitSpec says how a set is split. The zero value is the protocol's split.
type SplitSpec struct {
	// Kind is "class" (at random within each class; also ""), "official" (the set's
	// official_split.npy) or "file" (an index file, see ReadSplit).
	Kind string
	// Train is the share of each class that goes to training, in (0,1); 0 means 0.7.
	// Only kind "class" uses it.
	Train float64
	// Labels is the share of each class's training samples that keep their label, in
	// (0,1]; 0 means 0.4. Kind "file" has labels of its own.
	Labels float64
	// File is the index file of kind "file".
	File string
}

// Split lists the training samples of a set, which of them keep their label, and the test
// samples. It must not be changed.
type Split struct {
	Train, Test []int  // sample indices, ascending, disjoint
	Labelled    []bool // over Train
	Hash        string // SHA-256 of the three, lower-case hex
}

// MakeSplit splits s. For kind "class", round-half-up(Train x size) samples of each
// class, at least one, are drawn for training (stream "split"); the others are test
// samples. For kinds "class" and "official", round-half-up(Labels x training size)
// training samples of each class, at least one, keep their label (stream "labels"): a
// higher rate labels the same samples and more, and the rate never changes the parts.
func MakeSplit(s *Set, spec SplitSpec, seed uint64) (*Split, error) {
	if spec.Train == 0 {
		spec.Train = 0.7
	}
	if spec.Labels == 0 {
		spec.Labels = 0.4
	}
	if !(spec.Train > 0 && spec.Train < 1) {
		return nil, splitError(s, "the training share is %v, expected a number in (0,1)", spec.Train)
	}
	if !(spec.Labels > 0 && spec.Labels <= 1) {
		return nil, splitError(s, "the label share is %v, expected a number in (0,1]", spec.Labels)
	}
	training := make([]bool, len(s.Labels))
	switch spec.Kind {
	case "", "class":
		r := Stream(seed, "split")
		for _, members := range byClass(s.Labels) {
			r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			for _, j := range members[:share(spec.Train, len(members))] {
				training[j] = true
			}
		}
	case "official":
		if s.Official == nil {
			return nil, splitError(s, "the set has no official_split.npy beside features.npy. Use kind \"class\".")
		}
		for j, o := range s.Official {
			training[j] = o == officialTrain
		}
	case "file":
		return ReadSplit(spec.File, s)
	default:
		return nil, splitError(s, "unknown kind %q, expected class, official or file", spec.Kind)
	}

	sp := &Split{}
	for j, t := range training {
		if t {
			sp.Train = append(sp.Train, j)
		} else {
			sp.Test = append(sp.Test, j)
		}
	}
	if len(sp.Train) == 0 || len(sp.Test) == 0 {
		return nil, splitError(s, "%d training and %d test samples. Both parts need at least one.", len(sp.Train), len(sp.Test))
	}
	labels := make([]int, len(sp.Train))
	for i, j := range sp.Train {
		labels[i] = s.Labels[j]
	}
	sp.Labelled = make([]bool, len(sp.Train))
	r := Stream(seed, "labels")
	for _, members := range byClass(labels) {
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for _, i := range members[:share(spec.Labels, len(members))] {
			sp.Labelled[i] = true
		}
	}
	sp.Hash = sp.hash()
	return sp, nil
}

// Validation holds out round-half-up(held x size) of each class of the labelled training
// samples (stream "validation"), at most all but one, for tuning. labels are those of the
// labelled training columns; fit and val are positions in it, ascending. With few labels per
// class val can be empty.
func Validation(labels []int, held float64, seed uint64) (fit, val []int) {
	r := Stream(seed, "validation")
	for _, members := range byClass(labels) {
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		n := min(roundHalfUp(held, len(members)), len(members)-1)
		val = append(val, members[:n]...)
		fit = append(fit, members[n:]...)
	}
	slices.Sort(fit)
	slices.Sort(val)
	return fit, val
}

// byClass returns the positions of each class that occurs in labels, classes and positions
// ascending.
func byClass(labels []int) [][]int {
	at := map[int]int{}
	var classes []int
	for _, y := range labels {
		if _, ok := at[y]; !ok {
			at[y] = 0
			classes = append(classes, y)
		}
	}
	slices.Sort(classes)
	for c, y := range classes {
		at[y] = c
	}
	members := make([][]int, len(classes))
	for j, y := range labels {
		members[at[y]] = append(members[at[y]], j)
	}
	return members
}

// share returns p x n, rounded half up, at least 1 and at most n.
func share(p float64, n int) int { return min(max(roundHalfUp(p, n), 1), n) }

// roundHalfUp rounds p*n half up. p stands for a decimal such as 0.35, whose binary value
// may lie below it: 1e-9 restores a decimal half.
func roundHalfUp(p float64, n int) int {
	return int(math.Floor(float64(p*float64(n)) + 0.5 + 1e-9))
}

func splitError(s *Set, format string, args ...any) error {
	return fmt.Errorf("split of %s: %s", s.Name, fmt.Sprintf(format, args...))
}

// hash returns the SHA-256 of the indices and of the labelled flags.
func (sp *Split) hash() string {
	b := []byte("ssdl split 1")
	put := func(v int) { b = binary.LittleEndian.AppendUint64(b, uint64(v)) }
	put(len(sp.Train))
	put(len(sp.Test))
	for i, j := range sp.Train {
		put(j)
		if sp.Labelled[i] {
			put(1)
		} else {
			put(0)
		}
	}
	for _, j := range sp.Test {
		put(j)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
