package report

import (
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/results"
)

var traceHead = []string{"row", "dataset", "metric", "mean", "sd", "n", "requested_seeds", "unit", "state"}

// OfTraces is the document of the last values of traces.
func OfTraces(t results.Traces) Document {
	g := Grid{Heading: t.Caption, Head: []string{"Row", "Data", "Value"}, Align: "llc", Groups: [][][]Item{nil}}
	d := Document{Head: traceHead, Value: t}
	several := slices.ContainsFunc(t.Rows, func(r results.TraceRow) bool { return r.Metric != t.Rows[0].Metric })
	switch {
	case several:
		g.Head, g.Align = slices.Insert(g.Head, 2, "Metric"), "lllc"
	case len(t.Rows) > 0:
		g.Head[2] = Quantity(t.Rows[0].Metric)
	}
	for _, name := range t.Names {
		g.Head, g.Align = append(g.Head, strings.ReplaceAll(name, "_", " ")), g.Align+"c"
	}
	partial := false
	for _, r := range t.Rows {
		row := items(r.Title, ColumnTitle(r.Column))
		if several {
			row = append(row, Item{Text: Quantity(r.Metric)})
		}
		value := Item{Text: string(r.Cell.State)}
		if r.Cell.State == results.OK {
			value = Item{Text: withDeviation(shownValue(r.Metric, r.Cell)), Suffix: signs(r.Cell) + seedsSuffix(r.Cell)}
		}
		row = append(row, value)
		partial = partial || r.Cell.Partial()
		d.Lines = append(d.Lines, traceLine(r, r.Metric.Name, r.Metric.Unit, r.Cell))
		for i, end := range r.Ends {
			row = append(row, endItem(end))
			partial = partial || end.Partial()
			if end.State == results.OK {
				d.Lines = append(d.Lines, traceLine(r, t.Names[i], "", end))
			}
		}
		g.add(row...)
	}
	g.note("Mean and standard deviation over seeds; of a trace, its last value in each run, as recorded.")
	if partial {
		g.note("(k/n): k of n seeds have a value")
	}
	d.Grids = []Grid{g}
	return d
}

// endItem is an item such as "30.32 ± 0.25 (8/9)".
func endItem(c results.Cell) Item {
	if c.State != results.OK {
		return Item{Text: "-"}
	}
	it := Item{Text: strconv.FormatFloat(c.Mean, 'g', 4, 64), Suffix: seedsSuffix(c)}
	if c.SD > 0 {
		it.Text = withDeviation(it.Text, strconv.FormatFloat(c.SD, 'g', 2, 64))
	}
	return it
}

// traceLine is a line of the CSV. A cell without a value has no mean, and one of a single seed no deviation.
func traceLine(r results.TraceRow, name, unit string, c results.Cell) []string {
	f := map[string]string{
		"row": r.Row, "dataset": r.Column.ID, "metric": name, "unit": unit,
		"n": strconv.Itoa(c.N), "requested_seeds": strconv.Itoa(c.RequestedSeeds), "state": string(c.State),
	}
	if c.State == results.OK {
		f["mean"] = number(&c.Mean)
	}
	if c.N > 1 {
		f["sd"] = number(&c.SD)
	}
	return lineOf(traceHead, f)
}
