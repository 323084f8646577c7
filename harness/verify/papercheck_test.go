package verify

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// sets are the paper's, and one more.
var sets = []DataSet{{"stanford40", 9532, 40}, {"uiuc-se", 1579, 8}, {"other", 10, 2}}

func TestPaperCheck(t *testing.T) {
	got, err := PaperCheck(sets, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, g := range got {
		lines = append(lines, strings.Join([]string{g.Column, runsOf([]int{g.Splits}), runsOf([]int{g.From, g.To}), runsOf(g.Sizes), runsOf([]int{g.Most})}, " "))
	}
	want := []string{
		"stanford40 1 2840, 2879 2840..2879 12",
		"uiuc-se 1 470, 477  6", // no size
		"uiuc-se 2 470, 477 473, 475..476 12",
		"uiuc-se 3 470, 477 470..477 12",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	one := got[1]
	if one.Numbers != 12 || one.Smallest != 773 || got[2].Smallest != 400 {
		t.Errorf("%+v: a single split needs 773 test samples, two need 400", one)
	}
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := RenderPaperCheck(&b, got, format); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "uiuc-se") || !strings.Contains(b.String(), "773") {
			t.Errorf("%s:\n%s", format, b.String())
		}
		if format == "json" {
			var back []GrimCheck
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != len(got) {
				t.Errorf("%d lines, error %v", len(back), err)
			}
		}
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
	if err := RenderPaperCheck(&bytes.Buffer{}, nil, "html"); err == nil {
		t.Error("a format that does not exist is taken")
	}
}

func TestRunsOf(t *testing.T) {
	for want, v := range map[string][]int{"": nil, "3": {3}, "1..3, 5, 7..8": {1, 2, 3, 5, 7, 8}} {
		if got := runsOf(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
