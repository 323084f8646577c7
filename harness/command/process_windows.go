package command

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: Windows has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends the process pid.
func killGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}
