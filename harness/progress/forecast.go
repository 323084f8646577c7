package progress

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"ssdl/harness/job"
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

// kind names the groups of similar jobs that a job belongs to, the most similar first.
type kind [4]string

// The groups of a kind. All but the last are of one data set.
const (
	sameSetting = iota
	sameSizes
	sameComposition // of method and pretext
	sameCompositionElsewhere
)

func kindOf(j job.Job) kind {
	composition := j.DatasetHash + " " + j.Name()
	setting, _ := json.Marshal([]any{j.Eval, j.Method, j.Pretext}) // checked parameters can always be encoded
	sizes, _ := json.Marshal([]any{sizesOf(j.Method), sizesOf(j.Pretext)})
	return kind{
		sameSetting:              composition + string(setting),
		sameSizes:                composition + string(sizes),
		sameComposition:          composition,
		sameCompositionElsewhere: j.Name(),
	}
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

// Recall adds the recorded wall time of a job.
func (f *Forecast) Recall(j job.Job, wall time.Duration) { add(f.recorded, kindOf(j), wall.Seconds()) }

// RecallMeans adds the mean wall times of runs of any spec, for computations without other times.
func (f *Forecast) RecallMeans(recorded map[store.Computation]time.Duration) {
	means := map[string]mean{}
	order := func(a, b store.Computation) int {
		return cmp.Or(cmp.Compare(a.Dataset, b.Dataset), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Pretext, b.Pretext))
	}
	for _, c := range slices.SortedFunc(maps.Keys(recorded), order) { // the rounding of sums depends on the order
		k := kindOf(job.Job{DatasetHash: c.Dataset, Method: job.Part{Name: c.Method}, Pretext: job.Part{Name: c.Pretext}})
		for _, g := range k[sameComposition:] {
			means[g] = mean{means[g].sum + recorded[c].Seconds(), means[g].n + 1}
		}
	}
	for g, m := range means {
		if _, known := f.recorded[g]; !known {
			f.recorded[g] = m
		}
	}
}

// Measure adds the wall time of a job that has just ended.
func (f *Forecast) Measure(j job.Job, wall time.Duration) {
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

// Each estimates the wall time of each job in seconds. A job of an unknown kind takes the mean of the other jobs;
// ok is false if no time is known.
func (f *Forecast) Each(jobs []job.Job) (seconds []float64, ok bool) {
	seconds = make([]float64, len(jobs))
	var known mean
	var unknown []int
	for i, j := range jobs {
		if seconds[i], ok = f.of(kindOf(j)); ok {
			known = mean{known.sum + seconds[i], known.n + 1}
		} else {
			unknown = append(unknown, i)
		}
	}
	if known.n == 0 {
		return seconds, false
	}
	for _, i := range unknown {
		seconds[i] = known.value()
	}
	return seconds, true
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

// KindsFirst puts one item of each kind first, so that the remaining time can be estimated early. A kind has
// the same sizes, or the same method and pretext if the former are more than a tenth of the items.
func KindsFirst[T any](items []T, of func(T) job.Job) []T {
	for level := sameSizes; level <= sameComposition; level++ {
		seen := map[string]bool{}
		var first, rest []T
		for _, item := range items {
			if g := kindOf(of(item))[level]; !seen[g] {
				seen[g] = true
				first = append(first, item)
				continue
			}
			rest = append(rest, item)
		}
		if 10*len(first) <= len(items) {
			return append(first, rest...)
		}
	}
	return items
}
