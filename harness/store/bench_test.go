package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkRecord writes runs of 20 metrics, 50 points and 474 predictions one by one.
func BenchmarkRecord(b *testing.B) {
	s := newStore(b, filepath.Join(b.TempDir(), "runs.db"))
	run := benchRun()
	run.Wall = time.Millisecond
	seed := uint64(0)
	for b.Loop() {
		run.UID = NewUID()
		if err := s.Record(b.Context(), newJob("m", seed, 1), run); err != nil {
			b.Fatal(err)
		}
		seed++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkRecord16 is BenchmarkRecord with 16 writers at once.
func BenchmarkRecord16(b *testing.B) {
	s := newStore(b, filepath.Join(b.TempDir(), "runs.db"))
	var seed atomic.Uint64
	b.SetParallelism((16 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		run := benchRun()
		for pb.Next() {
			run.UID = NewUID()
			if err := s.Record(b.Context(), newJob("m", seed.Add(1), 1), run); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkFinished reads, and so checks, the results of 100,000 jobs of 20 metrics each, which must take less than a
// second; beside it what else is done with as many runs. Run it with -benchtime=1x: the
// filling takes longer than the reading.
func BenchmarkFinished(b *testing.B) {
	const jobs = 100_000
	s := newStore(b, filepath.Join(b.TempDir(), "runs.db"))
	run := benchRun()
	run.Series = nil
	run.Wall = time.Millisecond // nothing waits for the disk
	keys, uids := make([]string, jobs), make([]string, jobs)
	filling := time.Now()
	for i := range jobs {
		j := newJob("m", uint64(i), 1)
		keys[i], uids[i] = j.Key(), NewUID()
		run.UID = uids[i]
		if err := s.Record(b.Context(), j, run); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("filled with %d runs in %v", jobs, time.Since(filling))
	for name, metrics := range map[string][]string{"Finished/all": nil, "Finished/one": {"metric 07"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				got, err := s.Finished(b.Context(), keys, metrics...)
				last := got[keys[jobs-1]]
				if err != nil || len(got) != jobs || last.Fault != nil || metrics == nil && len(last.Metrics) != 20 || metrics != nil && len(last.Metrics) != 1 {
					b.Fatal(len(got), err)
				}
			}
		})
	}
	b.Run("State", func(b *testing.B) {
		for b.Loop() {
			got, err := s.State(b.Context(), keys)
			if err != nil || len(got) != jobs || got[jobs-1].UID == "" {
				b.Fatal(len(got), err)
			}
		}
	})
	b.Run("Predictions", func(b *testing.B) {
		for b.Loop() {
			got, err := s.Predictions(b.Context(), uids)
			if err != nil || len(got) != jobs || got[uids[jobs-1]].Fault != nil || len(got[uids[0]].Truth) == 0 {
				b.Fatal(len(got), err)
			}
		}
	})
	b.Run("Check", func(b *testing.B) {
		for b.Loop() {
			got, err := s.Check(b.Context(), nil, nil)
			if err != nil || got.Runs != jobs || len(got.Faults) > 0 {
				b.Fatalf("%+v, %v", got, err)
			}
		}
	})
}

func benchRun() Run {
	r := newRun(start)
	r.Metrics, r.Series, r.Predictions, r.Truth = map[string]float64{}, nil, nil, nil
	for i := range 20 {
		r.Metrics[fmt.Sprintf("metric %02d", i)] = 1 / float64(i+3)
	}
	for i := range 50 {
		r.Series = append(r.Series, Point{"objective", i, 1 / float64(i+1)})
	}
	for i := range 474 {
		r.Predictions = append(r.Predictions, i%8)
		r.Truth = append(r.Truth, i%7)
	}
	return r
}
