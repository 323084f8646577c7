package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// BenchmarkLargeStore answers from a store of 100,000 runs of 20 metrics each. The runs are those
// of Table 1 on sports8, with as many seeds as it takes; `ssdl report table1` asks for 1,024 of them
// to tune and 120 to report. Run it with -benchtime=1x: the filling takes longer than the answers.
func BenchmarkLargeStore(b *testing.B) {
	const runs = 100_000
	ctx := context.Background()
	dir := b.TempDir()
	st, err := store.Open(ctx, filepath.Join(dir, "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	set := store.Dataset{Hash: "d0", Name: "sports8", Samples: 1579, Dim: 2048, Classes: 8, Source: "a benchmark"}
	split := store.Split{Hash: "50", Dataset: "d0", Kind: "class", Train: 1105, Labeled: 442, Test: 474}
	s, err := spec.Load("table1")
	if err != nil {
		b.Fatal(err)
	}
	seeds := make([]uint64, 0, 1000)
	for seed := range uint64(1000) {
		seeds = append(seeds, 1000+seed)
	}
	if s, err = s.Select(spec.Filter{Datasets: []string{"sports8"}, Seeds: seeds}); err != nil {
		b.Fatal(err)
	}
	var splits []store.NamedSplit
	for _, seed := range seeds {
		splits = append(splits, store.NamedSplit{Split: split, Asked: store.Asked{How: s.Split.String(), Seed: seed}})
	}
	if err := st.Register(ctx, []store.Dataset{set}, splits); err != nil {
		b.Fatal(err)
	}
	run := store.Run{Status: store.StatusOK, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Env: map[string]string{"arch": "amd64"}, Metrics: map[string]float64{}}
	for i := range 19 {
		run.Metrics[fmt.Sprintf("metric %02d", i)] = 1 / float64(i+3)
	}
	done := map[string]bool{}
	record := func(j spec.Job) {
		j = j.On("d0", "50")
		key := j.Key()
		if len(done) == runs || done[key] {
			return
		}
		done[key] = true
		run.UID, run.Metrics["accuracy"] = store.NewUID(), float64(len(done)%97)/97
		if err := st.Record(ctx, store.Job{Job: j.Job, Dataset: j.Dataset}, run); err != nil {
			b.Fatal(err)
		}
	}
	for _, seed := range seeds { // seed by seed: the first eight are complete
		for _, c := range s.Cells() {
			for i := range c.Candidates {
				for _, j := range s.Jobs(c, i, job.EvalVal, []uint64{seed}) {
					if len(c.Candidates) > 1 {
						record(j)
					}
				}
				for _, j := range s.Jobs(c, i, job.EvalTest, []uint64{seed}) {
					record(j)
				}
			}
		}
	}
	if len(done) != runs {
		b.Fatalf("%d runs", len(done))
	}
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "runs.db")); err == nil {
		b.Logf("%d runs of 20 metrics in %d MB", runs, info.Size()>>20)
	}
	for _, args := range []string{"report table1 -d sports8", "verify table1 -d sports8 --report-only", "explain table1 ssdl sports8", "status"} {
		b.Run(strings.Fields(args)[0], func(b *testing.B) {
			for b.Loop() {
				var stderr strings.Builder
				if code := Main(ctx, nil, append(strings.Fields(args), "--results", dir), nil, io.Discard, &stderr); code != exitOK {
					b.Fatalf("status %d: %s", code, stderr.String())
				}
			}
		})
	}
}
