package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/progress"
	"ssdl/harness/run"
)

// planned is a job of method m on data d under a seed.
func planned(m, d string, seed uint64, lambda float64) run.PlannedJob {
	j := job.Job{
		DatasetHash: d, SplitHash: fmt.Sprint(d, seed), Seed: seed, Eval: job.EvalTest, Protocol: job.Protocol,
		Method: job.Part{Name: m, Version: 1, Params: map[string]any{"lambda": lambda}},
	}
	return run.PlannedJob{Key: j.Key(), Dataset: d, Job: j}
}

// grid makes per jobs for each seed on two data sets, in the order of a plan: row by row.
func grid(seeds, per int) []run.PlannedJob {
	var out []run.PlannedJob
	for i := range per {
		for _, d := range []string{"d0", "d1"} {
			for seed := range seeds {
				out = append(out, planned("crc", d, uint64(seed), float64(i)))
			}
		}
	}
	return out
}

// As many shards as asked for, although the last job takes nearly all the time.
func TestCutGivesEachShardAJob(t *testing.T) {
	forecast := progress.NewForecast()
	var jobs []run.PlannedJob
	for i, m := range []string{"a", "b", "c", "d"} {
		j := planned(m, "d0", 1, 0)
		forecast.Recall(j.Job, []time.Duration{time.Second, time.Second, time.Second, 97 * time.Second}[i])
		jobs = append(jobs, j)
	}
	for n, want := range map[int]int{1: 1, 3: 3, 4: 4, 9: 4} {
		if _, shards := Cut(jobs, forecast, 1, Size{Shards: n}); len(shards) != want || slices.ContainsFunc(shards, func(s Shard) bool { return len(s.Jobs) == 0 }) {
			t.Errorf("%d shards asked for: %+v, want %d", n, shards, want)
		}
	}
}

// spans counts the groups of data set and seed of each shard.
func spans(jobs []run.PlannedJob, shards []Shard) (groups []int) {
	for _, s := range shards {
		seen := map[group]bool{}
		for _, j := range jobs[:len(s.Jobs)] {
			seen[groupOf(j)] = true
		}
		groups = append(groups, len(seen))
		jobs = jobs[len(s.Jobs):]
	}
	return groups
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		name       string
		seeds, per int
		size       Size
		parallel   int
		shards     int
		groups     int // of each shard, at most
		longest    float64
	}{
		{"one for each group", 4, 10, Size{Shards: 8}, 1, 8, 1, 600},
		{"some groups in each", 4, 10, Size{Shards: 4}, 1, 4, 2, 1200},
		{"a part of a group in each", 4, 10, Size{Shards: 16}, 1, 16, 1, 300},
		{"by time", 4, 10, Size{Wall: 10 * time.Minute}, 1, 8, 1, 600},
		{"by time, some at once", 4, 10, Size{Wall: 10 * time.Minute}, 2, 4, 2, 600},
		{"shorter than a run", 2, 2, Size{Wall: time.Second}, 1, 8, 1, 60},
		{"more than there are jobs", 1, 2, Size{Shards: 100}, 1, 4, 1, 60},
		{"groups that do not fit evenly", 3, 7, Size{Shards: 5}, 1, 5, 2, 14 * 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			jobs := grid(tc.seeds, tc.per)
			ordered, shards := Cut(jobs, progress.NewForecast(), tc.parallel, tc.size)
			if len(shards) != tc.shards {
				t.Errorf("%d shards, want %d", len(shards), tc.shards)
			}
			for k, n := range spans(ordered, shards) {
				if n > tc.groups {
					t.Errorf("shard %d has jobs of %d groups, want at most %d", k+1, n, tc.groups)
				}
			}
			var keys, want []string
			for _, s := range shards {
				keys = append(keys, s.Jobs...)
				if len(s.Jobs) == 0 || s.Seconds > tc.longest {
					t.Errorf("a shard of %d jobs takes %v s, want at most %v", len(s.Jobs), s.Seconds, tc.longest)
				}
			}
			for _, j := range jobs {
				want = append(want, j.Key)
			}
			slices.Sort(keys)
			slices.Sort(want)
			if !slices.Equal(keys, want) {
				t.Error("the shards do not have each job once")
			}
		})
	}
}
