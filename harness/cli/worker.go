package cli

import (
	"os"

	"ssdl/harness/executor"
)

// workerCmd carries out one job for another ssdl, which runs it by --isolate.
type workerCmd struct{}

func (workerCmd) Run(e *env) error { return executor.Work(e.ctx, e.stdin, e.rawout) }

// self is the program that runs, whatever stands in its file by now.
func self() (string, error) {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
