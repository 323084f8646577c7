// Package command runs a program from outside as a method or a pretext, by the protocol ssdl-exec/1
// (docs/exec.md): it writes the task into a fresh folder, runs the program confined to it, and checks
// what the program left there. It decides nothing about results and records nothing.
package command

import (
	"fmt"
	"runtime"
	"time"

	"ssdl/harness/job"
)

// Protocol is what task.json calls the protocol.
const Protocol = "ssdl-exec/1"

// Runner runs programs, each in a folder of its own.
type Runner struct {
	// Self starts a process that calls Confine: a program and its arguments. Without it programs are
	// neither confined nor kept from large files.
	Self []string
	// Memory bounds the program and the processes that it starts, in bytes; 0 means no bound.
	Memory int64
	// Printed and Written bound what the program prints, and its folder, in bytes; 0 means 64 MiB, and
	// 1 GiB beside the task.
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

// The states. The output is used only of a program that is OK.
const (
	OK          State = "ok"
	Missing     State = "missing"        // there is no such program, or it cannot be started
	Crashed     State = "crashed"        // it ended with another status than 0
	Invalid     State = "invalid output" // what it wrote is not what was asked for
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

// Confined is what a program was kept from.
type Confined string

// What the system can do. A program that was confined to its files read the system and what it was
// given, and wrote into its folder alone; one that was confined from the network too had no TCP.
const (
	Unconfined      Confined = "no"
	Files           Confined = "files"
	FilesAndNetwork Confined = "files and network"
)

// Record is what is kept of a call beside its result.
type Record struct {
	State    State
	Confined Confined
	// Stdout and Stderr are the last 64 KiB of what the program printed.
	Stdout, Stderr string
	// CPU is the time that the program and what it waited for used, Peak the bytes that it was seen to
	// hold at most, with what it started; both are 0 of a call that another job made.
	CPU  time.Duration
	Peak int64
}

// confines reports whether programs of the runner are restricted.
func (r Runner) confines() bool { return len(r.Self) > 0 && runtime.GOOS == "linux" }

// confinement is what programs of the runner are kept from.
func (r Runner) confinement() Confined {
	if !r.confines() {
		return Unconfined
	}
	return systemConfinement()
}

// fileOf is the file of a command at a path; false if it has none there.
func fileOf(c job.Command, path string) (job.File, bool) {
	for _, f := range c.Files {
		if f.Path == path {
			return f, true
		}
	}
	return job.File{}, false
}
