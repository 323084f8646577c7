package executor

import (
	"strings"
	"testing"

	"ssdl/harness/spec"
)

// The error of a split names the data set and the seed, each once.
func TestSplitErrorNamesTheSetOnce(t *testing.T) {
	lib := Library{}
	set, err := lib.Set(t.Context(), "synth8")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []spec.Split{{Kind: "official"}, {Kind: "file", File: "no/such/{seed}.json"}} {
		_, err = lib.Split(set, s, 1003)
		if err == nil || !strings.HasPrefix(err.Error(), "split of synth8, seed 1003: ") || strings.Count(err.Error(), "split of") != 1 {
			t.Errorf("%s: %v", s.Kind, err)
		}
	}
}
