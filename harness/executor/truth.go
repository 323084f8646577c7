package executor

import (
	"context"
	"fmt"
	"slices"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Truth compares the true classes of recorded runs with local data.
type Truth struct {
	lib    *Library
	asked  map[string]map[string]store.Asked // by hash of the data set, then of the split
	expect map[string]expected
}

// expected are the true classes of a split, seed and evaluation; ok is false without local data.
type expected struct {
	classes []int
	ok      bool
}

// TruthFound says how the true classes of a run compare with the data.
type TruthFound string

// What Compare finds.
const (
	TruthAgrees  TruthFound = "agree"
	TruthNone    TruthFound = "not recorded"
	TruthNoData  TruthFound = "no data" // the data set or the split is not local
	TruthDiffers TruthFound = "differ"
)

// NewTruth returns a Truth that compares with the data sets of a library.
func NewTruth(lib *Library) *Truth {
	return &Truth{lib: lib, asked: map[string]map[string]store.Asked{}, expect: map[string]expected{}}
}

// Compare compares the true classes of a run of st. The error is a store.Fault if they differ.
func (t *Truth) Compare(ctx context.Context, st *store.Store, r store.RunRecord) (TruthFound, error) {
	if len(r.Run.Truth) == 0 {
		return TruthNone, nil
	}
	key := fmt.Sprintf("%s/%s/%d", r.Job.SplitHash, r.Job.Eval, r.Job.Seed)
	want, ok := t.expect[key]
	if !ok {
		var err error
		if want, err = t.of(ctx, st, r); err != nil {
			return TruthNoData, err
		}
		t.expect[key] = want
	}
	switch {
	case !want.ok:
		return TruthNoData, nil
	case !slices.Equal(r.Run.Truth, want.classes):
		return TruthDiffers, store.Fault{Table: "runs", ID: r.Run.UID, What: "list of true classes", Is: "another", Want: "that of the data set " + r.Job.Dataset + " here"}
	}
	return TruthAgrees, nil
}

// of finds the true classes of the samples that a run scores.
func (t *Truth) of(ctx context.Context, st *store.Store, r store.RunRecord) (expected, error) {
	set, err := t.lib.Set(ctx, r.Job.Dataset)
	if ctx.Err() != nil {
		return expected{}, ctx.Err()
	}
	if err != nil || set.Hash != r.Job.DatasetHash {
		return expected{}, nil
	}
	asked, ok := t.asked[set.Hash]
	if !ok {
		splits, err := st.SplitsOf(ctx, set.Hash)
		if err != nil {
			return expected{}, err
		}
		asked = map[string]store.Asked{}
		for a, hash := range splits {
			asked[hash] = a
		}
		t.asked[set.Hash] = asked
	}
	a, ok := asked[r.Job.SplitHash]
	if !ok {
		return expected{}, nil
	}
	how, err := spec.ParseSplit(a.How)
	if err != nil {
		return expected{}, nil // no valid description: store.Check reports it
	}
	split, err := t.lib.Split(set, how, a.Seed)
	if err != nil || split.Hash != r.Job.SplitHash {
		return expected{}, ctx.Err()
	}
	in := Input{Job: spec.Job{Job: r.Job.Job}, Set: set, Split: split}
	view := in.data().View(r.Job.Seed, r.Job.Eval == job.EvalVal)
	eval := slices.Sorted(slices.Values(view.Eval))
	classes := make([]int, len(eval))
	for i, j := range eval {
		classes[i] = set.Labels[j]
	}
	return expected{classes, true}, nil
}
