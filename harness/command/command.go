// Package command runs an external program as a method or a pretext, by the protocol ssdl-exec/1
// (docs/exec.md): it writes the task into a fresh folder, runs the program confined to it, and checks
// the files that the program wrote. It decides nothing about results and records nothing.
package command

import (
	"fmt"
	"runtime"
	"time"

	"ssdl/harness/job"
)

// Protocol is the name of the protocol in task.json.
const Protocol = "ssdl-exec/1"

// Runner runs programs, each in a folder of its own.
type Runner struct {
	// Self is the command, with arguments, of a process that calls Confine. Without it programs are not
	// confined, and the size of a single file is not limited.
	Self []string
	// Memory bounds the program and the processes that it starts, in bytes; 0 means no bound.
	Memory int64
	// Printed bounds the output that the program prints, Written the files that it adds to its folder, both
	// in bytes; 0 means 64 MiB and 1 GiB.
	Printed, Written int64
}

const (
	defaultPrinted = 64 << 20
	defaultWritten = 1 << 30
)

func (r Runner) printed() int64 {
	if r.Printed > 0 {
		return r.Printed
	}
	return defaultPrinted
}

func (r Runner) written() int64 {
	if r.Written > 0 {
		return r.Written
	}
	return defaultWritten
}

// State is how a program ended.
type State string

// The states. Only the output of a program that is OK is used.
const (
	OK          State = "ok"
	Missing     State = "missing"        // there is no such program, or it cannot be started
	Crashed     State = "crashed"        // it ended with another status than 0, or left a process that holds its output open
	Invalid     State = "invalid output" // its files break the protocol
	Printed     State = "printed too much"
	Written     State = "wrote too much"
	OutOfMemory State = "out of memory"
	Timeout     State = "timeout"
	Interrupted State = "interrupted"
)

// Fault is why a program gave no result.
type Fault struct {
	State State
	Text  string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.State, f.Text) }

func fault(s State, format string, args ...any) *Fault {
	return &Fault{s, fmt.Sprintf(format, args...)}
}

// Confined says how a program was confined.
type Confined string

// The confinements. Files: the program could read only the system and its own files, and write only into its
// folder. FilesAndNetwork: it also could not use TCP.
const (
	Unconfined      Confined = "no"
	Files           Confined = "files"
	FilesAndNetwork Confined = "files and network"
)

// Record describes a call, beside its result.
type Record struct {
	State    State
	Confined Confined
	// Stdout and Stderr are the last 64 KiB of what the program printed.
	Stdout, Stderr string
	// CPU is the CPU time of the program and the children that it waited for. Peak is the largest memory in
	// bytes measured for it and all processes that it started. Both are 0 if another job made the call.
	CPU  time.Duration
	Peak int64
}

// confines reports whether the runner confines programs.
func (r Runner) confines() bool { return len(r.Self) > 0 && runtime.GOOS == "linux" }

// confinement says how the runner confines programs.
func (r Runner) confinement() Confined {
	if !r.confines() {
		return Unconfined
	}
	return systemConfinement()
}

// fileOf finds the file of a command with this path.
func fileOf(c job.Command, path string) (job.File, bool) {
	for _, f := range c.Files {
		if f.Path == path {
			return f, true
		}
	}
	return job.File{}, false
}
