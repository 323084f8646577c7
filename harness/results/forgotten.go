package results

import (
	"context"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Forgotten lists the keys of recorded jobs of the methods of specs with parameters that neither specs nor others
// have on the data set, in the order of the store. It ignores seeds, splits, versions and the content of files, and
// leaves out damaged runs.
func Forgotten(ctx context.Context, st *store.Store, specs, others []*spec.Spec) (keys []string, err error) {
	rows := map[string]bool{} // by the name of the method, or "pretext+method"
	for _, s := range specs {
		for _, c := range s.Cells() {
			rows[job.Compose(c.Row.Pretext, c.Row.Method)] = true
		}
	}
	known := map[scope]map[string]bool{} // questionOf all jobs of the specs
	seen := map[string]bool{}
	err = st.Each(ctx, nil, func(e store.RunRecord) error {
		if len(e.Faults) > 0 || seen[e.Run.JobKey] || !rows[e.Job.Name()] {
			return nil
		}
		on := scope{dataset: e.Job.Dataset}
		if e.Job.Method.Predictions != nil {
			on.predictions, on.seed = true, e.Job.Seed
		}
		questions := known[on]
		if questions == nil {
			questions = map[string]bool{}
			known[on] = questions
			for _, list := range [][]*spec.Spec{specs, others} {
				for _, s := range list {
					if err := addQuestions(questions, s, on); err != nil {
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

// scope is a data set. Files of predictions have a seed in their names, so their jobs have one of their own for
// each seed.
type scope struct {
	dataset     string
	predictions bool
	seed        uint64 // 0 in other jobs
}

// addQuestions adds questionOf the jobs of a spec in a scope, for every candidate of its rows.
func addQuestions(questions map[string]bool, s *spec.Spec, on scope) error {
	there, err := s.Select(spec.Filter{Datasets: []string{on.dataset}})
	if err != nil {
		return err
	}
	for _, c := range there.Cells() {
		if c.Excluded != "" || on.predictions != (c.Row.Predictions.File != "") {
			continue
		}
		for i := range c.Candidates {
			for _, j := range there.Jobs(c, i, job.EvalTest, []uint64{on.seed}) {
				if part := j.Program(); part != nil {
					part.Command = &job.Command{Args: c.Row.Exec}
					for _, path := range c.Row.Files {
						part.Command.Files = append(part.Command.Files, job.File{Path: path})
					}
				}
				if on.predictions {
					j.Method.Predictions = &job.File{Path: j.Predictions.File}
				}
				questions[questionOf(j.Job)] = true
			}
		}
	}
	return nil
}

// questionOf encodes a job without its data, split, seed, evaluation, versions and the content of files.
func questionOf(j job.Job) string {
	j.Method, j.Pretext = j.Method.WithoutContent(), j.Pretext.WithoutContent()
	j.DatasetHash, j.SplitHash, j.Seed, j.Eval, j.Protocol, j.Method.Version, j.Pretext.Version = "", "", 0, "", 0, 0, 0
	return string(j.Encode())
}
