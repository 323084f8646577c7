package run

import (
	"encoding/json"
	"fmt"

	"ssdl/harness/data"
	"ssdl/harness/spec"
	"ssdl/methods"
	"ssdl/methods/catalog"
)

// Sharing counts the stages of the runs that are to be done now.
type Sharing struct {
	// Runs that are to be done, Asked the stages they would compute each for itself, Built
	// those that are computed when each is kept.
	Runs, Asked, Built int
}

// Sharing looks at what Todo lists. Nothing is computed: methods say what they share.
func (p *Plan) Sharing(lib *Library, again Again) (Sharing, error) {
	var s Sharing
	built := map[string]bool{}
	for _, t := range p.Todo(again) {
		set := p.Sets[t.Job.Dataset]
		split, err := lib.Split(set, t.Job.Split, t.Job.Seed)
		if err != nil {
			return s, err
		}
		keys, err := stageKeys(set, split, t.Job)
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
func stageKeys(set *data.Set, split *data.Split, job spec.Job) ([]string, error) {
	v := look(set, split, job)
	scope := v.scope + "/"
	if job.Method == "" && job.Score == spec.ScoreTransductive {
		scope += transductivePrefix
	}
	labelled := len(v.labels) - len(hiddenColumns(v.labels))
	var keys []string
	add := func(name string, params catalog.Values) error {
		e, err := catalog.Lookup(name)
		if err != nil {
			return err
		}
		m, err := e.Build(params)
		if err != nil {
			return err
		}
		if staged, ok := m.(methods.Staged); ok {
			for _, k := range staged.Stages(set.Dim(), labelled) {
				keys = append(keys, scope+k)
			}
		}
		return nil
	}
	if job.Pretext != "" {
		key, err := pseudoKey(job)
		if err != nil {
			return nil, err
		}
		keys = append(keys, scope+key)
		if err := add(job.Pretext, job.PretextParams); err != nil {
			return nil, err
		}
	}
	if job.Method != "" {
		return keys, add(job.Method, job.Params)
	}
	return keys, nil
}

// pseudoKey names the stage that holds the pseudo labels of a job. The seed is part of it: a pretext
// may draw, and seeds can share a split.
func pseudoKey(job spec.Job) (string, error) {
	params, err := json.Marshal(job.PretextParams) // map keys come out sorted
	return fmt.Sprintf("pseudo/%s%s/%d", job.Pretext, params, job.Seed), err
}
