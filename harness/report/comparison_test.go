package report

import (
	"strings"
	"testing"

	"ssdl/harness/compare"
	"ssdl/harness/results"
)

// compared is the text of a comparison of rows on two data sets.
func compared(t *testing.T, against string, rows ...results.Row) string {
	t.Helper()
	tab := results.Table{
		ID: "mine", Metric: results.MetricOf("accuracy"), Groups: []results.Group{{Rows: rows}},
		Columns: []results.Column{{ID: "stanford40", Title: "Stanford40"}, {ID: "sports8", Title: "sports8"}},
	}
	c, err := compare.Compare(tab, against, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return render(t, OfComparison(c), "text")
}

// The notes say nothing of a reference that has no result, and do not call a control worse than it is.
func TestNotesOnTheReference(t *testing.T) {
	not := results.Cell{State: results.NotRun, RequestedSeeds: 2}
	crc := results.Row{ID: "crc", Title: "CRC", Cells: []results.Cell{cell(2, 70, 72), cell(2, 70, 72)}}
	src := results.Row{ID: "src", Title: "SRC", Cells: []results.Cell{not, cell(2, 70.001, 71.997)}}
	control := results.Row{ID: "null", Title: "Null", Role: results.Control, Cells: []results.Cell{cell(2, 90, 91), not}}
	s := compared(t, "src", crc, src)
	if !strings.Contains(s, "mine on Stanford40: the reference row has no result") || strings.Count(s, "Gain: ") != 1 || strings.Contains(s, "better than .") {
		t.Errorf("%s", s)
	}
	if strings.Contains(s, "-0.00") || strings.Contains(s, "+0.00") {
		t.Errorf("a zero has a sign:\n%s", s)
	}
	s = compared(t, "", crc, control)
	if strings.Count(s, "The reference has the best mean of the ranked rows, so") != 1 || strings.Count(s, "The reference has the best mean, so") != 1 {
		t.Errorf("%s", s)
	}
}

func TestLackText(t *testing.T) {
	for n, want := range []string{"none of the methods has", "1 of the methods has"} {
		if got := LackText(compare.Ranking{Lacks: compare.LacksRows, Rows: make([]compare.Ranked, n)}); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestStandInIsForATitle(t *testing.T) {
	tab := losses()
	tab.Columns[0].StandsFor = "uiuc-se"
	if s := render(t, OfTable(tab), "text"); !strings.Contains(s, "sports8: stands in for UIUC-SE, not compared with the paper") {
		t.Errorf("%s", s)
	}
}
