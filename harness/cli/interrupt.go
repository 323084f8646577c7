package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// finishing lists the verbs that finish their running jobs after the first Ctrl-C. It stops all others.
var finishing = []string{"reproduce", "run", "check", "features"}

// interrupts makes the first Ctrl-C cancel ctx. SIGTERM acts like Ctrl-C, and SIGHUP too unless nohup ignores it.
// With finish the first Ctrl-C closes stop instead, so that running jobs finish and no others start, and the second
// cancels ctx. One more ends the process at once.
func interrupts(parent context.Context, finish bool, stderr io.Writer) (ctx context.Context, stop <-chan struct{}, cleanup func()) {
	ctx, cancel := context.WithCancel(parent)
	soft := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		if finish {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			fmt.Fprintln(stderr, "\nssdl: finishing the runs in flight; interrupt again to stop them")
			close(soft)
		}
		select {
		case <-ctx.Done():
		case <-signals:
			signal.Stop(signals)
			cancel()
		}
	}()
	return ctx, soft, func() {
		signal.Stop(signals)
		cancel()
	}
}
