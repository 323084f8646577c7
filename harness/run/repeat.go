package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ssdl/harness/executor"
	"ssdl/harness/job"
	"ssdl/harness/provenance"
	"ssdl/harness/store"
)

// Repeat computes a finished job of the plan again and says what came out otherwise: empty if
// predictions, metrics and traces are the same in every bit. Nothing is recorded. The error is why
// the job could not be computed.
func (r *Runner) Repeat(ctx context.Context, p *Plan, t *Task) (differs string, err error) {
	if r.Stages == nil {
		r.Stages = executor.NewStages(provenance.PhysicalMemory() / 4)
	}
	set, ok := p.Sets[t.Job.Dataset]
	if !ok {
		return "", &executor.NoDataError{Name: t.Job.Dataset, Roots: r.Library.Roots}
	}
	split, err := r.Library.Split(set, t.Job.Split, t.Job.Seed)
	if err != nil {
		return "", err
	}
	_, was, err := r.Store.RunByUID(ctx, t.Result.UID)
	if err != nil {
		return "", err
	}
	again := r.executor()(ctx, executor.Input{Job: t.Job, Set: set, Split: split, Stages: r.Stages})
	if again.Status != store.StatusOK {
		return "", errors.New(again.Error)
	}
	differs = difference(was, again)
	if differs == "" {
		return "", nil
	}
	if why := provenance.BuildDifference(was.Env, provenance.Environment()); why != "" {
		differs += ", " + why
	}
	return differs, nil
}

// difference says in what two runs of a job differ, which they should not in a single bit.
func difference(was, is store.Run) string {
	if a, b := store.PredictionsHash(was.Predictions), store.PredictionsHash(is.Predictions); a != b {
		n := 0
		for i := range min(len(was.Predictions), len(is.Predictions)) {
			if was.Predictions[i] != is.Predictions[i] {
				n++
			}
		}
		return fmt.Sprintf("%d of %d predictions (hash %.12s, now %.12s)", n, len(was.Predictions), a, b)
	}
	both := maps.Clone(is.Metrics)
	maps.Copy(both, was.Metrics)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		a, had := was.Metrics[name]
		b, has := is.Metrics[name]
		switch {
		case !had: // a metric that came later
		case !has:
			return fmt.Sprintf("the metric %s: %v, now none", name, a)
		case math.Float64bits(a) != math.Float64bits(b):
			return fmt.Sprintf("the metric %s: %v, now %v", name, a, b)
		}
	}
	order := func(a, b store.Point) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Iteration-b.Iteration)
	}
	a, b := slices.SortedFunc(slices.Values(was.Series), order), slices.SortedFunc(slices.Values(is.Series), order)
	if len(a) != len(b) {
		return fmt.Sprintf("the length of the traces: %d values, now %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			return fmt.Sprintf("the trace of %s at iteration %d: %v, now %v", a[i].Name, a[i].Iteration, a[i].Value, b[i].Value)
		}
	}
	return ""
}

// Sample picks n finished tasks of the plan evenly over its report and its tuning, in an order
// that depends on nothing but their keys.
func (p *Plan) Sample(n int) []*Task {
	seen := map[string]bool{}
	var all []*Task
	for _, c := range p.Cells {
		for _, t := range append(flat([][]Task{c.Final}), flat(c.Tuning)...) {
			if t.State == Cached && t.local && !seen[t.Key] {
				seen[t.Key] = true
				all = append(all, t)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Task) int { return strings.Compare(a.Key, b.Key) })
	// By keys the order is as good as random: methods and seeds are mixed. The first of each method
	// come first, so that a small sample sees many methods.
	rank := map[*Task]int{}
	count := map[string]int{}
	for _, t := range all {
		rank[t] = count[t.Job.Name()]
		count[t.Job.Name()]++
	}
	slices.SortStableFunc(all, func(a, b *Task) int { return rank[a] - rank[b] })
	return all[:min(n, len(all))]
}

// Describe names a job as a reader would look for it.
func (t *Task) Describe() string {
	s := executor.Describe(t.Job)
	if t.Job.Eval == job.EvalVal {
		return s
	}
	return s + fmt.Sprintf(", run %s", t.Result.UID)
}
