package run

import (
	"context"
	"fmt"

	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Glance is Resolve from the store alone: it finds results by what was asked for, by name, and
// needs no data. Where the store has results under several versions of a method, or of several
// data sets of one name, the latest counts, and Mixed says when a cell has some of each. What is
// still to be run, and whether the data are those at hand, Resolve tells.
func Glance(ctx context.Context, st *store.Store, s *spec.Spec) (*Plan, error) {
	p := &Plan{Spec: s, envs: map[string]map[string]string{}}
	for _, c := range s.Cells() {
		cell := &Cell{Cell: c, Chosen: -1}
		p.Cells = append(p.Cells, cell)
		if c.Excluded != "" || len(c.Candidates) == 1 {
			continue
		}
		for i := range c.Candidates {
			cell.Tuning = append(cell.Tuning, p.named(cell, i, cell.tuneEval(), c.TuneSeeds))
		}
	}
	if err := p.glance(ctx, st, func(c *Cell) []*Task { return flat(c.Tuning) }); err != nil {
		return nil, err
	}
	for _, c := range p.Cells {
		if c.Excluded == "" && c.choose() {
			c.Final = p.named(c, c.Chosen, spec.EvalTest, s.Seeds)
		}
	}
	return p, p.glance(ctx, st, func(c *Cell) []*Task { return flat([][]Task{c.Final}) })
}

// named makes the tasks of a candidate without what only the data tell.
func (p *Plan) named(c *Cell, candidate int, eval string, seeds []uint64) []Task {
	jobs := p.Spec.Jobs(c.Cell, candidate, eval, seeds)
	out := make([]Task, len(jobs))
	for i, j := range jobs {
		out[i] = Task{Job: j, Record: store.Job{NameKey: j.NameKey(), Dataset: j.Dataset, Method: j.Method, Pretext: j.Pretext, Eval: j.Eval, Seed: j.Seed}}
	}
	return out
}

// glance fills in what the store knows of the tasks by name.
func (p *Plan) glance(ctx context.Context, st *store.Store, of func(*Cell) []*Task) error {
	var tasks []*Task
	var names []string
	for _, c := range p.Cells {
		for _, t := range of(c) {
			tasks, names = append(tasks, t), append(names, t.Record.NameKey)
		}
	}
	known, err := st.Named(ctx, names)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		n := known[t.Record.NameKey]
		switch {
		case n.Result != nil:
			if err := p.addEnv(ctx, st, n.Result.EnvID); err != nil {
				return err
			}
			t.State, t.Result = Cached, n.Result
			t.Record.Key, t.Record.DatasetHash, t.Record.Identity = n.Key, n.DatasetHash, n.Identity
		case n.Failed > 0:
			t.State, t.LastStatus = Failed, n.LastStatus
			t.Reason = fmt.Sprintf("%s, %d×: %s", n.LastStatus, n.Failed, firstLine(n.LastError))
		default:
			t.State = New
		}
	}
	return nil
}

// addEnv reads the environment of a result, once.
func (p *Plan) addEnv(ctx context.Context, st *store.Store, id string) (err error) {
	if p.envs[id] == nil {
		p.envs[id], err = st.Env(ctx, id)
	}
	return err
}
