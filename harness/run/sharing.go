package run

import "ssdl/harness/executor"

// StageEstimate counts the stages of the runs to do now.
type StageEstimate struct {
	// Runs is the number of runs. Without sharing they compute Asked stages, with it only Built.
	Runs, Asked, Built int
}

// EstimateStages counts the stages of the tasks of Todo. It computes none: methods list theirs.
func (p *Plan) EstimateStages(lib *executor.Library, retry RetryPolicy) (StageEstimate, error) {
	var s StageEstimate
	built := map[string]bool{}
	for _, t := range p.Todo(retry) {
		set := p.Sets[t.Job.Dataset]
		split, err := lib.Split(set, t.Job.Split, t.Job.Seed)
		if err != nil {
			return s, err
		}
		keys, err := executor.StageKeys(executor.Input{Job: t.Job, Set: set, Split: split})
		if err != nil {
			return s, err
		}
		s.Runs++
		s.Asked += len(keys)
		for _, k := range keys {
			built[k] = true
		}
	}
	s.Built = len(built)
	return s, nil
}
