package results

import (
	"ssdl/harness/run"
)

// Plan lists the jobs of a spec with their states.
type Plan struct {
	Spec   string  `json:"spec"`
	Counts []Count `json:"counts"`
	Jobs   []Job   `json:"jobs"`
	// Stages counts the stages of the jobs to run now; nil if none is shared.
	Stages *Stages `json:"stages,omitempty"`
}

// Count is the number of jobs in a state.
type Count struct {
	State run.State `json:"state"`
	Jobs  int       `json:"jobs"`
}

// Stages counts stages: Asked by the runs without sharing, Computed with it.
type Stages struct {
	Runs     int `json:"runs"`
	Asked    int `json:"asked"`
	Computed int `json:"computed"`
}

// Job is a job of a plan, or a cell that has none.
type Job struct {
	State  run.State `json:"state"`
	Reason string    `json:"reason,omitempty"`
	// FailedCandidates is the number of candidates if all of them failed, else 0.
	FailedCandidates int    `json:"failed_candidates,omitempty"`
	Row              string `json:"row"` // RowID
	Dataset          string `json:"dataset"`
	// Seed is nil if the entry is not about one seed; 0 is a seed.
	Seed *uint64 `json:"seed,omitempty"`
	// Purpose is Report or Tune; Candidate is the tuned setting.
	Purpose   string  `json:"purpose"`
	Candidate Setting `json:"candidate,omitempty"`
	Key       string  `json:"key,omitempty"`
}

// The purposes of a job.
const (
	Report = "report"
	Tune   = "tune"
)

// PlanOf lists the jobs of a plan.
func PlanOf(p *run.Plan, shared run.StageEstimate) Plan {
	out := Plan{Spec: p.Spec.Name, Counts: countsOf(p), Jobs: []Job{}}
	for _, c := range p.Cells {
		out.Jobs = append(out.Jobs, jobsOf(p, c)...)
	}
	if shared.Built < shared.Asked {
		out.Stages = &Stages{shared.Runs, shared.Asked, shared.Built}
	}
	return out
}

func jobsOf(p *run.Plan, c *run.Cell) []Job {
	base := Job{Row: RowID(c.Row.ID, settingOf(c.Setting)), Dataset: c.Dataset, Purpose: Report}
	switch {
	case c.NoData():
		base.State, base.Reason = run.NoData, c.Err.Error()
		return []Job{base}
	case c.Excluded != "":
		base.State, base.Reason = run.Excluded, c.Excluded
		return []Job{base}
	}
	var out []Job
	add := func(tasks []run.Task, purpose string, candidate int) {
		for _, t := range tasks {
			j := base
			j.State, j.Reason, j.Seed, j.Key = t.State, t.Reason(), &t.Job.Seed, t.Key
			j.Purpose, j.Candidate = purpose, settingOf(c.Candidates[candidate].Tuned)
			out = append(out, j)
		}
	}
	for i, tasks := range c.Tuning {
		add(tasks, Tune, i)
	}
	switch {
	case c.Err != nil:
		base.State, base.FailedCandidates = run.Failed, failedCandidates(c)
		return append(out, base)
	case c.Final != nil:
		add(c.Final, Report, c.Chosen)
		return out
	}
	for _, seed := range p.Spec.Seeds {
		j := base
		j.State, j.Seed = run.Pending, &seed
		out = append(out, j)
	}
	return out
}

// Status counts the jobs of a spec by state.
type Status struct {
	Spec   string  `json:"spec"`
	Counts []Count `json:"counts"`
}

// StatusOf counts the jobs of a plan by their state.
func StatusOf(p *run.Plan) Status { return Status{p.Spec.Name, countsOf(p)} }

// countsOf counts the jobs of a plan by state, in a fixed order of states.
func countsOf(p *run.Plan) []Count {
	counts, n := []Count{}, p.Counts()
	for _, state := range []run.State{run.New, run.Changed, run.Retry, run.Failed, run.Damaged, run.Stale, run.Pending, run.Cached, run.Excluded, run.NoData} {
		if n[state] > 0 {
			counts = append(counts, Count{state, n[state]})
		}
	}
	return counts
}
