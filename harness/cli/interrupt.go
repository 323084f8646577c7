package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// finishing are the verbs that finish what they are at after the first Ctrl-C; it stops all others.
var finishing = []string{"reproduce", "run", "check", "features"}

// interrupts makes the first Ctrl-C cancel ctx. So do SIGTERM, and SIGHUP unless nohup has it ignored. With finish it
// closes stop instead, so that running jobs finish and no others start, and the second one
// cancels. One more ends the process, whatever it is at.
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
