package report

import (
	"fmt"

	"ssdl/harness/results"
	"ssdl/harness/run"
)

// OfPlan is the document of the jobs of a plan. It lists cached jobs only if all. It has no CSV.
func OfPlan(p results.Plan, all bool) Document {
	g := Grid{Head: []string{"State", "Row", "Data", "Seed", "For", "Candidate"}, Align: "lllrll", Groups: [][][]Item{nil}}
	var reasons footnotes // reasons can be long
	for _, j := range p.Jobs {
		if j.State == run.Cached && !all {
			continue
		}
		reason, seed := j.Reason, ""
		if j.FailedCandidates > 0 {
			reason = allFailed(j.FailedCandidates)
		}
		if j.Seed != nil {
			seed = fmt.Sprint(*j.Seed)
		}
		row := items(string(j.State), j.Row, j.Dataset, seed, j.Purpose, j.Candidate.String())
		row[0].Marks = reasons.mark(reason)
		g.add(row...)
	}
	g.Notes = reasons.notes
	g.note(p.Spec + ": " + jobCounts(p.Counts))
	if s := p.Stages; s != nil {
		g.note(fmt.Sprintf("Shared stages: %d computed instead of %d (%s).", s.Computed, s.Asked, Count(s.Runs, "run", "runs")))
	}
	return Document{Grids: []Grid{g}, Value: p}
}

// OfStatus is the document of how many jobs of each spec are done. It has no CSV.
func OfStatus(list []results.Status) Document {
	g := facts("")
	for _, s := range list {
		g.add(items(s.Spec, jobCounts(s.Counts))...)
	}
	return Document{Grids: []Grid{g}, Value: list}
}
