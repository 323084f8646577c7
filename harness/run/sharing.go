package run

import (
	"ssdl/harness/job"
	"ssdl/harness/protocol"
	"ssdl/methods"
	"ssdl/methods/catalog"
)

// StageEstimate counts the stages of the runs that are to be done now.
type StageEstimate struct {
	// Runs that are to be done, Asked the stages they would compute each for itself, Built
	// those that are computed when each is kept.
	Runs, Asked, Built int
}

// EstimateStages counts what Todo lists. Nothing is computed: methods say what they share.
func (p *Plan) EstimateStages(lib *Library, retry RetryPolicy) (StageEstimate, error) {
	var s StageEstimate
	built := map[string]bool{}
	for _, t := range p.Todo(retry) {
		set := p.Sets[t.Job.Dataset]
		split, err := lib.Split(set, t.Job.Split, t.Job.Seed)
		if err != nil {
			return s, err
		}
		keys, err := stageKeys(Input{Job: t.Job, Set: set, Split: split})
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

// stageKeys lists the stages that a job computes when nothing is there yet.
func stageKeys(in Input) ([]string, error) {
	v := in.data().View(in.Job.Seed, in.Job.Eval == job.EvalVal)
	scope := in.scope() + "/"
	if in.Job.Score == job.ScoreTransductive {
		scope += protocol.TransductivePrefix
	}
	labelled := len(v.Labels) - len(v.Hidden())
	var keys []string
	add := func(part job.Part) error {
		e, err := catalog.Lookup(part.Name)
		if err != nil {
			return err
		}
		m, err := e.Build(part.Params)
		if err != nil {
			return err
		}
		if staged, ok := m.(methods.Staged); ok {
			for _, k := range staged.Stages(in.Set.Dim(), labelled) {
				keys = append(keys, scope+k)
			}
		}
		return nil
	}
	if p := in.Job.Pretext; p.Name != "" {
		key, err := pseudoKey(in.Job.Job)
		if err != nil {
			return nil, err
		}
		keys = append(keys, scope+key)
		if err := add(p); err != nil {
			return nil, err
		}
	}
	if m := in.Job.Method; m.Name != "" {
		return keys, add(m)
	}
	return keys, nil
}
