package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"ssdl/harness/protocol"
)

// SplitSpec says how a set is split. The zero value is the protocol's split.
type SplitSpec struct {
	// Kind is "class" (at random within each class; the default), "official" (official_split.npy of
	// the set) or "file" (an index file, see ReadSplit).
	Kind string
	// Train is the share of each class used for training, in (0,1), for kind "class"; 0 means 0.7.
	Train float64
	// Labels is the share of each class's training samples that keep their label, in (0,1]; 0 means
	// 0.4. Kind "file" ignores it.
	Labels float64
	// File is the index file of kind "file".
	File string
}

// Split lists the training samples of a set, which of them keep their label, and the test samples.
// Nobody may change it.
type Split struct {
	Train, Test []int  // sample indices, ascending, disjoint
	Labelled    []bool // over Train
	Hash        string // SHA-256 of the three, lower-case hex
}

// MakeSplit splits s. Kind "class" draws round-half-up(Train x size) samples of each class, at
// least one, for training (stream "split"); the others are test samples. In kinds "class" and
// "official" round-half-up(Labels x training size) training samples of each class, at least one,
// keep their label (stream "labels"). A higher rate labels the same samples and more. The rate
// never changes which samples are training samples. The error names the set and the seed.
func MakeSplit(s *Set, spec SplitSpec, seed uint64) (*Split, error) {
	sp, err := makeSplit(s, spec, seed)
	if err != nil {
		return nil, fmt.Errorf("split of %s, seed %d: %w", s.Name, seed, err)
	}
	return sp, nil
}

func makeSplit(s *Set, spec SplitSpec, seed uint64) (*Split, error) {
	if spec.Train == 0 {
		spec.Train = 0.7
	}
	if spec.Labels == 0 {
		spec.Labels = 0.4
	}
	if !(spec.Train > 0 && spec.Train < 1) {
		return nil, fmt.Errorf("the training share is %v, expected a number in (0,1)", spec.Train)
	}
	if !(spec.Labels > 0 && spec.Labels <= 1) {
		return nil, fmt.Errorf("the label share is %v, expected a number in (0,1]", spec.Labels)
	}
	var training []bool
	switch spec.Kind {
	case "", "class":
		training = protocol.DrawTraining(s.Labels, spec.Train, seed)
	case "official":
		if s.Official == nil {
			return nil, fmt.Errorf("the set has no official_split.npy beside features.npy. Use kind \"class\"")
		}
		training = make([]bool, len(s.Labels))
		for j, o := range s.Official {
			training[j] = o == OfficialTrain
		}
	case "file":
		return ReadSplit(spec.File, s)
	default:
		return nil, fmt.Errorf("unknown kind %q, expected class, official or file", spec.Kind)
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
		return nil, fmt.Errorf("%d training and %d test samples, both parts need at least one", len(sp.Train), len(sp.Test))
	}
	labels := make([]int, len(sp.Train))
	for i, j := range sp.Train {
		labels[i] = s.Labels[j]
	}
	sp.Labelled = protocol.DrawLabelled(labels, spec.Labels, seed)
	sp.Hash = sp.hash()
	return sp, nil
}

// hash is the SHA-256 of the indices and the labelled flags.
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
