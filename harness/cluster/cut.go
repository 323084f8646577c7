package cluster

import (
	"math"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/progress"
	"ssdl/harness/run"
)

// unknownSeconds is the estimated wall time of a run if the store has no runs.
const unknownSeconds = 60

// Size is the number of shards, or the target wall time of each; the other is 0.
type Size struct {
	Shards int
	Wall   time.Duration
}

// group is the jobs that can share stages.
type group struct {
	dataset string
	seed    uint64
}

// Cut orders jobs by data set and seed and cuts them into shards that take about equally long, each with
// parallel runs at once. Where a group of data set and seed ends near the end of a shard, the shard ends with it.
// Each of the Shards of size has a job, if there are as many jobs.
func Cut(jobs []run.PlannedJob, forecast *progress.Forecast, parallel int, size Size) ([]run.PlannedJob, []Shard) {
	ordered := byGroup(jobs)
	asked := make([]job.Job, len(ordered))
	for i, j := range ordered {
		asked[i] = j.Job
	}
	seconds, known := forecast.Each(asked)
	left := 0.0
	for i := range seconds {
		if !known {
			seconds[i] = unknownSeconds
		}
		seconds[i] = max(seconds[i], 1e-3)
		left += seconds[i]
	}
	n := size.Shards
	if n == 0 {
		n = int(math.Ceil(left / size.Wall.Seconds() / float64(parallel)))
	}
	n = min(max(n, 1), len(ordered))
	var shards []Shard
	var now Shard
	sum, longest := 0.0, 0.0
	for i, j := range ordered {
		now.Jobs = append(now.Jobs, j.Key)
		sum += seconds[i]
		longest = max(longest, seconds[i])
		rest, after := len(ordered)-(i+1), n-(len(shards)+1) // jobs and shards to come
		needed := size.Shards > 0 && rest == after           // each shard that was asked for gets a job
		if rest > 0 && (after == 0 || !needed && !ends(ordered, seconds, i, sum, left/float64(after+1))) {
			continue
		}
		now.Seconds = max(sum/float64(parallel), longest)
		shards = append(shards, now)
		left -= sum
		now, sum, longest = Shard{}, 0, 0
	}
	return ordered, shards
}

// near is the share of its target time by which a shard may be shorter or longer to end with a group.
const near = 0.25

// ends reports whether a shard that has taken sum seconds should end after job i.
func ends(jobs []run.PlannedJob, seconds []float64, i int, sum, target float64) bool {
	if groupOf(jobs[i]) != groupOf(jobs[i+1]) {
		return sum >= (1-near)*target
	}
	if sum < target {
		return false
	}
	for k := i + 1; k < len(jobs) && groupOf(jobs[k]) == groupOf(jobs[i]); k++ {
		if sum += seconds[k]; sum > (1+near)*target {
			return true
		}
	}
	return false
}

func groupOf(j run.PlannedJob) group { return group{j.Job.DatasetHash, j.Job.Seed} }

// byGroup puts the jobs of a group together, and keeps the order of groups and jobs.
func byGroup(jobs []run.PlannedJob) []run.PlannedJob {
	of := map[group][]run.PlannedJob{}
	var order []group
	for _, j := range jobs {
		g := groupOf(j)
		if of[g] == nil {
			order = append(order, g)
		}
		of[g] = append(of[g], j)
	}
	out := make([]run.PlannedJob, 0, len(jobs))
	for _, g := range order {
		out = append(out, of[g]...)
	}
	return out
}
