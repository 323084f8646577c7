package report

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"ssdl/harness/compare"
	"ssdl/harness/results"
)

// losses is a table that sweeps the loss.
func losses() results.Table {
	t := results.Table{ID: "mine", Caption: "Losses", Metric: results.MetricOf("bce"), Columns: []results.Column{{ID: "sports8", Title: "sports8"}}}
	var g results.Group
	for i, loss := range []string{"bce", "ce_row"} {
		for j, id := range []string{"gl", "hl"} {
			s, v := results.Setting{{Name: "loss", Value: loss}}, float64(2*i+j)
			g.Rows = append(g.Rows, results.Row{ID: results.RowID(id, s), Base: id, Title: strings.ToUpper(id), Setting: s, Cells: []results.Cell{cell(2, v+0.5, v+0.7)}})
		}
	}
	t.Groups = []results.Group{g}
	t.MarkBest()
	return t
}

// records reads a document as CSV: the values of some columns, joined.
func records(t *testing.T, d Document, columns ...string) (lines []string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(render(t, d, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range all[1:] {
		var fields []string
		for _, c := range columns {
			fields = append(fields, line[slices.Index(all[0], c)])
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	return lines
}

func TestRowsHaveTheirLoss(t *testing.T) {
	tab := losses()
	want := []string{"gl@loss=bce bce true", "hl@loss=bce bce false", "gl@loss=ce_row ce_row true", "hl@loss=ce_row ce_row false"}
	if got := records(t, OfTable(tab), "row", "metric", "best"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s := render(t, OfTable(tab), "text"); !strings.Contains(s, "Best: of the rows with the same loss.") {
		t.Errorf("%s", s)
	}
	c, err := compare.Compare(tab, "hl@loss=ce_row", 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := records(t, OfComparison(c), "row", "metric", "verdict"), []string{"gl@loss=ce_row ce_row undecided", "hl@loss=ce_row ce_row "}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	left := "All values are of row cross-entropy. Not compared: 2 rows of binary cross-entropy."
	if s := render(t, OfComparison(c), "text"); !strings.Contains(s, left) {
		t.Errorf("%s", s)
	}
	if d := Diagram(c, "mine"); !slices.Contains(d.Notes, left) {
		t.Errorf("notes of the diagram: %q", d.Notes)
	}
}
