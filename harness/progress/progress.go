// Package progress shows how much of a batch of runs is done, and estimates how long the rest takes.
package progress

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"ssdl/harness/executor"
	"ssdl/harness/metric"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Display shows how many runs are done, what runs now and how much time is left: a bar on a terminal, plain
// lines elsewhere. A nil Display is silent.
//
// The bar locks mu when it draws itself. So no method may call the bar while it holds mu: the two would wait for
// each other.
type Display struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	mu       sync.Mutex
	forecast *Forecast
	waiting  map[kind]int // jobs that have not begun, of the batch and after it
	running  []underway
	jobs     int // at once
	bars     *mpb.Progress
	bar      *mpb.Bar
	total    int
	count    int
	said     time.Time       // time of the last line
	quiet    chan struct{}   // closed at the end of a batch
	waited   map[string]bool // lines of waits
}

// underway is a job that runs.
type underway struct {
	job   spec.Job
	since time.Time
}

// New returns a Display that writes to out.
func New(out io.Writer, terminal bool) *Display {
	return &Display{out: out, terminal: terminal, now: time.Now}
}

// Begin starts a batch of todo with so many jobs at once; later are jobs like those that follow it.
func (p *Display) Begin(todo, later []spec.Job, forecast *Forecast, jobs int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forecast, p.jobs, p.waiting, p.running = forecast, jobs, map[kind]int{}, nil
	for _, j := range later {
		p.waiting[kindOf(j.Job)]++
	}
	for _, j := range todo {
		p.waiting[kindOf(j.Job)]++
	}
	p.total, p.count, p.said = len(todo), 0, p.now()
	p.quiet = make(chan struct{})
	if !p.terminal {
		fmt.Fprintf(p.out, "runs to do: %d\n", p.total)
		go p.speak(p.quiet)
		return
	}
	// WithAutoRefresh: the caller knows that out is a terminal.
	p.bars = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(30), mpb.WithAutoRefresh())
	p.bar = p.bars.AddBar(int64(p.total),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d runs ")),
		mpb.AppendDecorators(decor.Percentage(), decor.Any(func(decor.Statistics) string {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.state()
		})))
}

// lineEvery is the least time between lines of finished runs, quietEvery between lines while no run ends. Failures
// are printed at once.
const (
	lineEvery  = 5 * time.Second
	quietEvery = time.Minute
)

// speak prints what runs while no run ends.
func (p *Display) speak(quiet <-chan struct{}) {
	tick := time.NewTicker(lineEvery)
	defer tick.Stop()
	for {
		select {
		case <-quiet:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		if len(p.running) > 0 && p.now().Sub(p.said) >= quietEvery {
			p.said = p.now()
			fmt.Fprintf(p.out, "%d/%d%s\n", p.count, p.total, p.state())
		}
		p.mu.Unlock()
	}
}

// state is the text of the time left and of what runs now.
func (p *Display) state() string {
	s := ""
	if left, ok := p.left(); ok {
		s = "  about " + roughly(left) + " left"
	}
	if len(p.running) > 0 {
		s += "  now " + executor.Describe(p.running[0].job)
		if n := len(p.running) - 1; n > 0 {
			s += fmt.Sprintf(" and %d more", n)
		}
	}
	return s
}

// left estimates the time until all waiting and running jobs have ended.
func (p *Display) left() (time.Duration, bool) {
	jobs := maps.Clone(p.waiting)
	done, longest := 0.0, 0.0
	for _, r := range p.running {
		jobs[kindOf(r.job.Job)]++
		since := p.now().Sub(r.since).Seconds()
		if whole, ok := p.forecast.sum(map[kind]int{kindOf(r.job.Job): 1}); ok {
			done += min(since, whole)
			longest = max(longest, whole-since)
		}
	}
	seconds, ok := p.forecast.sum(jobs)
	if !ok || p.jobs < 1 {
		return 0, false
	}
	n := 0
	for _, of := range jobs {
		n += of
	}
	return time.Duration(max(longest, (seconds-done)/float64(max(1, min(p.jobs, n))), 0) * float64(time.Second)), true
}

// roughly formats a duration with two digits at most.
func roughly(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	case d < 100*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// Started moves a job from waiting to running.
func (p *Display) Started(j spec.Job) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[kindOf(j.Job)]--
	p.running = append(p.running, underway{j, p.now()})
}

// Done counts a job that has ended; shown is the metric that its line has.
func (p *Display) Done(j spec.Job, run store.Run, shown string) {
	if p == nil {
		return
	}
	ok := run.Status == store.StatusOK
	line := fmt.Sprintf("%s: %s in %s", executor.Describe(j), value(run, shown), run.Wall.Round(time.Millisecond))
	if !ok {
		line = fmt.Sprintf("%s: %s", run.Status, strings.SplitN(run.Error, "\n", 2)[0])
	}
	p.ended(j, ok, run.Wall, line)
	if p.terminal {
		if !ok {
			fmt.Fprintln(p.bars, line) // scrolls above the bar
		}
		p.bar.Increment()
	}
}

// ended counts a job, and prints the line if it is time for one.
func (p *Display) ended(j spec.Job, ok bool, wall time.Duration, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	key := j.Key()
	p.running = slices.DeleteFunc(p.running, func(r underway) bool { return r.job.Key() == key })
	if ok {
		p.forecast.Measure(j.Job, wall)
	}
	if p.terminal || ok && p.count < p.total && p.now().Sub(p.said) < lineEvery {
		return
	}
	p.said = p.now()
	if p.count < p.total {
		line += p.state()
	}
	fmt.Fprintf(p.out, "%d/%d  %s\n", p.count, p.total, line)
}

// Skip counts a job that another process has finished.
func (p *Display) Skip(j spec.Job) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.waiting[kindOf(j.Job)]--
	p.count++
	p.mu.Unlock()
	if p.terminal {
		p.bar.Increment()
	}
}

// Wait prints, once, that this process waits for another one to finish a job.
func (p *Display) Wait(j spec.Job, by string) {
	if p == nil {
		return
	}
	line := fmt.Sprintf("waiting for %s: %s", by, executor.Describe(j))
	p.mu.Lock()
	said := p.waited[line]
	if p.waited == nil {
		p.waited = map[string]bool{}
	}
	p.waited[line] = true
	if !said && !p.terminal {
		fmt.Fprintln(p.out, line)
	}
	p.mu.Unlock()
	if !said && p.terminal {
		fmt.Fprintln(p.bars, line) // scrolls above the bar
	}
}

// value formats a metric of a run for a line of progress.
func value(run store.Run, name string) string {
	m, known := metric.Lookup(name)
	v, ok := run.Metrics[name]
	switch {
	case !ok || !known:
		return string(run.Status)
	case m.Unit == "":
		return fmt.Sprintf("%s %.*f", m.Name, m.Decimals, v)
	}
	return fmt.Sprintf("%.*f %s", m.Decimals, m.Shown(v), m.Unit)
}

// End ends the batch.
func (p *Display) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	close(p.quiet)
	all := p.count >= p.total
	p.mu.Unlock()
	if !p.terminal {
		return
	}
	if !all {
		p.bar.Abort(false)
	}
	p.bars.Wait()
}
