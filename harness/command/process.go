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

// process is a program that is started in a folder.
type process struct {
	path string // absolute
	args []string
	dir  string
	// given is how many bytes the folder has before the program starts.
	given int64
}

// watchPause is the time between two looks at the folder and the memory of a program; at what it started
// it is groupLooks times as long, since all processes are looked at for these.
const (
	watchPause = 50 * time.Millisecond
	groupLooks = 5
)

// start runs a program to its end, and everything that it started with it. The error is a *Fault, or
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
	printed := &shared{left: r.printed(), full: func() {
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
	awaitEnd(cmd.Process.Pid) // what it started ends with it
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

// ended tells how a program ended that did not go well.
func (r Runner) ended(err error, record *Record, cmd *exec.Cmd) error {
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

// watch stops a program whose folder or memory grows beyond the bounds, until ctx is done. It returns the
// memory that the program was seen to hold at most, in bytes.
func (r Runner) watch(ctx context.Context, stop context.CancelCauseFunc, pid int, p process) (peak int64) {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for look := 1; ; look++ {
		select {
		case <-ctx.Done():
			return peak
		case <-tick.C:
		}
		if folderSize(p.dir) > r.written()+p.given {
			stop(r.wroteTooMuch())
		}
		held := processMemory(pid)
		if look%groupLooks == 0 {
			held = groupMemory(pid)
		}
		if peak = max(peak, held); r.Memory > 0 && held > r.Memory {
			stop(r.tooLarge())
		}
	}
}

// folderSize is how many bytes the files of a folder have.
func folderSize(dir string) (bytes int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil // what is gone by now has no bytes
	})
	return bytes
}

// environment is that of a program: nothing of ours but what the system needs. The variables bound the
// threads of the usual libraries, and keep Python from what differs between two calls.
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

// shared bounds what several writers take together.
type shared struct {
	mu   sync.Mutex
	left int64
	full func()
}

func (s *shared) take(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left -= int64(n); s.left < 0 {
		s.full()
	}
}

// kept is how much of what a program prints is kept, in bytes.
const kept = 64 << 10

// tail keeps the last bytes that are written to it.
type tail struct {
	of  *shared
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

// String is what was kept, as text.
func (t *tail) String() string { return strings.ToValidUTF8(t.buf.String(), "\uFFFD") }

// lastLine is the last line of a text that is not empty, cut to what fits into an error.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if r := []rune(last); len(r) > 300 {
		last = string(r[:300]) + "..."
	}
	return last
}
