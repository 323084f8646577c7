package report

import (
	"fmt"
	"maps"
	"slices"

	"ssdl/harness/results"
	"ssdl/harness/sanitize"
	"ssdl/harness/store"
)

// OfCheck is the document of a check of a store. truths counts runs by how their true classes compare with
// local data.
func OfCheck(r store.Report, truths map[string]int, value any) Document {
	checked := Grid{Head: []string{"Checked", "Rows", ""}, Align: "lrl", Groups: [][][]Item{nil}}
	for _, x := range []struct {
		what string
		n    int
		note string
	}{
		{"runs", r.Runs, fmt.Sprintf("%d got their hash when the file was converted, %d were imported", r.Migrated, r.Imported)},
		{"metrics", r.Metrics, fmt.Sprintf("%d runs compared with their predictions", r.Predictions)},
		{"values of traces", r.Points, ""},
		{"jobs", r.Jobs, ""},
		{"data sets", r.Datasets, ""},
		{"splits", r.Splits, fmt.Sprintf("%d names of data sets and splits", r.Names)},
		{"lists of true classes", r.Truths, truthText(truths)},
		{"environments", r.Envs, ""},
		{"imported files", r.Origins, ""},
		{"superseded runs", r.Superseded, ""},
		{"repetitions", r.Repetitions, ""},
	} {
		checked.add(items(x.what, fmt.Sprint(x.n), x.note)...)
	}
	d := Document{Grids: []Grid{checked}, Value: value}
	if len(r.Faults) == 0 {
		d.Grids[0].note("No faults.")
		return d
	}
	faults := Grid{Heading: "Faults", Head: []string{"Where", "What", "Is", "Expected"}, Align: "llll", Groups: [][][]Item{nil}}
	for _, f := range r.Faults {
		faults.add(items(sanitize.Line(f.Table+" "+f.ID), sanitize.Line(f.What), sanitize.Line(f.Is), sanitize.Line(f.Want))...)
	}
	d.Grids = append(d.Grids, faults)
	return d
}

// truthText is text such as "of runs, compared with local data: 40 agree and 12 no data".
func truthText(truths map[string]int) string {
	var parts []string
	for _, found := range slices.Sorted(maps.Keys(truths)) {
		parts = append(parts, fmt.Sprintf("%d %s", truths[found], found))
	}
	if len(parts) == 0 {
		return ""
	}
	return "of runs, compared with local data: " + Listed(parts, "and")
}

// OfChanges is the document of the cells that an import changes.
func OfChanges(heading string, list []results.CellChange) Document {
	g := Grid{Heading: heading, Head: []string{"Table", "Data", "Row", "Was", "Is"}, Align: "lllrr", Groups: [][][]Item{nil}}
	for _, c := range list {
		g.add(items(c.Table, c.Column, c.Title, lineOfCell(c.Metric, c.Was), lineOfCell(c.Metric, c.Is))...)
	}
	return Document{Grids: []Grid{g}, Value: list}
}

// lineOfCell is a cell on one line, such as "93.0 ± 1.1† (6/8)".
func lineOfCell(m results.Metric, c results.Cell) string {
	it := cellItem(m, c)
	return it.Text + it.Suffix
}
