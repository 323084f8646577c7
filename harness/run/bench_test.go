package run

import (
	"path/filepath"
	"testing"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// BenchmarkOverhead is what a run costs beside the method: planning, claiming, recording. One run at
// a time, on a store in memory-backed temporary files where the system has them.
func BenchmarkOverhead(b *testing.B) {
	const seeds = 500
	dir := b.TempDir()
	writeSet(b, dir, "tiny")
	s, err := spec.Parse("bench.yaml", []byte(`
name: bench
datasets: [tiny]
seeds: 1..500
split: {kind: class, train: 0.7, labels: 0.4}
rows:
  - method: crc
    select: paper
`))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "runs.db"))
		if err != nil {
			b.Fatal(err)
		}
		r := Runner{Store: st, Library: &executor.Library{Roots: []string{dir}}, Jobs: 1}
		start := time.Now()
		p, sum, err := r.Run(b.Context(), s)
		if err != nil || sum.OK != seeds {
			b.Fatalf("%+v, %v", sum, err)
		}
		took := time.Since(start)
		method := time.Duration(0)
		for _, t := range p.Cells[0].Final {
			method += t.Result.Wall
		}
		b.ReportMetric(float64((took-method).Microseconds())/seeds, "µs/run")
		b.ReportMetric(float64(method.Microseconds())/seeds, "µs-of-the-method/run")
		st.Close()
	}
}
