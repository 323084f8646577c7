package report

import (
	"fmt"
	"strconv"

	"ssdl/harness/results"
)

// OfTraces is the document of the last values of traces.
func OfTraces(t results.Traces) Document {
	g := Grid{Heading: t.Caption, Head: []string{"Row", "Data", Quantity(t.Metric)}, Align: "llc", Groups: [][][]Item{nil}}
	d := Document{Head: []string{"row", "dataset", "metric", "mean", "sd", "n"}, Value: t}
	for _, name := range t.Names {
		g.Head, g.Align = append(g.Head, name), g.Align+"c"
	}
	for _, r := range t.Rows {
		row := items(r.Title, ColumnTitle(r.Column), withDeviation(shownValue(t.Metric, r.Cell))+signs(r.Cell))
		d.Lines = append(d.Lines, traceLine(r, t.Metric.Name, r.Cell))
		for i, end := range r.Ends {
			row = append(row, Item{Text: "-"})
			if end.State == results.OK {
				row[len(row)-1].Text = strconv.FormatFloat(end.Mean, 'g', 4, 64)
				if end.SD > 0 {
					row[len(row)-1].Text = withDeviation(row[len(row)-1].Text, strconv.FormatFloat(end.SD, 'g', 2, 64))
				}
				d.Lines = append(d.Lines, traceLine(r, t.Names[i], end))
			}
		}
		g.add(row...)
	}
	g.note("Mean and standard deviation over seeds; of a trace, its last value in each run, as recorded.")
	d.Grids = []Grid{g}
	return d
}

func traceLine(r results.TraceRow, name string, c results.Cell) []string {
	digits := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return []string{r.Row, r.Column.ID, name, digits(c.Mean), digits(c.SD), fmt.Sprint(c.N)}
}
