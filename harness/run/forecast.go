package run

import (
	"encoding/json"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Forecast estimates the wall times of jobs from those of other jobs: those of the same setting under another
// seed, or else those with the same sizes (parameters that are not real numbers), or else those of the same
// method and pretext. Wall times given to Measure go first. Recorded ones may be from another machine, so they
// are scaled by the ratio of measured to recorded times.
type Forecast struct {
	recorded, measured map[string]mean
	// is and was are sums over the measured jobs with a recorded time: the measured and the recorded seconds.
	is, was float64
	all     mean // of all measured jobs
}

// mean is a sum with its count.
type mean struct {
	sum float64
	n   int
}

func (m mean) value() float64 { return m.sum / float64(m.n) }

// NewForecast returns a Forecast without any wall times.
func NewForecast() *Forecast {
	return &Forecast{recorded: map[string]mean{}, measured: map[string]mean{}}
}

// kind names the groups of similar jobs that a job belongs to, the most similar first: same setting, same sizes,
// same method and pretext, each on one data set.
type kind [3]string

func kindOf(j spec.Job) kind {
	composition := j.DatasetHash + " " + j.Name()
	setting, _ := json.Marshal([]any{j.Eval, j.Method, j.Pretext}) // checked parameters can always be encoded
	sizes, _ := json.Marshal([]any{sizesOf(j.Method), sizesOf(j.Pretext)})
	return kind{composition + string(setting), composition + string(sizes), composition}
}

// sizesOf are the parameters that decide most about the time: numbers of things, and choices.
func sizesOf(p job.Part) map[string]any {
	sizes := map[string]any{}
	for name, v := range p.Params {
		if _, real := v.(float64); !real {
			sizes[name] = v
		}
	}
	return sizes
}

func add(to map[string]mean, k kind, seconds float64) {
	for _, g := range k {
		m := to[g]
		to[g] = mean{m.sum + seconds, m.n + 1}
	}
}

// Recall adds the wall times of the results of a plan.
func (f *Forecast) Recall(p *Plan) {
	for _, c := range p.Cells {
		for _, t := range c.results() {
			add(f.recorded, kindOf(t.Job), t.Result.Wall.Seconds())
		}
	}
}

// RecallMeans adds the mean wall times of runs of any spec, for computations without other times.
func (f *Forecast) RecallMeans(recorded map[store.Computation]time.Duration) {
	for c, wall := range recorded {
		j := spec.Job{Job: job.Job{DatasetHash: c.Dataset, Method: job.Part{Name: c.Method}, Pretext: job.Part{Name: c.Pretext}}}
		g := kindOf(j)[2]
		if _, known := f.recorded[g]; !known {
			f.recorded[g] = mean{wall.Seconds(), 1}
		}
	}
}

// Measure adds the wall time of a job that has just ended.
func (f *Forecast) Measure(j spec.Job, wall time.Duration) {
	k := kindOf(j)
	if was, ok := lookup(f.recorded, k); ok {
		f.is, f.was = f.is+wall.Seconds(), f.was+was
	}
	add(f.measured, k, wall.Seconds())
	f.all = mean{f.all.sum + wall.Seconds(), f.all.n + 1}
}

// of estimates the wall time of a job in seconds; ok is false if no time of its kind is known.
func (f *Forecast) of(k kind) (seconds float64, ok bool) {
	if seconds, ok = lookup(f.measured, k); ok {
		return seconds, true
	}
	if seconds, ok = lookup(f.recorded, k); ok && f.was > 0 {
		seconds *= f.is / f.was
	}
	return seconds, ok
}

func lookup(in map[string]mean, k kind) (seconds float64, ok bool) {
	for _, g := range k {
		if m := in[g]; m.n > 0 {
			return m.value(), true
		}
	}
	return 0, false
}

// Sum estimates the sum of the wall times of jobs, in seconds; ok is false if no time is known.
func (f *Forecast) Sum(jobs []spec.Job) (seconds float64, ok bool) {
	kinds := map[kind]int{}
	for _, j := range jobs {
		kinds[kindOf(j)]++
	}
	return f.sum(kinds)
}

// sum estimates the sum of the wall times of a number of jobs of each kind, in seconds. A job of an unknown kind
// takes the mean of the other jobs, or else of all measured ones; ok is false if there is neither.
func (f *Forecast) sum(jobs map[kind]int) (seconds float64, ok bool) {
	known, all := 0, 0
	for k, n := range jobs {
		all += n
		if s, ok := f.of(k); ok {
			seconds, known = seconds+s*float64(n), known+n
		}
	}
	switch {
	case known == 0 && f.all.n > 0:
		return f.all.value() * float64(all), true
	case known == 0:
		return 0, all == 0
	}
	return seconds / float64(known) * float64(all), true
}

// Waiting lists jobs like the final ones of cells whose tuning is unfinished: one candidate for each seed.
func (p *Plan) Waiting() []spec.Job {
	var jobs []spec.Job
	for _, c := range p.Cells {
		if c.Final != nil || c.Err != nil || c.Excluded != "" || len(c.Tuning) == 0 {
			continue
		}
		like := c.Tuning[len(c.Tuning)/2]
		for i := range p.Spec.Seeds {
			jobs = append(jobs, like[i%len(like)].Job)
		}
	}
	return jobs
}

// inOrder puts one task of each kind first, so that the remaining time can be estimated early. A kind has the
// same sizes, or the same method and pretext if the former are more than a tenth of the tasks.
func inOrder(todo []*Task) []*Task {
	for _, level := range []int{1, 2} {
		seen := map[string]bool{}
		var first, rest []*Task
		for _, t := range todo {
			if g := kindOf(t.Job)[level]; !seen[g] {
				seen[g] = true
				first = append(first, t)
				continue
			}
			rest = append(rest, t)
		}
		if 10*len(first) <= len(todo) {
			return append(first, rest...)
		}
	}
	return todo
}
