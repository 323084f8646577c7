package report

import (
	"strconv"

	"ssdl/harness/results"
	"ssdl/harness/run"
)

// OfCosts is the document of the cost of each row: runs, time, memory and disk.
func OfCosts(c results.Costs) Document {
	g := Grid{Heading: "Cost of the rows of " + c.Spec, Head: []string{"Row", "Data", "Runs", "Time", "CPU", "Memory", "Disk"}, Align: "llrrrrr", Groups: [][][]Item{nil}}
	d := Document{Head: []string{"row", "dataset", "runs", "wall_seconds", "cpu_seconds", "peak_bytes", "disk_bytes"}, Value: c}
	for _, r := range c.Rows {
		g.add(items(append([]string{r.Title, ColumnTitle(r.Column)}, costTexts(r.Cost)...)...)...)
		d.Lines = append(d.Lines, []string{
			r.Row, r.Column.ID, strconv.Itoa(r.Cost.Runs), number(&r.Cost.Wall), number(&r.Cost.CPU),
			strconv.FormatInt(r.Cost.Peak, 10), strconv.FormatInt(r.Cost.Disk, 10),
		})
	}
	if len(c.Rows) > 1 {
		g.Groups = append(g.Groups, nil)
		g.add(items(append([]string{"all", ""}, costTexts(c.Total)...)...)...)
	}
	g.note(
		"Time: the sum of the wall times of all runs, tuning runs included; parallel runs count in full. CPU: the sum over processors.",
		"Memory: the peak of the largest run. A run shared by rows counts for each row, and once in the last line.",
	)
	d.Grids = []Grid{g}
	return d
}

// costTexts formats runs, time, CPU time, memory and disk.
func costTexts(c run.Cost) []string {
	return []string{strconv.Itoa(c.Runs), timeText(c.Wall), timeText(c.CPU), peakText(c.Peak), bytesText(c.Disk)}
}
