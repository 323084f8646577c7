package run

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"ssdl/harness/executor"
	"ssdl/harness/spec"
)

// writeSplit writes an index file of the bench's data, as drawn by a seed.
func (b *bench) writeSplit(t *testing.T, path string, seed uint64) {
	t.Helper()
	set, err := b.runner.Library.Set(t.Context(), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	split, err := b.runner.Library.Split(set, spec.Split{Kind: "class", Train: 0.7, Labels: 0.4}, seed)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := split.Write(f, set); err != nil {
		t.Fatal(err)
	}
}

// fileBench is a bench whose spec uses the index file at path for all seeds.
func fileBench(t *testing.T, rows string) (b *bench, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "split.json")
	b = newBench(t, fmt.Sprintf(`
name: shared
datasets: [tiny]
seeds: 1000..1003
split: {kind: file, file: %s}
rows:
%s`, path, rows))
	b.writeSplit(t, path, 1000)
	return b, path
}

// Seeds that share a split hold out different samples, so they share no stage of the tuning.
func TestTuningOfSeedsThatShareASplit(t *testing.T) {
	const rows = `
  - method: crc
    tune: {lambda: {log2: [-6, 0, 2]}}
  - method: ssdl
    pretext: hl
    params: {K: 10, iterations: 10, gamma: 2^-6}
    pretext_params: {k: 4}
    tune: {alpha: {grid: [2^-8, 2^-4]}, pretext.lambda: {grid: [0.1, 1]}}
`
	scores := func(p *Plan) map[string]string {
		out := map[string]string{}
		for _, c := range p.Cells {
			for i, tasks := range c.Tuning {
				for _, task := range tasks {
					if task.Result == nil {
						t.Fatalf("%s: %s", executor.Describe(task.Job), task.Reason())
					}
					out[fmt.Sprint(i, " ", executor.Describe(task.Job))] = fmt.Sprint(task.Result.Metrics)
				}
			}
		}
		return out
	}
	b, _ := fileBench(t, rows)
	p, err := Resolve(t.Context(), b.runner.Library, nil, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	tuning, err := p.EstimateStages(b.runner.Library, RetryPolicy{})
	if err != nil {
		t.Fatal(err)
	}
	together, sum := b.run(t)
	// Of each seed CRC's Gram matrix, the neighbours, the hypergraph, and F for each lambda; of the
	// columns that are reported, whose order is the seed's, the first three and one F.
	const tuned, reported = 4 * (1 + 2 + 2), 4 * (1 + 2 + 1)
	if tuning.Built != tuned || sum.Built != tuned+reported {
		t.Errorf("the plan of the tuning has %d computations and the runs %d, want %d and %d", tuning.Built, sum.Built, tuned, tuned+reported)
	}
	alone := map[string]string{}
	for _, seed := range b.spec.Seeds {
		one, _ := fileBench(t, rows)
		one.spec = mustSeeds(t, one.spec, seed)
		p, _ := one.run(t)
		maps.Copy(alone, scores(p))
	}
	got := scores(together)
	if len(got) != 32 || len(alone) != len(got) {
		t.Fatalf("%d scores together and %d alone, want 32", len(got), len(alone))
	}
	for name, score := range alone {
		if got[name] != score {
			t.Errorf("%s: alone %s, together %s", name, score, got[name])
		}
	}
}

// An index file that all seeds share is recorded without a seed.
func TestSeedOfASharedSplit(t *testing.T) {
	b, _ := fileBench(t, "  - method: src\n    params: {lambda: 2^-5}\n")
	p, _ := b.run(t)
	split, err := b.runner.Store.SplitByHash(t.Context(), p.Cells[0].Final[0].Job.SplitHash)
	if err != nil || split.Kind != "file" || split.Seed != 0 {
		t.Errorf("%+v, %v", split, err)
	}
}
