package report

import (
	"fmt"
	"strconv"

	"ssdl/harness/results"
	"ssdl/harness/run"
)

// OfCosts is the document of the cost of each row: runs, time, memory and disk.
func OfCosts(c results.Costs) Document {
	g := Grid{Heading: "Cost of the rows of " + c.Spec, Head: []string{"Row", "Data", "Runs", "Time", "CPU", "Memory", "Disk"}, Align: "llrrrrr", Groups: [][][]Item{nil}}
	d := Document{Head: []string{"row", "dataset", "runs", "wall_seconds", "cpu_seconds", "peak_bytes", "disk_bytes", "failed"}, Value: c}
	for _, r := range c.Rows {
		g.add(costItems(r.Title, ColumnTitle(r.Column), r.Cost)...)
		d.Lines = append(d.Lines, []string{
			r.Row, r.Column.ID, strconv.Itoa(r.Cost.Runs), number(&r.Cost.Wall), number(&r.Cost.CPU),
			strconv.FormatInt(r.Cost.Peak, 10), strconv.FormatInt(r.Cost.Disk, 10), strconv.Itoa(r.Cost.Failed),
		})
	}
	if len(c.Rows) > 1 {
		g.Groups = append(g.Groups, nil)
		g.add(costItems("all", "", c.Total)...)
	}
	g.note(
		"Time: the sum of the wall times of all runs, tuning runs and failed runs included; parallel runs count in full. CPU: the sum over processors.",
		"Memory: the peak of the largest run. A run shared by rows counts for each row, and once in the last line.",
	)
	d.Grids = []Grid{g}
	return d
}

// costItems is a line of the grid: title, data set, runs, time, CPU time, memory and disk.
func costItems(title, data string, c run.Cost) []Item {
	out := items(title, data, strconv.Itoa(c.Runs), timeText(c.Wall), timeText(c.CPU), peakText(c.Peak), bytesText(c.Disk))
	if c.Failed > 0 {
		out[2].Suffix = fmt.Sprintf(" (%d failed)", c.Failed)
	}
	return out
}
