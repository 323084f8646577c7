package run

import (
	"context"
	"slices"

	"ssdl/harness/spec"
)

// compareColumns looks at the cells of each data set together. A table sets them against each other
// and pairs them by seed, so they must be of the same data and, under a seed, of the same split. What
// is at hand counts; where that is not known, what most cells are of; where as many cells are of each,
// nothing does. Cells of anything else are set apart.
func (p *Plan) compareColumns(ctx context.Context, here *atHand) error {
	p.apart = map[*Cell]Inconsistency{}
	for _, name := range p.Spec.Datasets {
		var column []*Cell
		for _, c := range p.Cells {
			if c.Dataset == name && len(c.results()) > 0 {
				column = append(column, c)
			}
		}
		p.agree(column, trait{
			kind:  PropertyData,
			of:    func(t *Task) string { return t.Record.DatasetHash },
			group: func(*Task) drawn { return drawn{} },
			here:  func(*Task) string { return here.hash(ctx, name) },
			lacks: func(t *Task) bool { return here.lacks(ctx, name, t.Record.DatasetHash) },
		})
		column = slices.DeleteFunc(column, func(c *Cell) bool { _, ok := p.apart[c]; return ok })
		p.agree(column, trait{
			kind:  PropertySplit,
			of:    func(t *Task) string { return t.Record.SplitHash },
			group: func(t *Task) drawn { return drawnFor(t.Job) },
			here:  func(t *Task) string { return here.split(ctx, t.Job, t.Record.DatasetHash) },
			lacks: func(t *Task) bool { return here.lacksSplit(ctx, t) },
		})
	}
	return ctx.Err()
}

// trait is what the cells of a column must have in common.
type trait struct {
	kind  Property
	of    func(*Task) string // the hash
	group func(*Task) drawn  // tasks of one group agree
	here  func(*Task) string // the hash at hand, which takes reading; empty if there is none
	lacks func(*Task) bool   // what is at hand is another, as far as it is quick to tell
}

// drawn is what decides about the split of a data set.
type drawn struct {
	spec.Split
	seed uint64 // 0 if all seeds have the same
}

func drawnFor(job spec.Job) drawn { return drawnUnder(job.Split, job.Seed) }

func drawnUnder(s spec.Split, seed uint64) drawn {
	if oneForAll(s) {
		return drawn{Split: s}
	}
	return drawn{s, seed}
}

// oneForAll reports whether all seeds have the same split, since nothing is drawn.
func oneForAll(s spec.Split) bool {
	return s.Kind == "file" && !s.PerSeed() || s.Kind == "official" && s.Labels == 1
}

// agree sets apart the cells of a column that differ in a trait from what counts.
func (p *Plan) agree(column []*Cell, x trait) {
	n := tally(column, x)
	rulings := map[drawn]ruling{}
	for _, c := range column {
		for _, t := range c.results() {
			group := x.group(t)
			r, ok := rulings[group]
			if !ok {
				r = x.rule(t, n[group])
				rulings[group] = r
			}
			is := x.of(t)
			if r.from == "" || is == r.counts {
				continue
			}
			if r.from == LocalData {
				t.State, t.Reason = Changed, string(x.kind)+" changed"
			}
			if _, ok := p.apart[c]; !ok {
				p.apart[c] = Inconsistency{Kind: x.kind, Is: is, Want: r.counts, WantFrom: r.from, Seed: t.Job.Seed, Tuning: t.Job.Eval == spec.EvalVal}
			}
		}
	}
}

// results are the tasks behind a cell that have one, those of its tuning included.
func (c *Cell) results() []*Task {
	tasks := append(flat([][]Task{c.Final}), flat(c.Tuning)...)
	return slices.DeleteFunc(tasks, func(t *Task) bool { return t.Result == nil })
}

// tally counts, in each group, the cells that are of each hash.
func tally(column []*Cell, x trait) map[drawn]map[string]int {
	type seen struct {
		drawn
		hash string
	}
	out := map[drawn]map[string]int{}
	for _, c := range column {
		known := map[seen]bool{}
		for _, t := range c.results() {
			at := seen{x.group(t), x.of(t)}
			if known[at] {
				continue
			}
			known[at] = true
			if out[at.drawn] == nil {
				out[at.drawn] = map[string]int{}
			}
			out[at.drawn][at.hash]++
		}
	}
	return out
}

// ruling says what counts in a group, and whose value that is; nothing if all may stand.
type ruling struct {
	counts string
	from   Origin
}

// rule decides about the group of a task, of which n has the cells by hash.
func (x trait) rule(t *Task, n map[string]int) ruling {
	if len(n) == 1 {
		if x.lacks(t) {
			return ruling{from: LocalData}
		}
		return ruling{}
	}
	if here := x.here(t); here != "" {
		return ruling{here, LocalData}
	}
	if most := mostOf(n); most != "" {
		return ruling{most, MostCells}
	}
	return ruling{from: Tie}
}

// mostOf is what most cells are of; empty if as many are of another.
func mostOf(n map[string]int) string {
	most, tied := "", false
	for hash, cells := range n {
		switch {
		case most == "" || cells > n[most]:
			most, tied = hash, false
		case cells == n[most]:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return most
}
