package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A claim selects itself on its spec; a spec selects all claims about it. The order of arguments does not matter.
func TestClaimedSpecs(t *testing.T) {
	type want struct {
		Specs []string
		Only  map[string][]string
	}
	for _, c := range []struct {
		args []string
		want want
	}{
		{[]string{"mine.yaml"}, want{[]string{"mine.yaml"}, map[string][]string{}}},
		{[]string{"ssdl-best", "pahl-similar-dhsl", "ssdl-margin"}, want{[]string{"table1", "table2"}, map[string][]string{"table1": {"ssdl-best", "ssdl-margin"}, "table2": {"pahl-similar-dhsl"}}}},
		{[]string{"table1", "ssdl-best"}, want{[]string{"table1"}, map[string][]string{}}},
		{[]string{"ssdl-best", "table1"}, want{[]string{"table1"}, map[string][]string{}}},
	} {
		specs, only := claimedSpecs(c.args)
		if d := cmp.Diff(c.want, want{specs, only}); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.args, d)
		}
	}
	if specs, only := claimedSpecs(nil); len(specs) < 5 || specs[0] != "table1" || len(only) != 0 {
		t.Errorf("without arguments: %q of %v", specs, only)
	}
}
