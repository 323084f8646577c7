package report

import (
	"strings"
	"testing"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/harness/verdict"
)

// Output for people only: explanations, runs, plans and the status of specs.
func TestGoldenLists(t *testing.T) {
	seed, score, value := uint64(0), 0.8125, 0.9375
	e := results.Explanation{
		Spec: "mine", Row: "crc@rule=ratio", Base: "crc", Setting: results.Setting{{Name: "rule", Value: "ratio"}}, Title: "CRC", Dataset: "tiny",
		Metric: results.MetricOf("accuracy"), Cell: cell(2, 93.75), DataHash: "0123", TuneSeeds: []uint64{0, 1},
		Protocol:   &results.Protocol{Seeds: []uint64{0, 1}, Split: "official", Labels: 0.4},
		Candidates: []results.Candidate{{Setting: results.Setting{{Name: "lambda", Value: 0.5}}, Score: &score, Requested: 2, Finished: 2, Chosen: true}, {Requested: 2, Finished: 1, Failed: 1}},
		Method:     &results.Part{Name: "crc", Params: map[string]any{"lambda": 0.5, "rule": "ratio", "K": 0, "size": 0.5}},
		Runs: []results.Run{
			{Seed: 0, State: run.Cached, Value: &value, UID: "89ab", Wall: 1.25, Dictionary: results.Dictionary{Atoms: 24, FirstAtoms: 30, Degenerate: true}},
			{Seed: 1, State: run.Failed, Failure: &results.Failure{Status: store.StatusTimeout, Message: "after 1s", Attempts: 3}},
		},
		Command: []string{"ssdl", "run", "my spec.yaml", "-m", "crc"},
	}
	e.Cell.Selection = "val"
	absent := results.Explanation{Spec: "mine", Row: "src", Title: "SRC", Dataset: "tiny", Cell: results.Cell{State: results.NoData, Remarks: results.Remarks{NoData: "data set tiny was not found"}}}
	waiting := results.Explanation{
		Spec: "mine", Row: "src", Title: "SRC", Dataset: "tiny", Metric: e.Metric, Cell: results.Cell{State: results.NotRun, Selection: "test"},
		Protocol: e.Protocol, Candidates: []results.Candidate{{Requested: 2}}, Command: e.Command,
	}
	failed := waiting
	failed.Cell = results.Cell{State: results.Failed, Selection: "val", Remarks: results.Remarks{FailedCandidates: 1}}
	golden(t, "explanations.txt", render(t, OfExplanations([]results.Explanation{e, absent, waiting, failed}), "text"))
	ok, timeout, unrun := results.Run{State: run.Cached, Value: &value}, e.Runs[1], results.Run{State: run.New}
	seeds := []string{"ssdl", "run", "mine", "-s", "0..1"}
	for _, c := range []struct {
		runs    []results.Run
		command []string
		want    string
	}{
		{[]results.Run{ok, ok}, nil, "repeat: ssdl run mine -s 0,1 --results again"},
		{[]results.Run{ok, ok}, seeds, "repeat: ssdl run mine -s 0..1 --results again"},
		{[]results.Run{ok, unrun}, nil, "continue: ssdl run mine"},
		{[]results.Run{unrun, unrun}, seeds, "continue: ssdl run mine -s 0..1"},
		{[]results.Run{timeout, timeout}, nil, "try again: ssdl run mine --retry failed"},
		{[]results.Run{ok, timeout}, nil, "try again: ssdl run mine --retry failed"},
		{[]results.Run{unrun, timeout}, nil, "try again: ssdl run mine --retry failed"},
	} {
		if c.command == nil {
			c.command = seeds[:3]
		}
		what, command := NextCommand(results.Explanation{Runs: c.runs, Command: c.command, Protocol: e.Protocol})
		if got := what + ": " + command; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}

	d := results.RunDetails{
		UID: "89ab", Status: store.StatusOK, SupersededBy: "cdef", Reason: "code changed", Key: "4567", Identity: []byte(`{"dataset":"0123"}`), Dataset: "tiny",
		DataHash: "0123", Split: results.Split{Hash: "2345", Kind: "class", Seed: 7, Train: 63, Labelled: 24, Test: 27}, Seed: 7, Started: time.Unix(0, 0).UTC(), Wall: 1.5, CPU: 3,
		Peak: 1 << 30, Code: job.Fingerprints{Method: "aa", Pretext: "bb", Protocol: "cc"}, Environment: map[string]string{"go": "go1.26", "modules": "a v1; b v2", "executable": "6789", "memory": "8000000000"},
		Metrics: map[string]float64{"accuracy": 0.75}, Dictionary: results.Dictionary{Atoms: 24, Degenerate: true}, Traces: []results.Trace{{Name: "objective", Iterations: []int{1, 10, 100}, Values: []float64{3, 2, 1.5}}}, Predictions: "ef",
		Classes: []string{"rowing"}, Confusion: [][]int{{5, 1, 0, 0, 0, 0}, {0, 6, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}},
	}
	golden(t, "run.txt", render(t, OfRun(d), "text"))

	p := results.Plan{
		Spec: "mine", Counts: []results.Count{{State: run.New, Jobs: 1}, {State: run.Cached, Jobs: 1}}, Stages: &results.Stages{Runs: 1, Asked: 4, Computed: 2},
		Jobs: []results.Job{
			{State: run.New, Row: "crc", Dataset: "tiny", Seed: &seed, Purpose: results.Tune, Candidate: e.Candidates[0].Setting},
			{State: run.Cached, Row: "crc", Dataset: "tiny", Seed: &seed, Purpose: results.Report},
			{State: run.Failed, FailedCandidates: 2, Row: "src", Dataset: "tiny", Purpose: results.Report},
			{State: run.Excluded, Reason: "why", Row: "nrc", Dataset: "tiny", Purpose: results.Report},
			{State: run.Failed, Reason: "error, 1×: crc: a message as long as some are", Row: "slrc", Dataset: "tiny", Seed: &seed, Purpose: results.Report},
			{State: run.Failed, Reason: "error, 1×: crc: a message as long as some are", Row: "slrc", Dataset: "tiny", Seed: &seed, Purpose: results.Tune},
		},
	}
	golden(t, "plan.txt", render(t, OfPlan(p, false), "text"))
	golden(t, "plan-all.txt", render(t, OfPlan(p, true), "text"))
	golden(t, "status.txt", render(t, OfStatus([]results.Status{{Spec: "mine", Counts: p.Counts}, {Spec: "another", Counts: nil}}), "text"))
}

// A spec about which the paper says nothing has nothing to verify, and says so.
func TestNothingToVerify(t *testing.T) {
	v := verdict.Verdicts{Table: "charity", Metric: results.MetricOf("accuracy"), Summary: verdict.Summary{TunedOnTest: 1}}
	golden(t, "nothing.txt", render(t, OfVerdicts(v), "text"))
}

// A grid without rows is its heading and its notes, also in groups without rows: LaTeX scales no empty table.
func TestGridWithoutRows(t *testing.T) {
	for _, groups := range [][][][]Item{nil, {nil}} {
		d := Document{Grids: []Grid{{Heading: "Claims", Head: []string{"Claim", "Data"}, Align: "ll", Groups: groups, Notes: []Note{{Text: "not run"}}}}}
		for format, table := range map[string]string{"md": "|", "html": "<table>", "latex": "tabular"} {
			out := render(t, d, format)
			if strings.Contains(out, table) || !strings.Contains(out, "Claims") || !strings.Contains(out, "not run") {
				t.Errorf("%s of a grid without rows:\n%s", format, out)
			}
		}
		compiled(t, render(t, d, "latex"), map[string]string{})
	}
}

func TestCommandIsForAShell(t *testing.T) {
	if got, want := Command("ssdl", "run", "my spec's.yaml", "-d", "a,b", ""), `ssdl run 'my spec'\''s.yaml' -d a,b ''`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
