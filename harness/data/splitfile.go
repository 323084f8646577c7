package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
)

// splitFile is an index file: a split of one data set, as JSON. The two hashes make sure
// that it is used with the data it was made from and that nobody edited the indices.
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

// Write writes sp, a split of s, as an index file: JSON with sample indices in ascending
// order, 0-based, and the hashes of the data and of the split.
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

// ReadSplit reads an index file made by Write. It refuses a file that was made from other
// data than s, or that was edited since.
func ReadSplit(path string, s *Set) (*Split, error) {
	b, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	return decodeSplit(path, b, s)
}

// SplitSizes tells how many samples an index file has for testing and with a label, whatever
// data it is of.
func SplitSizes(path string) (test, labelled int, err error) {
	b, err := readIndex(path)
	if err != nil {
		return 0, 0, err
	}
	f, err := parseSplit(path, b)
	if err == nil && (len(f.Test) == 0 || len(f.Labelled) == 0) {
		err = bad(path, "has %d samples for testing and %d with a label; both must be some", len(f.Test), len(f.Labelled))
	}
	return len(f.Test), len(f.Labelled), err
}

func readIndex(path string) ([]byte, error) {
	b, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bad(path, "there is no such index file; `ssdl data split NAME --export DIR` writes DIR/NAME-SEED.json for each seed")
	}
	return b, err
}

func parseSplit(path string, b []byte) (f splitFile, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, bad(path, "not an index file: %v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return f, bad(path, "something follows the JSON object of the index file")
	}
	if f.Format != splitFormat {
		return f, bad(path, "format is %q, expected %q", f.Format, splitFormat)
	}
	return f, nil
}

func decodeSplit(path string, b []byte, s *Set) (*Split, error) {
	f, err := parseSplit(path, b)
	if err != nil {
		return nil, err
	}
	if f.DataHash != s.Hash {
		return nil, bad(path, "made from data with hash %.12s (%s), but %s has %.12s; export the split again from this data",
			f.DataHash, f.Data, s.Name, s.Hash)
	}
	used := make([]bool, s.Samples())
	for _, part := range []struct {
		name    string
		indices []int
	}{{"train", f.Train}, {"test", f.Test}} {
		if len(part.indices) == 0 {
			return nil, bad(path, "%s has no samples", part.name)
		}
		for i, j := range part.indices {
			switch {
			case j < 0 || j >= len(used):
				return nil, bad(path, "%s[%d] is sample %d; %s has samples 0..%d", part.name, i, j, s.Name, len(used)-1)
			case used[j]:
				return nil, bad(path, "%s[%d]: sample %d stands there twice, or in train and test", part.name, i, j)
			case i > 0 && j < part.indices[i-1]:
				return nil, bad(path, "%s[%d]: sample %d is out of order; indices ascend", part.name, i, j)
			}
			used[j] = true
		}
	}
	sp := &Split{Train: f.Train, Test: f.Test, Labelled: make([]bool, len(f.Train))}
	for i, j := range f.Labelled {
		k, ok := slices.BinarySearch(f.Train, j)
		if !ok || sp.Labelled[k] {
			return nil, bad(path, "labelled[%d]: sample %d is not in train, or stands there twice", i, j)
		}
		sp.Labelled[k] = true
	}
	if len(f.Labelled) == 0 {
		return nil, bad(path, "labelled has no samples")
	}
	if sp.Hash = sp.hash(); sp.Hash != f.Hash {
		return nil, bad(path, "the indices have hash %.12s, the file says %.12s; it was edited or damaged, export it again", sp.Hash, f.Hash)
	}
	return sp, nil
}
