package run

import (
	"encoding/json"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Forecast estimates how long jobs take, from the wall times of others. A job that ran before with another
// seed tells most; then those of its row with the same sizes (parameters that are no real numbers); then those
// of its method and pretext. What was measured since Measure was first called counts before what was recorded
// earlier, maybe on another machine: that is scaled by how the two compare.
type Forecast struct {
	recorded, measured map[string]mean
	// is and was are the seconds of the measured jobs, and what was recorded of the same.
	is, was float64
	all     mean // that was measured
}

// mean is a sum with its count.
type mean struct {
	sum float64
	n   int
}

func (m mean) value() float64 { return m.sum / float64(m.n) }

// NewForecast knows nothing.
func NewForecast() *Forecast {
	return &Forecast{recorded: map[string]mean{}, measured: map[string]mean{}}
}

// kind is what a job is alike with: its setting, its sizes, and its method and pretext, each with the data set.
type kind [3]string

func kindOf(j spec.Job) kind {
	composition := j.DatasetHash + " " + j.Name()
	setting, _ := json.Marshal([]any{j.Eval, j.Method, j.Pretext}) // parameters that were checked: always valid
	sizes, _ := json.Marshal([]any{sizesOf(j.Method), sizesOf(j.Pretext)})
	return kind{composition + string(setting), composition + string(sizes), composition}
}

// sizesOf are the parameters that decide most about the time: how many, and which way.
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

// Recall learns from the results of a plan.
func (f *Forecast) Recall(p *Plan) {
	for _, c := range p.Cells {
		for _, t := range c.results() {
			add(f.recorded, kindOf(t.Job), t.Result.Wall.Seconds())
		}
	}
}

// RecallMeans learns how long runs of any spec took on average.
func (f *Forecast) RecallMeans(recorded map[store.Computation]time.Duration) {
	for c, wall := range recorded {
		j := spec.Job{Job: job.Job{DatasetHash: c.Dataset, Method: job.Part{Name: c.Method}, Pretext: job.Part{Name: c.Pretext}}}
		g := kindOf(j)[2]
		if _, known := f.recorded[g]; !known {
			f.recorded[g] = mean{wall.Seconds(), 1}
		}
	}
}

// Measure learns from a job that has just ended.
func (f *Forecast) Measure(j spec.Job, wall time.Duration) {
	k := kindOf(j)
	if was, ok := lookup(f.recorded, k); ok {
		f.is, f.was = f.is+wall.Seconds(), f.was+was
	}
	add(f.measured, k, wall.Seconds())
	f.all = mean{f.all.sum + wall.Seconds(), f.all.n + 1}
}

// of estimates the wall time of a job in seconds; ok is false where nothing is known of its kind.
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

// Sum estimates the wall times of jobs one after the other, in seconds; ok is false where nothing is known.
func (f *Forecast) Sum(jobs []spec.Job) (seconds float64, ok bool) {
	kinds := map[kind]int{}
	for _, j := range jobs {
		kinds[kindOf(j)]++
	}
	return f.sum(kinds)
}

// sum estimates the wall times of n jobs of each kind one after the other. Those of whose kind nothing is known
// count as the mean of the others, or of all that was measured; ok is false where there is none.
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

// Waiting are jobs like those that follow when the tuning has chosen: of each cell and seed one of the candidates.
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

// inOrder puts one task of each kind first, so that what is left can be estimated early: a kind is what has the
// same sizes, or the same method and pretext where that would be more than a tenth of the tasks.
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
