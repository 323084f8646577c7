package cli

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// tableOf is the table of a spec without any results.
func tableOf(t *testing.T, s *spec.Spec) (*run.Plan, string, []string) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p, err := run.Glance(t.Context(), &run.Library{}, st, s)
	if err != nil {
		t.Fatal(err)
	}
	made, err := buildTable(p, true)
	if err != nil {
		t.Fatal(err)
	}
	var csv bytes.Buffer
	if err := writeTable(&csv, made, "csv"); err != nil {
		t.Fatal(err)
	}
	return p, csv.String(), made.Notes
}

func TestChoiceNotes(t *testing.T) {
	const head = "name: x\ndatasets: [stanford40, sports8]\nseeds: 1000..1003\nsplit: {kind: class, train: 0.7, labels: 0.4}\n"
	const tuned = "Tuned rows have the setting with the best mean over the seeds on a fifth of the labelled training samples, which is held out."
	for _, x := range []struct {
		name, src string
		want      []string
	}{
		{
			"SSDL is tuned and a baseline is not", "rows:\n" +
				"  - {method: ssdl, pretext: pahl, tune: {alpha: {log2: [-4, -1]}}}\n" +
				"  - {method: crc, select: fixed}\n  - {method: src, label: S}\n",
			[]string{
				tuned,
				"Settings to choose from: 4 for pAHL SSDL.",
				"Values that the spec gives, not tuned and not all of them the paper's: CRC; S.",
			},
		},
		{
			"shorter grids on one set, and a choice on a few seeds", "tune_seeds: [{datasets: [stanford40], seeds: 1000..1001}]\nrows:\n" +
				"  - {method: crc, tune: {lambda: {log2: [-2, 2]}}}\n" +
				"  - {method: src, tune: {lambda: {log2: [-2, 2]}}}\n" +
				"  - {method: dksvd, tune: {sqrt_beta: {grid: [1, 2]}}, when: [{datasets: [stanford40], tune: {sqrt_beta: {grid: [1]}}}]}\n" +
				"  - {method: ssdl, pretext: pahl, select: paper}\n",
			[]string{
				tuned,
				"On Stanford40 settings are chosen on seeds 1000,1001 alone.",
				"Settings to choose from on Stanford40: 5 for CRC, SRC; one alone for D-KSVD.",
				"Settings to choose from on sports8: 5 for CRC, SRC; 2 for D-KSVD.",
				"Values that the paper prints: pAHL SSDL.",
			},
		},
		{
			"an oracle, and what is left out", "rows:\n" +
				"  - {method: crc, select: test, tune: {lambda: {log2: [-2, 2]}}}\n" +
				"  - {method: src, tune: {lambda: {grid: [0.1, 1]}}}\n" +
				"exclude: [{dataset: sports8, row: src, reason: why}, {dataset: stanford40, row: src, reason: why}]\n",
			[]string{"Settings to choose from on the test part (†): 5 for CRC."},
		},
	} {
		s, err := spec.Parse("x.yaml", []byte(head+x.src))
		if err != nil {
			t.Fatal(err)
		}
		_, _, got := tableOf(t, s)
		if got = got[1:]; !slices.Equal(got, x.want) { // the first is about seeds
			t.Errorf("%s:\n%s\nwant\n%s", x.name, strings.Join(got, "\n"), strings.Join(x.want, "\n"))
		}
	}
}

// The word for how a cell came about is that of the spec; a single setting is not tuned.
func TestSelectionWords(t *testing.T) {
	const src = "name: x\ndatasets: [sports8]\nseeds: 1000\nsplit: {kind: class, train: 0.7, labels: 0.4}\nrows:\n" +
		"  - {id: a, method: crc, tune: {lambda: {grid: [1, 2]}}}\n  - {id: b, method: crc, tune: {lambda: {grid: [1]}}}\n" +
		"  - {id: c, method: crc, select: fixed}\n  - {id: d, method: crc, select: paper}\n  - {id: e, method: crc, select: test, tune: {lambda: {grid: [1, 2]}}}\n"
	s, err := spec.Parse("x.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	p, csv, _ := tableOf(t, s)
	var got []string
	for _, c := range p.Cells {
		got = append(got, selectionOf(c))
	}
	if want := []string{"val", "fixed", "fixed", "paper", "test"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !strings.Contains(csv, ",not yet,fixed,1,") {
		t.Errorf("the CSV does not say fixed:\n%s", csv)
	}
}

// A table of which every value is set apart has results, and says why they are no values.
func TestNothingToCompare(t *testing.T) {
	table := report.Table{ID: "mine", Groups: []report.Group{{Rows: []report.Row{{ID: "crc", Title: "CRC", Cells: []report.Cell{{State: report.NotYet}}}}}}}
	var e *exitError
	if err := nothing(table, "draw", "my spec.yaml"); !errors.As(err, &e) || e.code != exitNoData || !strings.Contains(err.Error(), "mine has no results to draw yet; `ssdl run 'my spec.yaml'` makes them") {
		t.Errorf("without results: %v", err)
	}
	table.Groups[0].Rows[0].Cells[0] = report.Cell{State: report.Mixed, Detail: "of other data"}
	if err := nothing(table, "compare", "mine"); !errors.As(err, &e) || e.code != exitFailedRuns || !strings.Contains(err.Error(), "the runs of CRC must not be averaged: of other data") {
		t.Errorf("with results that are mixed: %v", err)
	}
}
