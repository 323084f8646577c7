package cli

import (
	"os"

	"ssdl/harness/executor"
)

// workerCmd runs one job for an ssdl with --isolate.
type workerCmd struct{}

func (workerCmd) Run(e *env) error { return executor.Work(e.ctx, e.stdin, e.rawout) }

// self is a path that starts the running program, on Linux even if its file was replaced.
func self() (string, error) {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
