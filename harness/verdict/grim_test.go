package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sets are the paper's data sets and one more.
var sets = []DataSet{{"stanford40", 9532, 40}, {"uiuc-se", 1579, 8}, {"other", 10, 2}}

func TestPaperCheck(t *testing.T) {
	got, err := PaperCheck(sets, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, g := range got {
		lines = append(lines, fmt.Sprintf("%s %d %d..%d %d %d", g.Column, g.Splits, g.From, g.To, len(g.Sizes), g.Most))
	}
	want := []string{
		"stanford40 1 2840..2879 40 12",
		"uiuc-se 1 470..477 0 6",
		"uiuc-se 2 470..477 3 12",
		"uiuc-se 3 470..477 8 12",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	one := got[1]
	if !slices.Equal(got[2].Sizes, []int{473, 475, 476}) {
		t.Errorf("sizes %v", got[2].Sizes)
	}
	if one.Numbers != 12 || one.Smallest != 773 || got[2].Smallest != 400 {
		t.Errorf("%+v: a single split needs 773 test samples, two need 400", one)
	}
}

func TestPaperCheckOfNothing(t *testing.T) {
	if _, err := PaperCheck(sets[:1], 0.3); err == nil || !strings.Contains(err.Error(), "uiuc-se is not known") {
		t.Errorf("an unknown set: error %v", err)
	}
	for _, share := range []float64{0, 1, -1} {
		if _, err := PaperCheck(sets, share); err == nil || !strings.Contains(err.Error(), "no test part") {
			t.Errorf("a share of %v: error %v", share, err)
		}
	}
}
