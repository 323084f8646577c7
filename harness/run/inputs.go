package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// inputs finds the hashes of data and splits for jobs: those of local data, or else those that the store
// recorded last.
type inputs struct {
	lib   *executor.Library
	store *store.Store
	sets  map[string]*input
	// programs are the external programs by row.
	programs map[*spec.Row]program
}

// input is a data set of a spec.
type input struct {
	store.Dataset
	set *data.Set // nil unless the data is local
	// recorded is the hash that the store last recorded for this name; empty if there is none or it is unreadable.
	recorded string
	splits   map[store.Asked]string // hashes of the recorded splits
}

// dataset finds a data set. The error is an executor.NoDataError if it is neither local nor recorded.
func (in *inputs) dataset(ctx context.Context, name string) (*input, error) {
	if at, ok := in.sets[name]; ok {
		return at, nil
	}
	at, err := in.find(ctx, name)
	if err != nil {
		return nil, err
	}
	in.sets[name] = at
	return at, nil
}

func (in *inputs) find(ctx context.Context, name string) (*input, error) {
	set, err := in.lib.Set(ctx, name)
	var missing *executor.NoDataError
	at := &input{}
	switch {
	case err == nil:
		at.set, at.Dataset = set, describeDataset(set)
		if was, err := in.store.DatasetNamed(ctx, name); err == nil {
			at.recorded = was.Hash
		}
	case errors.As(err, &missing):
		recorded, err := in.store.DatasetNamed(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, missing
		}
		if err != nil {
			return nil, err
		}
		at.Dataset = recorded
	default:
		return nil, err
	}
	at.splits, err = in.store.SplitsOf(ctx, at.Hash)
	return at, err
}

// split finds the hash of a split. local reports whether its data, and its index file if it has one, are
// local. The hash is empty if the split is neither local nor recorded: then it has no runs.
func (in *inputs) split(at *input, s spec.Split, seed uint64) (hash string, local bool, err error) {
	recorded := at.splits[store.Asked{How: s.String(), Seed: seed}]
	if at.set == nil {
		return recorded, false, nil
	}
	if s.Kind == "file" && recorded != "" {
		if _, err := os.Stat(s.Path(seed)); errors.Is(err, fs.ErrNotExist) {
			return recorded, false, nil
		}
	}
	sp, err := in.lib.Split(at.set, s, seed)
	if err != nil {
		return "", false, err
	}
	return sp.Hash, true, nil
}

// readSplits finds the sizes of the splits of the final tasks.
func (p *Plan) readSplits(ctx context.Context, lib *executor.Library, st *store.Store) error {
	for _, c := range p.Cells {
		for _, t := range c.Final {
			hash := t.Job.SplitHash
			if _, ok := p.splits[hash]; ok || hash == "" {
				continue
			}
			if set := p.Sets[c.Dataset]; set != nil && t.local {
				sp, err := lib.Split(set, t.Job.Split, t.Job.Seed)
				if err != nil {
					return err
				}
				p.splits[hash] = describeSplit(set, sp, t.Job.Split, t.Job.Seed)
				continue
			}
			var err error
			if p.splits[hash], err = st.SplitByHash(ctx, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// SplitOf returns the split of a final task with its sizes; false if it is not known.
func (p *Plan) SplitOf(t *Task) (store.Split, bool) {
	s, ok := p.splits[t.Job.SplitHash]
	return s, ok
}

// describeDataset describes a data set for the store.
func describeDataset(set *data.Set) store.Dataset {
	return store.Dataset{
		Hash: set.Hash, Name: set.Name, Samples: set.Samples(), Dim: set.Dim(),
		Classes: len(set.Classes), Source: set.Source, Synthetic: set.Synthetic, ClassNames: set.Classes,
		Declared: set.Declared, Dropped: len(set.Dropped),
	}
}

// describeSplit describes a split for the store.
func describeSplit(set *data.Set, sp *data.Split, asked spec.Split, seed uint64) store.Split {
	s := store.Split{Hash: sp.Hash, Dataset: set.Hash, Kind: asked.Kind, Train: len(sp.Train), Test: len(sp.Test)}
	if !asked.OneForAll() {
		s.Seed = seed
	}
	for _, keeps := range sp.Labelled {
		if keeps {
			s.Labeled++
		}
	}
	return s
}

// register records the local data sets and splits of a plan with their names in the store.
func (p *Plan) register(ctx context.Context, lib *executor.Library, st *store.Store) error {
	var datasets []store.Dataset
	var splits []store.NamedSplit
	for _, name := range p.Spec.Datasets {
		set, ok := p.Sets[name]
		if !ok {
			continue
		}
		datasets = append(datasets, p.Datasets[name])
		for _, at := range splitsOf(p, name) {
			sp, err := lib.Split(set, at.Split, at.seed)
			if err != nil {
				if _, gone := os.Stat(at.Path(at.seed)); at.Kind == "file" && errors.Is(gone, fs.ErrNotExist) {
					continue // without its file the split is recorded, or has no jobs
				}
				return err
			}
			splits = append(splits, store.NamedSplit{
				Split: describeSplit(set, sp, at.Split, at.seed),
				Asked: store.Asked{How: at.Split.String(), Seed: at.seed},
			})
		}
	}
	if len(datasets) == 0 {
		return nil
	}
	return st.Register(ctx, datasets, splits)
}

// seeded is a split under a seed.
type seeded struct {
	spec.Split
	seed uint64
}

// splitsOf lists the splits of a data set that the plan's cells use, each once.
func splitsOf(p *Plan, dataset string) []seeded {
	seen := map[string]bool{}
	var out []seeded
	add := func(s spec.Split, seeds []uint64) {
		for _, seed := range seeds {
			if key := fmt.Sprint(s, seed); !seen[key] {
				seen[key] = true
				out = append(out, seeded{s, seed})
			}
		}
	}
	for _, c := range p.Cells {
		if c.Dataset != dataset {
			continue
		}
		add(c.Split, p.Spec.Seeds)
		if len(c.Tuning) > 0 {
			add(c.Split, c.TuneSeeds)
		}
	}
	return out
}
