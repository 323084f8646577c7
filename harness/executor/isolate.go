package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"ssdl/harness/command"
	"ssdl/harness/provenance"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Isolation runs each job in a process of its own: no state of a method reaches another job, and its
// memory is bounded. Jobs then share no stages.
type Isolation struct {
	// Command is the command, with arguments, of a process that calls Work.
	Command []string
	// Library says where the process finds the data.
	Library *Library
	// Memory bounds each process in bytes; 0 means no bound.
	Memory int64
	// Workers is the number of processors of each process; 0 means all.
	Workers int
}

// order is the input of a worker.
type order struct {
	Job      spec.Job
	Roots    []string
	DropZero bool
	Memory   int64
	Workers  int
	Programs command.Runner
	Timeout  time.Duration // kept by the worker; 0 means none
}

// endingTime is the extra time of a worker to end its external program after the timeout.
const endingTime = 5 * time.Second

// reply is the output of a worker. Error says why it could not run the job.
type reply struct {
	Run   store.Run
	Error string
}

// exitMemory is the exit status of a worker that reached its memory bound.
const exitMemory = 77

// Execute is an Executor.
func (i Isolation) Execute(ctx context.Context, in Input) store.Run {
	if in.Job.Method.Command != nil {
		return Execute(ctx, in) // the program is a process of its own
	}
	o := order{in.Job, i.Library.Roots, i.Library.DropZero, i.Memory, i.Workers, in.Programs, 0}
	rctx, cancel, timeout := ctx, context.CancelFunc(func() {}), in.Timeout
	if timeout > 0 && in.Job.Pretext.Command != nil { // the worker itself must end the program
		o.Timeout, timeout = timeout, timeout+endingTime
	}
	if timeout > 0 {
		rctx, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	started := time.Now()
	r, cmd, err := i.start(rctx, o)
	run := r.Run
	if err != nil {
		run = store.Run{UID: store.NewUID(), Started: started, Status: store.StatusError}
		switch {
		case ctx.Err() != nil:
			run.Status, err = store.StatusInterrupted, ctx.Err()
		case rctx.Err() != nil:
			run.Status, err = store.StatusTimeout, fmt.Errorf("did not finish within %v", in.Timeout)
		case errors.Is(err, errMemory):
			run.Status = store.StatusMemory
			err = fmt.Errorf("needs more than the %.1f GiB that --memory allows", float64(i.Memory)/(1<<30))
		}
		run.Error = fmt.Sprintf("%s: %v", Describe(in.Job), err)
	}
	run.Started, run.Wall = started, time.Since(started)
	if s := cmd.ProcessState; s != nil {
		run.CPU = s.UserTime() + s.SystemTime()
		run.Peak = peakOf(s)
	}
	return run
}

var errMemory = errors.New("out of memory")

// start runs a worker to its end and reads its reply.
func (i Isolation) start(ctx context.Context, o order) (r reply, cmd *exec.Cmd, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return r, &exec.Cmd{}, err
	}
	var out, fault tail
	out.most = maxReply
	cmd = exec.CommandContext(ctx, i.Command[0], i.Command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &fault
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	// The worker exits when its input is closed, so that none outlives this process.
	in, err := cmd.StdinPipe()
	if err != nil {
		return r, cmd, err
	}
	if err := cmd.Start(); err != nil {
		return r, cmd, fmt.Errorf("no process for the job: %w", err)
	}
	in.Write(append(text, '\n')) // fails if the process has ended: Wait says how
	err = cmd.Wait()
	in.Close()
	switch text := fault.String(); {
	case ctx.Err() != nil:
		return r, cmd, ctx.Err()
	case cmd.ProcessState.ExitCode() == exitMemory, strings.Contains(text, "fatal error: runtime: out of memory"), strings.Contains(text, "cannot allocate memory"):
		return r, cmd, errMemory
	case err != nil:
		return r, cmd, fmt.Errorf("its process ended with %w: %s", err, text)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return r, cmd, fmt.Errorf("the reply of its process cannot be read: %w", err)
	}
	if r.Error != "" {
		return r, cmd, errors.New(r.Error)
	}
	return r, cmd, nil
}

// maxReply bounds the reply of a worker in bytes: a run of 100,000 predictions has a megabyte.
const maxReply = 256 << 20

// tail keeps the last bytes that are written to it, 64 KiB unless most says otherwise.
type tail struct {
	bytes.Buffer
	most int
}

func (t *tail) Write(p []byte) (int, error) {
	most := t.most
	if most == 0 {
		most = 64 << 10
	}
	t.Buffer.Write(p)
	if over := t.Len() - most; over > 0 {
		t.Next(over)
	}
	return len(p), nil
}

// Work runs the job of the order that it reads from r, and writes the reply to w. The process exits
// when r is closed.
func Work(ctx context.Context, r io.Reader, w io.Writer) error {
	dec := json.NewDecoder(r)
	var o order
	if err := dec.Decode(&o); err != nil {
		return fmt.Errorf("the order cannot be read: %w", err)
	}
	go func() {
		io.Copy(io.Discard, r)
		os.Exit(1)
	}()
	if o.Workers > 0 {
		runtime.GOMAXPROCS(o.Workers)
	}
	if o.Memory > 0 {
		debug.SetMemoryLimit(o.Memory)
		limitMemory(o.Memory)
		go watchMemory(o.Memory)
	}
	var out reply
	in, err := o.input(ctx)
	if err != nil {
		out.Error = err.Error()
	} else {
		out.Run = Execute(ctx, in)
	}
	return json.NewEncoder(w).Encode(out)
}

// input loads the data of an order. It refuses data that is not that of the job.
func (o order) input(ctx context.Context) (Input, error) {
	lib := &Library{Roots: o.Roots, DropZero: o.DropZero}
	set, err := lib.Set(ctx, o.Job.Dataset)
	if err != nil {
		return Input{}, err
	}
	split, err := lib.Split(set, o.Job.Split, o.Job.Seed)
	if err != nil {
		return Input{}, err
	}
	if set.Hash != o.Job.DatasetHash || split.Hash != o.Job.SplitHash {
		return Input{}, fmt.Errorf("%s: the data or the split changed while jobs were run; start again", Describe(o.Job))
	}
	return Input{Job: o.Job, Set: set, Split: split, Stages: NewStages(provenance.PhysicalMemory() / 4), Programs: o.Programs, Timeout: o.Timeout}, nil
}

// watchMemory ends the process when its memory exceeds bound bytes.
func watchMemory(bound int64) {
	for {
		if heldMemory() > bound {
			os.Exit(exitMemory)
		}
		time.Sleep(meterPause)
	}
}
