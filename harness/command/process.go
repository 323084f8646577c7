package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// process is a program to start in a folder.
type process struct {
	path string // absolute
	args []string
	dir  string
	// given is the size of the folder before the program starts, in bytes.
	given int64
}

// A program is watched every watchPause: its folder and its memory. The memory of the processes that it started
// is measured every groupEvery times only, since that reads all processes.
const (
	watchPause = 50 * time.Millisecond
	groupEvery = 5
)

// start runs a program to its end, and then kills the processes that it started. The error is a *Fault or
// that of ctx.
func (r Runner) start(ctx context.Context, p process, record *Record) error {
	record.Confined = r.confinement()
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	path, args := p.path, p.args
	if r.confines() {
		rules, err := json.Marshal(confinementRules{p.dir, p.path, r.Memory, r.written() + p.given})
		if err != nil {
			return err
		}
		path, args = r.Self[0], append(append(append([]string{}, r.Self[1:]...), string(rules), p.path), p.args...)
	}
	cmd := exec.CommandContext(wctx, path, args...)
	cmd.Dir, cmd.Env = p.dir, environment(p)
	printed := &budget{left: r.printed(), full: func() {
		stop(fault(Printed, "it printed more than %d MiB", r.printed()>>20))
	}}
	out, errs := &tail{of: printed}, &tail{of: printed}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	if err := cmd.Start(); err != nil {
		return fault(Missing, "it cannot be started: %v", err)
	}
	watched := make(chan int64, 1)
	go func() { watched <- r.watch(wctx, stop, cmd.Process.Pid, p) }()
	awaitEnd(cmd.Process.Pid)
	killGroup(cmd.Process.Pid)
	err := cmd.Wait()
	cause := context.Cause(wctx)
	stop(nil)
	record.Peak = <-watched
	record.Stdout, record.Stderr = out.String(), errs.String()
	if s := cmd.ProcessState; s != nil {
		record.CPU = s.UserTime() + s.SystemTime()
	}
	if f := (*Fault)(nil); errors.As(cause, &f) {
		return f
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if n := folderSize(p.dir); n > r.written()+p.given {
		return r.wroteTooMuch()
	}
	if err != nil {
		return r.ended(err, record, cmd)
	}
	return nil
}

// ended is the error of a program that failed.
func (r Runner) ended(err error, record *Record, cmd *exec.Cmd) error {
	if errors.Is(err, exec.ErrWaitDelay) {
		return fault(Crashed, "it ended, but a process that it started still holds its output open. Wait for its end, or let it print elsewhere")
	}
	text := strings.ToLower(record.Stderr)
	if r.Memory > 0 {
		for _, sign := range []string{"memoryerror", "out of memory", "cannot allocate", "bad_alloc"} {
			if strings.Contains(text, sign) {
				return r.tooLarge()
			}
		}
	}
	last := lastLine(record.Stderr)
	if last != "" {
		last = ": " + last
	}
	if record.Confined != Unconfined && strings.Contains(text, "permission denied") {
		last += ". It reads only the system, its files and its folder; a program elsewhere, such as a shim of a version manager, is named by its own path"
	}
	if s := cmd.ProcessState; s != nil {
		return fault(Crashed, "%v%s", s, last)
	}
	return fault(Crashed, "%v%s", err, last)
}

func (r Runner) tooLarge() *Fault {
	return fault(OutOfMemory, "it needs more than the %.1f GiB that --memory allows", float64(r.Memory)/(1<<30))
}

func (r Runner) wroteTooMuch() *Fault {
	return fault(Written, "it wrote more than %d MiB into its folder", r.written()>>20)
}

// watch stops a program whose folder or memory grows beyond its bound, until ctx is done. It returns the
// largest measured memory in bytes.
func (r Runner) watch(ctx context.Context, stop context.CancelCauseFunc, pid int, p process) (peak int64) {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return peak
		case <-tick.C:
		}
		if folderSize(p.dir) > r.written()+p.given {
			stop(r.wroteTooMuch())
		}
		held := processMemory(pid)
		if n%groupEvery == 0 {
			held = groupMemory(pid)
		}
		if peak = max(peak, held); r.Memory > 0 && held > r.Memory {
			stop(r.tooLarge())
		}
	}
}

// folderSize is the size of all files of a folder in bytes.
func folderSize(dir string) (bytes int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil // a file that was removed meanwhile has no bytes
	})
	return bytes
}

// environment is the environment of a program, without that of ssdl. Its variables bound the threads of the
// usual libraries, and make Python hash equally in each call.
func environment(p process) []string {
	temp := filepath.Join(p.dir, tempFolder)
	env := []string{
		"PATH=" + strings.Join([]string{filepath.Dir(p.path), "/usr/local/bin", "/usr/bin", "/bin"}, string(os.PathListSeparator)),
		"HOME=" + temp, "TMPDIR=" + temp, "LC_ALL=C.UTF-8", "TZ=UTC", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
	}
	for _, name := range []string{"OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "JULIA", "RAYON"} {
		env = append(env, fmt.Sprintf("%s_NUM_THREADS=%d", name, threads))
	}
	env = append(env, fmt.Sprintf("VECLIB_MAXIMUM_THREADS=%d", threads))
	if root := os.Getenv("SystemRoot"); root != "" { // Windows starts nothing without it
		env = append(env, "SystemRoot="+root)
	}
	return env
}

// budget bounds the bytes of several writers together.
type budget struct {
	mu   sync.Mutex
	left int64
	full func()
}

func (b *budget) take(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left -= int64(n); b.left < 0 {
		b.full()
	}
}

// kept is how many bytes of each output of a program are kept.
const kept = 64 << 10

// tail keeps the last bytes that are written to it.
type tail struct {
	of  *budget
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.of.take(len(p))
	t.buf.Write(p)
	if over := t.buf.Len() - kept; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

// String is the kept bytes as UTF-8.
func (t *tail) String() string { return strings.ToValidUTF8(t.buf.String(), "\uFFFD") }

// lastLine is the last line of a text, cut to 300 characters.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if r := []rune(last); len(r) > 300 {
		last = string(r[:300]) + "..."
	}
	return last
}
