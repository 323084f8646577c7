package report

import (
	"testing"

	"ssdl/harness/results"
	"ssdl/harness/run"
)

func TestCosts(t *testing.T) {
	is := results.Costs{Spec: "mine", Rows: []results.CostRow{{Row: "crc", Title: "CRC", Column: results.Column{ID: "tiny", Title: "Tiny"}, Cost: run.Cost{Runs: 3, Failed: 2, Wall: 1800, CPU: 3600, Disk: 2000}}}}
	golden(t, "costs.txt", render(t, OfCosts(is), "text"))
	golden(t, "costs.csv", render(t, OfCosts(is), "csv"))
}
