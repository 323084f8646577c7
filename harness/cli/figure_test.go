package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ssdl/harness/compare"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

// tunedTable has a method that was tuned on the test part, on generated data.
func tunedTable() results.Table {
	cell := func(tuned bool, a, b float64) []results.Cell {
		c := results.NewCell(map[uint64]float64{1: a, 2: b}, 2)
		c.TunedOnTest = tuned
		return []results.Cell{c}
	}
	return results.Table{
		ID: "mine", Caption: "My rows", Metric: results.MetricOf("accuracy"), Columns: []results.Column{{ID: "synth8", Title: "synth8", StandsFor: "uiuc-se", Synthetic: true}},
		Groups: []results.Group{{Rows: []results.Row{
			{ID: "crc", Title: "CRC", Cells: cell(false, 70, 71.5)}, {ID: "src", Title: "S_RC", Cells: cell(true, 80, 82)},
		}}},
	}
}

func TestFigurePageSaysWhatIsTunedOnTest(t *testing.T) {
	files, _, err := drawFigures(resultsFlag{t.TempDir()}, tunedTable(), &run.Plan{Spec: &spec.Spec{Name: "mine"}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	if got, want := strings.Join(names, " "), "mine-synth8-synthetic.png mine-synth8-synthetic.svg mine-synthetic.md"; got != want {
		t.Fatalf("files %s, want %s", got, want)
	}
	wantIn(t, files[2], "![My rows, synth8 (synthetic)](mine-synth8-synthetic.png)\n\n<sup>†</sup> S\\_RC: "+report.TunedOnTestText+"\n", "Pictures marked synthetic show generated data")
}

func TestDiagramSaysWhatIsTunedOnTest(t *testing.T) {
	var said strings.Builder
	e, f := &env{stderr: &said}, resultsFlag{t.TempDir()}
	table := tunedTable()
	comparison, err := compare.Compare(table, "", 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if err := drawDiagram(e, f, table, comparison); err != nil {
		t.Fatal(err)
	}
	wantIn(t, filepath.Join(f.Results, "figures", "mine-synth8-ranks-synthetic.svg"), ">S_RC†<", ">CRC<", ">† "+report.TunedOnTestText+"<", "synth8 (synthetic)")
}

func wantIn(t *testing.T, path string, want ...string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(string(content), w) {
			t.Errorf("%s does not say %q:\n%s", filepath.Base(path), w, content)
		}
	}
}

// A table whose runs are all inconsistent says so, not that there are none.
func TestNoResults(t *testing.T) {
	table := results.Table{ID: "mine", Groups: []results.Group{{Rows: []results.Row{{Base: "crc", Title: "CRC", Cells: []results.Cell{{State: results.NotRun}}}}}}}
	var e *exitError
	if err := noResultsError(table, "draw", "my spec.yaml"); !errors.As(err, &e) || e.code != exitNoData || !strings.Contains(err.Error(), "mine has no results to draw yet; `ssdl run 'my spec.yaml'` makes them") {
		t.Errorf("without results: %v", err)
	}
	table.Groups[0].Rows[0].Cells[0].State = results.Inconsistent
	if err := noResultsError(table, "compare", "mine"); !errors.As(err, &e) || e.code != exitFailedRuns || !strings.Contains(err.Error(), "the runs of CRC are inconsistent; `ssdl explain mine crc` says how") {
		t.Errorf("with inconsistent results: %v", err)
	}
}
