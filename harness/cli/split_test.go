package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ssdl/harness/data"
	"ssdl/harness/spec"
)

// Tests between methods take index files by seed for splits, with the sizes that they have.
func TestRatioOfIndexFiles(t *testing.T) {
	dir := t.TempDir()
	set, ok := data.Builtin("synth8")
	if !ok {
		t.Fatal("there is no synth8")
	}
	write := func(seed uint64, name string, labels float64) (test, labelled int) {
		sp, err := data.MakeSplit(set, data.SplitSpec{Labels: labels}, seed)
		if err == nil {
			err = exportSplit(filepath.Join(dir, name), sp, set)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range sp.Labelled {
			if l {
				labelled++
			}
		}
		return len(sp.Test), labelled
	}
	write(1000, "a-1000.json", 0.8)
	test, labelled := write(1001, "a-1001.json", 0.4)
	s := &spec.Spec{Seeds: []uint64{1000, 1001}, Split: spec.Split{Kind: "file", File: filepath.Join(dir, "a-{seed}.json")}}
	if got, err := testToTrain(s); err != nil || got != float64(test)/float64(labelled) {
		t.Errorf("%v, %v; want that of the file with fewer labels, %d/%d", got, err, test, labelled)
	}
	s.Split.File = filepath.Join(dir, "a-1000.json")
	if got, err := testToTrain(s); err != nil || got != 0 {
		t.Errorf("one file for all seeds: %v, %v; want 0", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b-1000.json"), []byte(`{"format":"ssdl split 1","test":[1]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Split.File = filepath.Join(dir, "b-{seed}.json")
	if _, err := testToTrain(s); err == nil || !strings.Contains(err.Error(), "b-1000.json") {
		t.Errorf("a file without labels: %v", err)
	}
}
