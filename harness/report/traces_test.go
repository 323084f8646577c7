package report

import (
	"strings"
	"testing"

	"ssdl/harness/results"
)

func TestTraces(t *testing.T) {
	column := results.Column{ID: "tiny", Title: "Tiny"}
	not, accuracy := results.Cell{State: results.NotRun, RequestedSeeds: 2}, results.MetricOf("accuracy")
	is := results.Traces{Spec: "mine", Caption: "Rates", Names: []string{"objective"}, Rows: []results.TraceRow{
		{Row: "crc", Title: "CRC", Column: column, Metric: accuracy, Cell: cell(2, 90, 92), Ends: []results.Cell{cell(2, 3)}},
		{Row: "src", Title: "SRC", Column: column, Metric: accuracy, Cell: cell(2, 90), Ends: []results.Cell{not}},
		{Row: "nrc", Title: "NRC", Column: column, Metric: accuracy, Cell: results.Cell{State: results.Failed, RequestedSeeds: 2}, Ends: []results.Cell{not}},
	}}
	golden(t, "traces.txt", render(t, OfTraces(is), "text"))
	golden(t, "traces.csv", render(t, OfTraces(is), "csv"))
	is.Rows[1].Metric = results.MetricOf("bce")
	if s := render(t, OfTraces(is), "text"); !strings.Contains(s, "binary cross-entropy      90.000 (1/2)") {
		t.Errorf("%s", s)
	}
}
