package cluster

import (
	"path/filepath"
	"testing"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// BenchmarkPlan plans 10,000 jobs, cuts them into shards and writes them with the scripts, which must take less
// than two seconds.
func BenchmarkPlan(b *testing.B) {
	s, err := spec.Parse("large.yaml", []byte(`name: large
datasets: [synth8]
seeds: 1000..1199
split: {kind: class, train: 0.7, labels: 0.4}
rows:
  - {id: crc, method: crc, params: {lambda: {log2: [-24, 0]}, rule: {grid: [ratio, plain]}}}
`))
	if err != nil {
		b.Fatal(err)
	}
	lib := &executor.Library{}
	if _, err := lib.Set(b.Context(), "synth8"); err != nil { // reading the data is no part of it
		b.Fatal(err)
	}
	st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	for b.Loop() {
		f := newFolder(b)
		p, err := run.Resolve(b.Context(), lib, nil, st, s)
		if err != nil {
			b.Fatal(err)
		}
		file := p.File(p.Todo(run.RetryPolicy{}))
		jobs, shards := Cut(file.Jobs, p.Forecast(), 4, Size{Wall: 45 * time.Minute})
		plan := NewPlan(1, "00", file, jobs, shards)
		if err := f.Write(plan, Scripts{CPUs: 4, Time: TimeLimit(shards), Dir: "."}); err != nil {
			b.Fatal(err)
		}
		if len(jobs) != 10_000 || len(shards) != 56 {
			b.Fatalf("%d jobs in %d shards", len(jobs), len(shards))
		}
	}
}
