package report

import (
	"strconv"

	"ssdl/harness/results"
	"ssdl/harness/run"
)

// OfCosts is the document of the time, memory and disk that the rows of a table took.
func OfCosts(c results.Costs) Document {
	g := Grid{Heading: "What the rows of " + c.Spec + " took", Head: []string{"Row", "Data", "Runs", "Time", "CPU", "Memory", "Disk"}, Align: "llrrrrr", Groups: [][][]Item{nil}}
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
		"Time: sum of the wall times of the runs, tuning included; runs side by side share the clock. CPU: sum over processors.",
		"Memory: the largest of a run. A run that several rows share counts for each, and once in the last line.",
	)
	d.Grids = []Grid{g}
	return d
}

// costTexts are runs, time, CPU time, memory and disk.
func costTexts(c run.Cost) []string {
	return []string{strconv.Itoa(c.Runs), timeText(c.Wall), timeText(c.CPU), memoryText(c.Peak), bytesText(c.Disk)}
}
