//go:build unix

package executor

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup keeps Ctrl-C from a worker, so that its run can finish.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// peakOf is the peak memory of a process in bytes.
func peakOf(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
