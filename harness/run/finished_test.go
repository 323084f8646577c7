package run

import (
	"slices"
	"testing"
)

// A tuning that has finished on some seeds chooses on these, as a run of these alone does. A tuning with its own seeds
// chooses only when all have finished.
func TestResolveFinished(t *testing.T) {
	b := newBench(t, threeRows)
	all := b.spec
	b.spec = mustSeeds(t, all, 1000, 1001)
	ran, _ := b.run(t)
	b.spec = all
	if c := b.resolve(t, b.runner.Library).Cells[0]; c.Chosen != -1 || c.Part || c.Final != nil {
		t.Fatalf("a plan that is run chose candidate %d on a part of the seeds", c.Chosen)
	}
	finished := func() *Plan {
		t.Helper()
		p, err := ResolveFinished(t.Context(), b.runner.Library, b.runner.Code, b.runner.Store, b.spec)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := finished()
	for i, c := range p.Cells {
		want := ran.Cells[i]
		tuned := len(want.Tuning) > 0
		if c.Chosen != want.Chosen || c.Part != tuned {
			t.Errorf("%s: candidate %d, want %d; a part of the seeds: %v", c.Row.ID, c.Chosen, want.Chosen, c.Part)
		}
		if tuned && (!slices.Equal(c.TuneSeeds, []uint64{1000, 1001}) || len(c.Tuning[0]) != 2 || len(c.Final) != 2) {
			t.Errorf("%s: tuned on %v, %d runs shown", c.Row.ID, c.TuneSeeds, len(c.Final))
		}
		for j, task := range c.Final[:2] {
			if v, ok := task.Value(); !ok || task.Key != want.Final[j].Key {
				t.Errorf("%s, seed %d: %v, %v", c.Row.ID, task.Job.Seed, v, ok)
			}
		}
	}

	own := *all
	own.TuneSeeds = map[string][]uint64{"tiny": {1000, 1002}}
	b.spec = &own
	if c := finished().Cells[0]; c.Part || c.Chosen != -1 {
		t.Errorf("chosen on a part of the seeds that the spec tunes on: candidate %d", c.Chosen)
	}
}
