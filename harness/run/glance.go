package run

import (
	"context"
	"fmt"
	"slices"

	"ssdl/harness/data"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Glance is Resolve from the store alone: it finds results by what was asked for, by name, and
// needs no data. Where the store has results of several data sets or splits of one name, those of the
// data at hand count; where it has none of a name, those of the data at hand under the name they had
// before. Only then are data read, by lib, beside small ones and the headers of large ones: see lacks.
// Of several versions that of the program counts. Failing any the latest does, and Mixed says when a
// cell has some of each, when the cells of a column have, and when those at hand are others. What is
// still to be run Resolve tells.
func Glance(ctx context.Context, lib *Library, st *store.Store, s *spec.Spec) (*Plan, error) {
	p := &Plan{Spec: s, envs: map[string]map[string]string{}}
	recorded, err := st.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	here := &atHand{lib, recorded, map[string]string{}}
	renamed, err := renamed(ctx, lib, st, recorded, s)
	if err != nil {
		return nil, err
	}
	for _, c := range s.Cells() {
		cell := &Cell{Cell: c, Chosen: -1}
		p.Cells = append(p.Cells, cell)
		if c.Excluded != "" || len(c.Candidates) == 1 {
			continue
		}
		for i := range c.Candidates {
			tasks, err := p.named(ctx, lib, st, renamed, cell, i, cell.tuneEval(), c.TuneSeeds)
			if err != nil {
				return nil, err
			}
			cell.Tuning = append(cell.Tuning, tasks)
		}
	}
	if err := p.glance(ctx, st, here, func(c *Cell) []*Task { return flat(c.Tuning) }); err != nil {
		return nil, err
	}
	for _, c := range p.Cells {
		if c.Excluded == "" && c.choose() {
			if c.Final, err = p.named(ctx, lib, st, renamed, c, c.Chosen, spec.EvalTest, s.Seeds); err != nil {
				return nil, err
			}
		}
	}
	if err := p.glance(ctx, st, here, func(c *Cell) []*Task { return flat([][]Task{c.Final}) }); err != nil {
		return nil, err
	}
	return p, p.compareColumns(ctx, here)
}

// renamed are the data sets at hand, by name, whose results the store may have under other names:
// since it knows the set under others alone, or since the same split may have been drawn by one
// spec and be read from an index file by the other. Their headers are compared first, so that no
// other data are read.
func renamed(ctx context.Context, lib *Library, st *store.Store, recorded []store.Dataset, s *spec.Spec) (map[string]*data.Set, error) {
	files, err := st.HasSplits(ctx, "file")
	if err != nil {
		return nil, err
	}
	files = files || s.Split.Kind == "file"
	out := map[string]*data.Set{}
	for _, name := range s.Datasets {
		path, ok := data.Find(name, lib.Roots)
		if !ok || !files && slices.ContainsFunc(recorded, func(d store.Dataset) bool { return d.Name == name }) {
			continue
		}
		info, err := data.Inspect(path)
		if err != nil || !slices.ContainsFunc(recorded, func(d store.Dataset) bool {
			return d.Dim == info.Dim && (d.Samples == info.Samples || lib.DropZero)
		}) {
			continue
		}
		set, err := lib.Set(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && slices.ContainsFunc(recorded, func(d store.Dataset) bool { return d.Hash == set.Hash }) {
			out[name] = set
		}
	}
	return out, nil
}

// named makes the tasks of a candidate without what only the data tell. Of a data set that may
// have been renamed they have the name under which they were recorded.
func (p *Plan) named(ctx context.Context, lib *Library, st *store.Store, renamed map[string]*data.Set, c *Cell, candidate int, eval string, seeds []uint64) ([]Task, error) {
	jobs := p.Spec.Jobs(c.Cell, candidate, eval, seeds)
	out := make([]Task, len(jobs))
	for i, j := range jobs {
		out[i] = Task{Job: j, metric: c.Metric, Record: store.Job{NameKey: j.NameKey(), Dataset: j.Dataset, Method: j.Method, Pretext: j.Pretext, Eval: j.Eval, Seed: j.Seed}}
		set := renamed[j.Dataset]
		if set == nil {
			continue
		}
		split, err := lib.Split(set, j.Split, j.Seed)
		if err != nil { // an index file that is gone, say: its results may still be there by name
			continue
		}
		name, err := st.NameOf(ctx, j.Key(set.Hash, split.Hash))
		if err != nil {
			return nil, err
		}
		if name != "" {
			out[i].Record.NameKey = name
		}
	}
	return out, nil
}

// glance fills in what the store knows of the tasks by name.
func (p *Plan) glance(ctx context.Context, st *store.Store, here *atHand, of func(*Cell) []*Task) error {
	var tasks []*Task
	var names []string
	metrics := []string{Unconverged}
	for _, c := range p.Cells {
		for _, t := range of(c) {
			tasks, names = append(tasks, t), append(names, t.Record.NameKey)
			if !slices.Contains(metrics, t.metric) {
				metrics = append(metrics, t.metric)
			}
		}
	}
	known, err := st.Named(ctx, names, metrics...)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		n := known[t.Record.NameKey]
		switch {
		case len(n.Found) > 0:
			f := t.pick(ctx, n.Found, here)
			if err := p.addEnv(ctx, st, f.Result.EnvID); err != nil {
				return err
			}
			t.take(f.Result)
			t.Record.Key, t.Record.DatasetHash, t.Record.Identity = f.Key, f.DatasetHash, f.Identity
			t.Record.SplitHash = splitOf(f.Identity)
		case n.Failed > 0:
			t.State, t.LastStatus, t.LastError, t.Attempts = Failed, n.LastStatus, firstLine(n.LastError), n.Failed
			if n.LastStatus == store.StatusInterrupted {
				t.State = Retry
			}
			t.Reason = fmt.Sprintf("%s, %d×: %s", n.LastStatus, n.Failed, firstLine(n.LastError))
		default:
			t.State = New
		}
	}
	return nil
}

// pick returns the result that counts of those found under the name of the task, the latest last.
func (t *Task) pick(ctx context.Context, found []store.Found, here *atHand) *store.Found {
	if len(found) == 1 {
		return &found[0]
	}
	// The clock does not tell what is current: it may have been set back.
	prefer := func(like func(*store.Found) bool) {
		var out []store.Found
		for i := range found {
			if like(&found[i]) {
				out = append(out, found[i])
			}
		}
		if len(out) > 0 {
			found = out
		}
	}
	differ := func(of func(*store.Found) string) bool {
		return slices.ContainsFunc(found, func(f store.Found) bool { return of(&f) != of(&found[0]) })
	}
	if differ(func(f *store.Found) string { return f.DatasetHash }) {
		hash := here.hash(ctx, t.Job.Dataset)
		prefer(func(f *store.Found) bool { return f.DatasetHash == hash })
	}
	if differ(func(f *store.Found) string { return splitOf(f.Identity) }) {
		hash := here.split(ctx, t.Job, found[0].DatasetHash)
		prefer(func(f *store.Found) bool { return splitOf(f.Identity) == hash })
	}
	version := versions(t.Job.Identity("", ""))
	prefer(func(f *store.Found) bool { return versions(f.Identity) == version })
	return &found[len(found)-1]
}

// addEnv reads the environment of a result, once.
func (p *Plan) addEnv(ctx context.Context, st *store.Store, id string) (err error) {
	if p.envs[id] == nil {
		p.envs[id], err = st.Env(ctx, id)
	}
	return err
}
