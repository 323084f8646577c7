package report

import (
	"fmt"

	"ssdl/harness/results"
	"ssdl/harness/run"
)

// OfPlan is the document of the jobs of a plan; cached ones are listed with all. It has no lines for CSV.
func OfPlan(p results.Plan, all bool) Document {
	g := Grid{Head: []string{"State", "Row", "Data", "Seed", "For", "Candidate"}, Align: "lllrll", Groups: [][][]Item{nil}}
	for _, j := range p.Jobs {
		if j.State == run.Cached && !all {
			continue
		}
		state, seed := string(j.State), ""
		switch {
		case j.FailedCandidates > 0:
			state += " (" + allFailed(j.FailedCandidates) + ")"
		case j.Reason != "":
			state += " (" + j.Reason + ")"
		}
		if j.Seed != nil {
			seed = fmt.Sprint(*j.Seed)
		}
		g.add(items(state, j.Row, j.Dataset, seed, j.Purpose, j.Candidate.String())...)
	}
	g.note(p.Spec + ": " + jobCounts(p.Counts))
	if s := p.Stages; s != nil {
		g.note(fmt.Sprintf("%s stages: %d computed instead of %d.", Count(s.Runs, "run needs", "runs share"), s.Computed, s.Asked))
	}
	return Document{Grids: []Grid{g}, Value: p}
}

// OfStatus is the document of how much of specs is in the store. It has no lines for CSV.
func OfStatus(list []results.Status) Document {
	g := facts("")
	for _, s := range list {
		g.add(items(s.Spec, jobCounts(s.Counts))...)
	}
	return Document{Grids: []Grid{g}, Value: list}
}
