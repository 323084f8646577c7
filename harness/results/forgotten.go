package results

import (
	"context"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Forgotten lists the keys of recorded jobs of the methods of specs with parameters that neither specs nor others
// have on the data set, in the order of the store. It ignores seeds, splits and versions, and leaves out damaged runs.
func Forgotten(ctx context.Context, st *store.Store, specs, others []*spec.Spec) (keys []string, err error) {
	rows := map[string]bool{} // by the name of the method, or "pretext+method"
	for _, s := range specs {
		for _, c := range s.Cells() {
			rows[job.Compose(c.Row.Pretext, c.Row.Method)] = true
		}
	}
	known := map[string]map[string]bool{} // questionOf all jobs of the specs, by data set
	seen := map[string]bool{}
	err = st.Each(ctx, nil, func(e store.RunRecord) error {
		if len(e.Faults) > 0 || seen[e.Run.JobKey] || !rows[e.Job.Name()] {
			return nil
		}
		questions := known[e.Job.Dataset]
		if questions == nil {
			questions = map[string]bool{}
			known[e.Job.Dataset] = questions
			for _, list := range [][]*spec.Spec{specs, others} {
				for _, s := range list {
					if err := addQuestions(questions, s, e.Job.Dataset); err != nil {
						return err
					}
				}
			}
		}
		if !questions[questionOf(e.Job.Job)] {
			seen[e.Run.JobKey], keys = true, append(keys, e.Run.JobKey)
		}
		return nil
	})
	return keys, err
}

// addQuestions adds questionOf the jobs of a spec on a data set, for every candidate of its rows.
func addQuestions(questions map[string]bool, s *spec.Spec, dataset string) error {
	on, err := s.Select(spec.Filter{Datasets: []string{dataset}})
	if err != nil {
		return err
	}
	for _, c := range on.Cells() {
		if c.Excluded != "" {
			continue
		}
		for i := range c.Candidates {
			for _, j := range on.Jobs(c, i, job.EvalTest, []uint64{0}) {
				questions[questionOf(j.Job)] = true
			}
		}
	}
	return nil
}

// questionOf encodes a job without its data, split, seed, evaluation and versions.
func questionOf(j job.Job) string {
	j.DatasetHash, j.SplitHash, j.Seed, j.Eval, j.Protocol, j.Method.Version, j.Pretext.Version = "", "", 0, "", 0, 0, 0
	return string(j.Encode())
}
