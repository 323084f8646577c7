package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
)

// splitFile is an index file: the split of one data set, as JSON. DataHash ties it to the data;
// Hash reveals edited indices.
type splitFile struct {
	Format   string `json:"format"`
	Data     string `json:"data"`
	DataHash string `json:"data_hash"`
	Hash     string `json:"split_hash"`
	Train    []int  `json:"train"`
	Labelled []int  `json:"labelled"` // those of Train that keep their label
	Test     []int  `json:"test"`
}

const splitFormat = "ssdl split 1"

// Write writes sp, a split of s, as an index file: JSON with ascending 0-based sample indices and
// the hashes of data and split.
func (sp *Split) Write(w io.Writer, s *Set) error {
	f := splitFile{
		Format: splitFormat, Data: s.Name, DataHash: s.Hash, Hash: sp.Hash,
		Train: sp.Train, Labelled: []int{}, Test: sp.Test,
	}
	for i, j := range sp.Train {
		if sp.Labelled[i] {
			f.Labelled = append(f.Labelled, j)
		}
	}
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// ReadSplit reads an index file that Write made. It refuses one that was edited or made from other
// data than s.
func ReadSplit(path string, s *Set) (*Split, error) {
	b, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	return decodeSplit(path, b, s)
}

func readIndex(path string) ([]byte, error) {
	b, err := ReadText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Invalid(path, "no such index file; `ssdl data split NAME --export DIR` writes DIR/NAME-SEED.json for each seed")
	}
	return b, err
}

func parseSplit(path string, b []byte) (f splitFile, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, Invalid(path, "is not an index file: %v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return f, Invalid(path, "text follows the JSON object of the index file")
	}
	if f.Format != splitFormat {
		return f, Invalid(path, "has format %q, expected %q", f.Format, splitFormat)
	}
	return f, nil
}

func decodeSplit(path string, b []byte, s *Set) (*Split, error) {
	f, err := parseSplit(path, b)
	if err != nil {
		return nil, err
	}
	if f.DataHash != s.Hash {
		return nil, Invalid(path, "made from data with hash %.12s (%s), but %s has %.12s. Export the split again from this data.",
			f.DataHash, f.Data, s.Name, s.Hash)
	}
	used := make([]bool, s.Samples())
	for _, part := range []struct {
		name    string
		indices []int
	}{{"train", f.Train}, {"test", f.Test}} {
		if len(part.indices) == 0 {
			return nil, Invalid(path, "%s has no samples", part.name)
		}
		for i, j := range part.indices {
			switch {
			case j < 0 || j >= len(used):
				return nil, Invalid(path, "%s[%d] is sample %d; %s has samples 0..%d", part.name, i, j, s.Name, len(used)-1)
			case used[j]:
				return nil, Invalid(path, "%s[%d] is sample %d, which occurs before, in the same part or in the other", part.name, i, j)
			case i > 0 && j < part.indices[i-1]:
				return nil, Invalid(path, "%s[%d] is sample %d, which is out of order: indices ascend", part.name, i, j)
			}
			used[j] = true
		}
	}
	sp := &Split{Train: f.Train, Test: f.Test, Labelled: make([]bool, len(f.Train))}
	for i, j := range f.Labelled {
		k, ok := slices.BinarySearch(f.Train, j)
		if !ok || sp.Labelled[k] {
			return nil, Invalid(path, "labelled[%d] is sample %d, which is not in train or occurs twice", i, j)
		}
		sp.Labelled[k] = true
	}
	if len(f.Labelled) == 0 {
		return nil, Invalid(path, "labelled has no samples")
	}
	if sp.Hash = sp.hash(); sp.Hash != f.Hash {
		return nil, Invalid(path, "the indices have hash %.12s, the file says %.12s. It was edited or damaged: export it again.", sp.Hash, f.Hash)
	}
	return sp, nil
}
