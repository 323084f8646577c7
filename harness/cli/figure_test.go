package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ssdl/harness/report"
	"ssdl/harness/spec"
	"ssdl/harness/verify"
)

// flatteredTable has a method whose settings were chosen on the test part, on generated data.
func flatteredTable() report.Table {
	cell := func(dagger bool, a, b float64) []report.Cell {
		c := report.NewCell(map[uint64]float64{1: a, 2: b}, 2)
		c.Dagger = dagger
		return []report.Cell{c}
	}
	return report.Table{
		ID: "mine", Caption: "My rows", Decimals: 1, Columns: []report.Column{{ID: "synth8", Title: "synth8", StandsFor: "uiuc-se", Synthetic: true}},
		Groups: []report.Group{{Rows: []report.Row{
			{ID: "crc", Title: "CRC", Cells: cell(false, 70, 71.5)}, {ID: "src", Title: "S_RC", Cells: cell(true, 80, 82)},
		}}},
	}
}

func TestFigurePageSaysWhatFlatters(t *testing.T) {
	e := &env{common: &common{Results: t.TempDir()}}
	files, err := drawFigures(e, flatteredTable(), &spec.Spec{Name: "mine"})
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
	wantIn(t, files[2], "![My rows, synth8 (synthetic)](mine-synth8-synthetic.png)\n\n<sup>†</sup> S\\_RC: "+report.DaggerText+"\n", "Pictures marked synthetic are of generated data")
}

func TestDiagramSaysWhatFlatters(t *testing.T) {
	var said strings.Builder
	e := &env{common: &common{Results: t.TempDir()}, stderr: &said}
	table := flatteredTable()
	comparison, err := verify.Compare(table, "", 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&compareCmd{}).draw(e, table, comparison); err != nil {
		t.Fatal(err)
	}
	wantIn(t, filepath.Join(e.common.Results, "figures", "mine-synth8-ranks-synthetic.svg"), ">S_RC†<", ">CRC<", ">† "+report.DaggerText+"<", "synth8 (synthetic)")
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
