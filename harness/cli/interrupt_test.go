package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ssdl/harness/run"
)

// The first Ctrl-C cancels; for a finishing verb it only asks to stop, and the second cancels.
func TestInterrupts(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signal os.Signal
		finish bool
	}{{os.Interrupt, false}, {os.Interrupt, true}, {syscall.SIGTERM, true}, {syscall.SIGHUP, false}, {syscall.SIGHUP, true}} {
		if signal.Ignored(c.signal) { // by nohup
			continue
		}
		finish := c.finish
		strike := func() {
			if err := self.Signal(c.signal); err != nil {
				t.Skip("this system has no signals: ", err)
			}
		}
		var said bytes.Buffer
		ctx, stop, cleanup := interrupts(t.Context(), finish, &said)
		strike()
		if finish {
			select {
			case <-stop:
			case <-time.After(time.Minute):
				t.Fatalf("the first %v does not stop", c.signal)
			}
			if ctx.Err() != nil || !strings.Contains(said.String(), "interrupt again to stop them") {
				t.Errorf("after the first signal: %v, %q", ctx.Err(), &said)
			}
			strike()
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Fatalf("finish %v: %v does not cancel", finish, c.signal)
		}
		if run.Stopped(stop) != finish {
			t.Errorf("finish %v: told to finish: %v", finish, run.Stopped(stop))
		}
		cleanup()
	}
}

func TestFinishingVerbsExist(t *testing.T) {
	for _, verb := range finishing {
		if !slices.Contains(slices.Collect(maps.Keys(flagsOf(t))), verb) {
			t.Errorf("there is no verb %q", verb)
		}
	}
}

// A verb without runs ends at the first signal. The child is stopped when it has described the
// first of three data sets; the others take half a second.
func TestOneSignalStopsVerbsWithoutRuns(t *testing.T) {
	s := stress{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.dir, "tiny.csv"), tinySet(), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := s.command("data", "stats", "./tiny.csv", "synth8", "synth40", "--results", "r")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatalf("it prints nothing: %v, %s", err, &stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip("this system has no signals: ", err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || stderr.String() != "ssdl: interrupted\n" || bytes.Contains(text, []byte("synth40")) {
		t.Errorf("it ends with %d: %s%s", code, text, &stderr)
	}
}

// cancelling is a writer that cancels once something is written.
type cancelling struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (c *cancelling) Write(b []byte) (int, error) {
	c.cancel()
	return c.Buffer.Write(b)
}

// An interrupted check ends with the status of an interrupt, not of success or failure.
func TestInterruptedCheck(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, "data"), 0o755),
		os.WriteFile(filepath.Join(dir, "data/tiny.csv"), tinySet(), 0o644),
		os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(spec8), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := inside(t, dir, "run", "spec.yaml", "--results", "r"); code != exitOK {
		t.Fatalf("%d, %s", code, errs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stdout, stderr := cancelling{cancel: cancel}, bytes.Buffer{}
	code := Main(ctx, nil, []string{"check", "spec.yaml", "--results", "r"}, strings.NewReader(""), &stdout, &stderr)
	if code != exitInterrupted || strings.Count(stdout.String(), "\n") != 1 || stderr.String() != "ssdl: interrupted\n" {
		t.Errorf("it ends with %d: %s%s", code, &stdout, &stderr)
	}
}
