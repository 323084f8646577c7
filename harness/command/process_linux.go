package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent ends a program when this process is killed.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitEnd waits for the end of a process but does not reap it, so that no other process gets its id.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// processMemory is the resident memory of a process in bytes.
func processMemory(pid int) int64 { return heldBy(statFields(fmt.Sprintf("/proc/%d/stat", pid))) }

// groupMemory is the resident memory of the processes of a group in bytes.
func groupMemory(group int) (bytes int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if fields := statFields(path); len(fields) > 2 && fields[2] == strconv.Itoa(group) {
			bytes += heldBy(fields)
		}
	}
	return bytes
}

// heldBy is the resident memory in bytes by statFields; 0 if the process has ended.
func heldBy(fields []string) int64 {
	const resident = 21
	if len(fields) <= resident {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[resident], 10, 64)
	return pages * int64(os.Getpagesize())
}

// statFields are the fields of /proc/PID/stat from the state on; the name before it can have blanks.
func statFields(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil // it has ended
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}
