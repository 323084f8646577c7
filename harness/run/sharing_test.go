package run

import (
	"testing"

	"ssdl/harness/executor"
	"ssdl/harness/job"
	"ssdl/harness/spec"
)

// A grid over the learner computes F once, a grid over lambda the hypergraph and Q once;
// what the plan says beforehand is what the runs then do.
func TestGridsShareStages(t *testing.T) {
	for _, tc := range []struct {
		name, rows  string
		runs, built int
	}{
		{"7 x 7 over alpha and gamma", `
  - pretext: pahl
    method: ssdl
    params: {K: 8, iterations: 2, alpha: {log2: [-12, -6]}, gamma: {log2: [-12, -6]}}
    pretext_params: {k: 4, m: 10, t: 2}
`, 49, 5}, // neighbours, hypergraph, eigenpairs, embedding, F
		{"7 over lambda", `
  - pretext: pahl
    method: ssdl
    params: {K: 8, iterations: 2}
    pretext_params: {k: 4, m: 10, t: 2, lambda: {log2: [-6, 0]}}
`, 7, 11}, // the first four once, F for each
		{"CRC over lambda", `
  - method: crc
    params: {lambda: {log2: [-6, 0]}}
`, 7, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, `
name: grid
title: grid
datasets: [tiny]
seeds: [1000]
split: {kind: class, train: 0.7, labels: 0.4}
metric: accuracy
select: paper
rows:`+tc.rows)
			p, err := Resolve(t.Context(), b.runner.Library, b.runner.Code, b.runner.Store, b.spec)
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.EstimateStages(b.runner.Library, RetryPolicy{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Runs != tc.runs || s.Built != tc.built {
				t.Fatalf("the plan says %+v, want %d runs and %d computations", s, tc.runs, tc.built)
			}
			_, sum := b.run(t)
			if sum.OK != tc.runs || sum.Built != tc.built {
				t.Fatalf("%+v, want %d runs and %d computations", sum, tc.runs, tc.built)
			}
		})
	}
}

func TestStagesOfTuningAreApart(t *testing.T) {
	b := newBench(t, threeRows)
	p, err := Resolve(t.Context(), b.runner.Library, b.runner.Code, b.runner.Store, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	set := p.Sets["tiny"]
	split, err := b.runner.Library.Split(set, b.spec.Split, 1000)
	if err != nil {
		t.Fatal(err)
	}
	crc := spec.Job{Job: job.Job{Method: job.Part{Name: "crc"}, Eval: job.EvalVal, Seed: 1000}}
	val, err := executor.StageKeys(executor.Input{Job: crc, Set: set, Split: split})
	if err != nil {
		t.Fatal(err)
	}
	crc.Eval = job.EvalTest
	test, err := executor.StageKeys(executor.Input{Job: crc, Set: set, Split: split})
	if err != nil {
		t.Fatal(err)
	}
	if len(val) != 1 || len(test) != 1 || val[0] == test[0] {
		t.Fatalf("%v and %v", val, test)
	}
}
