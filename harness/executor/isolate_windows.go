package executor

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps Ctrl-C from a worker, so that its run can finish.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// peakOf is 0: it is unknown on Windows.
func peakOf(*os.ProcessState) int64 { return 0 }
