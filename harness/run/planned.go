package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ssdl/harness/command"
	"ssdl/harness/data"
	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// RunPlanned runs jobs of a plan of the spec s that another process made. It does not repeat jobs that have a
// result or a failed run, other than an interrupted one. It refuses data or splits that differ from those of
// the plan before it computes anything.
func (r *Runner) RunPlanned(ctx context.Context, s *spec.Spec, jobs []PlannedJob) (Summary, error) {
	var sum Summary
	p, err := r.planOf(ctx, s, jobs)
	if err != nil {
		return sum, err
	}
	var keys []string
	for _, j := range jobs {
		keys = append(keys, j.Key)
	}
	states, err := r.Store.State(ctx, keys)
	if err != nil {
		return sum, err
	}
	var todo []*Task
	for i, j := range jobs {
		is := states[i]
		if is.UID != "" {
			continue
		}
		if is.Failed > 0 && is.LastStatus != store.StatusInterrupted {
			sum.FailedBefore++
			continue
		}
		t := &Task{Job: spec.Job{Dataset: j.Dataset, Split: j.Split, Job: j.Job}, Key: j.Key, State: New, local: true, here: true, planned: j.Reason, last: is.LastUID}
		if t.code, err = r.Code.Job(j.Job); err != nil {
			return sum, err
		}
		todo = append(todo, t)
	}
	r.prepareStages()
	if len(todo) > 0 {
		err = r.runBatch(ctx, p, todo, &sum)
	}
	sum.Built, sum.Reused = r.Stages.Counts()
	return sum, err
}

// planOf makes a plan with the data of the jobs and no cells, and registers the data in the store.
func (r *Runner) planOf(ctx context.Context, s *spec.Spec, jobs []PlannedJob) (*Plan, error) {
	p := &Plan{Spec: s, Sets: map[string]*data.Set{}}
	var datasets []store.Dataset
	var splits []store.NamedSplit
	seen, checked := map[seededSplit]bool{}, map[job.File]bool{}
	for _, j := range jobs {
		set, err := r.Library.Set(ctx, j.Dataset)
		if err != nil {
			return nil, err
		}
		if set.Hash != j.Job.DatasetHash {
			return nil, otherInput("data set "+j.Dataset, set.Hash, j.Job.DatasetHash)
		}
		if p.Sets[j.Dataset] == nil {
			p.Sets[j.Dataset] = set
			datasets = append(datasets, describeDataset(set))
		}
		sp, err := r.Library.Split(set, j.Split, j.Job.Seed)
		if err != nil {
			return nil, err
		}
		if sp.Hash != j.Job.SplitHash {
			return nil, otherInput(fmt.Sprintf("the split of %s, seed %d", j.Dataset, j.Job.Seed), sp.Hash, j.Job.SplitHash)
		}
		for _, f := range slices.Concat(j.Job.Method.From(), j.Job.Pretext.From()) {
			if checked[f] {
				continue
			}
			checked[f] = true
			is, err := command.HashFile(f.Path)
			if err != nil {
				return nil, err
			}
			if is != f.SHA256 {
				return nil, otherInput("the file "+f.Path, is, f.SHA256)
			}
		}
		how := j.Split.String()
		if at := (seededSplit{set.Hash, how, j.Job.Seed}); !seen[at] {
			seen[at] = true
			splits = append(splits, store.NamedSplit{
				Split: describeSplit(set, sp, j.Split, j.Job.Seed),
				Asked: store.Asked{How: how, Seed: j.Job.Seed},
			})
		}
	}
	return p, r.Store.Register(ctx, datasets, splits)
}

// seededSplit names a split of a data set under a seed.
type seededSplit struct {
	dataset, how string
	seed         uint64
}

// ErrOtherInput is the error of jobs whose data here differs from that of their plan.
var ErrOtherInput = errors.New("give this machine the data that the plan was made with, or make the plan anew")

func otherInput(what, is, want string) error {
	return fmt.Errorf("%s has the hash %.12s here and %.12s in the plan: %w", what, is, want, ErrOtherInput)
}
