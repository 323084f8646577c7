//go:build unix

package command

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup gives a program a process group, so that all of it can be ended.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// killGroup ends the process group that pid leads.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// PeakOf is the memory that a process held at most, in bytes.
func PeakOf(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
