package run

import (
	"fmt"
	"io"
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

// Progress tells a person how far the runs are: a bar with the time left on a terminal,
// plain lines elsewhere. A nil Progress is silent.
type Progress struct {
	out      io.Writer
	terminal bool

	mu     sync.Mutex
	bars   *mpb.Progress
	bar    *mpb.Bar
	total  int
	count  int
	failed int
	start  time.Time
	said   time.Time
	waited map[string]bool // what was said to be waited for
}

// NewProgress writes to out, as a terminal or as lines.
func NewProgress(out io.Writer, terminal bool) *Progress {
	return &Progress{out: out, terminal: terminal}
}

func (p *Progress) begin(total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.count, p.failed = total, 0, 0
	p.start, p.said = time.Now(), time.Now()
	if !p.terminal {
		fmt.Fprintf(p.out, "runs to do: %d\n", total)
		return
	}
	p.bars = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(40))
	p.bar = p.bars.AddBar(int64(total),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d runs ")),
		mpb.AppendDecorators(decor.Percentage(), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncWidth), decor.Name(" left")))
}

// lineEvery is how often lines say where the runs are; failures are said at once.
const lineEvery = 5 * time.Second

func (p *Progress) done(j spec.Job, run store.Run, shown string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	line := fmt.Sprintf("%s: %s in %s", executor.Describe(j), value(run, shown), run.Wall.Round(time.Millisecond))
	if run.Status != store.StatusOK {
		p.failed++
		line = fmt.Sprintf("%s: %s", run.Status, strings.SplitN(run.Error, "\n", 2)[0])
	}
	if p.terminal {
		if run.Status != store.StatusOK {
			fmt.Fprintln(p.bars, line) // scrolls above the bar
		}
		p.bar.Increment()
		return
	}
	if run.Status == store.StatusOK && p.count < p.total && time.Since(p.said) < lineEvery {
		return
	}
	p.said = time.Now()
	fmt.Fprintf(p.out, "%d/%d  %s\n", p.count, p.total, line)
}

// skip counts a job that another process has finished.
func (p *Progress) skip() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if p.terminal {
		p.bar.Increment()
	}
}

// waits says, once, that a job is left to another process.
func (p *Progress) waits(j spec.Job, by string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("waiting for %s: %s", by, executor.Describe(j))
	if p.waited[line] {
		return
	}
	if p.waited == nil {
		p.waited = map[string]bool{}
	}
	p.waited[line] = true
	if p.terminal {
		fmt.Fprintln(p.bars, line) // scrolls above the bar
		return
	}
	fmt.Fprintln(p.out, line)
}

// value is a metric of a run as a line of progress shows it.
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

func (p *Progress) end() {
	if p == nil || !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count < p.total {
		p.bar.Abort(false)
	}
	p.bars.Wait()
}
