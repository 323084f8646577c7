package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/protocol"
	"ssdl/harness/provenance"
	"ssdl/harness/store"
)

// Repeat computes a finished job of the plan again and compares. With record it records the repetition in the
// store. The error is why the job could not be computed.
func (r *Runner) Repeat(ctx context.Context, p *Plan, t *Task, record bool) (store.Repetition, error) {
	if r.Stages == nil {
		r.Stages = executor.NewStages(provenance.PhysicalMemory() / 4)
	}
	out := store.Repetition{Run: t.Result.UID, Started: time.Now(), Workers: runtime.GOMAXPROCS(0), Env: provenance.Environment(), Code: t.code}
	set, ok := p.Sets[t.Job.Dataset]
	if !ok {
		return out, &executor.NoDataError{Name: t.Job.Dataset, Roots: r.Library.Roots}
	}
	split, err := r.Library.Split(set, t.Job.Split, t.Job.Seed)
	if err != nil {
		return out, err
	}
	_, was, err := r.Store.RunByUID(ctx, t.Result.UID)
	if err != nil {
		return out, err
	}
	again := r.executor()(ctx, executor.Input{Job: t.Job, Set: set, Split: split, Stages: r.Stages, Programs: r.programs()})
	if again.Status != store.StatusOK {
		return out, errors.New(again.Error)
	}
	if out.Differs = difference(was, again); out.Differs != "" {
		if why := provenance.BuildDifference(was.Env, out.Env); why != "" {
			out.Differs += ", " + why
		}
	}
	if record {
		err = r.Store.RecordRepetition(context.WithoutCancel(ctx), out)
	}
	return out, err
}

// difference names the first difference between two runs of a job; empty if all bits are the same.
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
		case !had: // a metric that is newer than the run
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

// Shown is a finished run of a cell.
type Shown struct {
	Plan *Plan
	Cell *Cell
	Task *Task
}

// usualSample is the default size of a sample, unless there are more methods.
const usualSample = 12

// Verified lists the final runs of plans that were computed again by the code of this program with the same bits, in
// the order of the plans, and with how many workers the last time.
func Verified(plans []*Plan) (runs []Shown, workers []int) {
	seen := map[string]bool{}
	for _, p := range plans {
		for _, c := range p.Cells {
			for i := range c.Final {
				t := &c.Final[i]
				if t.State != Cached || seen[t.Key] {
					continue
				}
				list := p.repetitionsOf(t)
				if len(list) == 0 || list[len(list)-1].Differs != "" {
					continue
				}
				seen[t.Key] = true
				runs, workers = append(runs, Shown{p, c, t}), append(workers, list[len(list)-1].Workers)
			}
		}
	}
	return runs, workers
}

// Sample draws at most n of the final runs of plans that can be computed here, by a seed. If n is 0, it draws
// one of each method, and at least 12. It takes a run from one cell of each method, then from a second cell of
// each, and so on. Cells and runs with the fewest repetitions go first. No run is drawn twice. With fresh it draws
// none that was computed again before, and methods with the fewest such runs go first.
func Sample(plans []*Plan, n int, seed uint64, fresh bool) []Shown {
	type group struct {
		runs     []Shown
		repeated int
		rank     int // among the groups of its method
	}
	var groups []*group
	seen, count := map[string]bool{}, map[string]int{} // by key; by method
	repetitions := func(s Shown) int { return len(s.Plan.repetitionsOf(s.Task)) }
	r := protocol.Stream(seed, "sample")
	for _, p := range plans {
		for _, c := range p.Cells {
			g := &group{}
			for i := range c.Final {
				t := &c.Final[i]
				if t.State != Cached || !t.runnable() || seen[t.Key] {
					continue
				}
				seen[t.Key] = true
				s := Shown{p, c, t}
				before := repetitions(s)
				g.repeated += before
				if !fresh || before == 0 {
					g.runs = append(g.runs, s)
				} else {
					count[t.Job.Name()]++
				}
			}
			if len(g.runs) == 0 {
				continue
			}
			r.Shuffle(len(g.runs), func(i, j int) { g.runs[i], g.runs[j] = g.runs[j], g.runs[i] })
			slices.SortStableFunc(g.runs, func(a, b Shown) int { return repetitions(a) - repetitions(b) })
			groups = append(groups, g)
		}
	}
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	slices.SortStableFunc(groups, func(a, b *group) int { return a.repeated - b.repeated })
	for _, g := range groups {
		method := g.runs[0].Task.Job.Name()
		g.rank = count[method]
		count[method]++
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Or(a.rank-b.rank, a.repeated-b.repeated) })
	if n == 0 {
		n = max(usualSample, len(count))
	}
	var out []Shown
	for round := 0; len(out) < n; round++ {
		before := len(out)
		for _, g := range groups {
			if round < len(g.runs) && len(out) < n {
				out = append(out, g.runs[round])
			}
		}
		if len(out) == before {
			break
		}
	}
	return out
}
