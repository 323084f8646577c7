package features

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress shows how many images are done: a bar with the remaining time on a terminal, otherwise
// lines. A nil Progress is silent.
type Progress struct {
	out         io.Writer
	terminal    bool
	bars        *mpb.Progress
	bar         *mpb.Bar
	total, done int
	start       time.Time
	lastLine    time.Time
}

// NewProgress makes a Progress that writes to out.
func NewProgress(out io.Writer, terminal bool) *Progress {
	return &Progress{out: out, terminal: terminal}
}

// lineEvery is the time between two lines.
const lineEvery = 5 * time.Second

func (p *Progress) begin(total int) {
	if p == nil || total == 0 {
		return
	}
	p.total, p.done = total, 0
	p.start, p.lastLine = time.Now(), time.Now()
	if !p.terminal {
		fmt.Fprintf(p.out, "%d images to do\n", total)
		return
	}
	p.bars = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(40))
	p.bar = p.bars.AddBar(int64(total),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d images ")),
		mpb.AppendDecorators(decor.Percentage(), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncWidth), decor.Name(" left")))
}

// step counts one image.
func (p *Progress) step() {
	if p == nil {
		return
	}
	p.done++
	if p.terminal {
		p.bar.Increment()
		return
	}
	if time.Since(p.lastLine) < lineEvery {
		return
	}
	p.lastLine = time.Now()
	elapsed := time.Since(p.start)
	left := time.Duration(float64(elapsed) / float64(p.done) * float64(p.total-p.done))
	fmt.Fprintf(p.out, "%d/%d images, %.1f per second, %s left\n", p.done, p.total, float64(p.done)/elapsed.Seconds(), left.Round(time.Second))
}

// note prints a line at once, above the bar on a terminal.
func (p *Progress) note(format string, args ...any) {
	switch {
	case p == nil:
	case p.bars != nil:
		fmt.Fprintf(p.bars, format+"\n", args...)
	default:
		fmt.Fprintf(p.out, format+"\n", args...)
	}
}

func (p *Progress) end() {
	if p == nil || p.bars == nil {
		return
	}
	if p.done < p.total {
		p.bar.Abort(false)
	}
	p.bars.Wait()
}
