package web_test

import (
	"io"
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
		r, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, r.Status, err)
		}
		return string(raw)
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
