package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A table in brief has the same cells, and every note that a cell refers to.
func TestTableInBrief(t *testing.T) {
	whole, brief := OfTable(example()).Grids[0], OfTableInBrief(example()).Grids[0]
	if d := cmp.Diff(whole.Groups, brief.Groups); d != "" {
		t.Errorf("the cells (-whole +brief):\n%s", d)
	}
	var marks []string
	for _, n := range brief.Notes {
		marks = append(marks, n.Mark)
	}
	if slices.Contains(marks, "") || len(marks) == 0 || len(marks) == len(whole.Notes) {
		t.Errorf("the notes %q of %d", marks, len(whole.Notes))
	}
	for _, group := range brief.Groups {
		for _, row := range group {
			for _, it := range row {
				for _, m := range it.Marks {
					if !slices.Contains(marks, m) {
						t.Errorf("%s refers to a note %s that is not there", it.Text, m)
					}
				}
			}
		}
	}
}
