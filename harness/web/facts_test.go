package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The pages of a cell and of its runs say how many atoms were used, call a finished run ok, and write memory in GiB.
func TestFactsOfCellsAndRuns(t *testing.T) {
	address := serve(t, labArgs(t)...)
	read := func(path string) string {
		t.Helper()
		page, r := get(t, address+path)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, r.Status)
		}
		return page
	}
	cell := read("/cell/table1/ssdl/sports8")
	if !strings.Contains(cell, "Atoms used: 12<") || !strings.Contains(cell, "<td>ok</td>") || strings.Contains(cell, "cached") {
		t.Errorf("the page of a cell: %s", cell)
	}
	run := read(regexp.MustCompile(`/run/[0-9a-f]+`).FindString(cell))
	if !strings.Contains(run, "Atoms used: 12<") || !regexp.MustCompile(`<dt>memory</dt><dd>[0-9.]+ GiB</dd>`).MatchString(run) {
		t.Errorf("the page of a run: %s", run)
	}
	if front := read("/"); strings.Contains(front, "</b> of 0 claims hold") {
		t.Errorf("a tally of nothing: %s", front)
	}
}
