package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// slurm runs a program of Slurm and returns what it printed.
func slurm(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, fault bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &fault
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not on PATH: call this on a machine where Slurm's commands are", name)
	case err != nil:
		return "", fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(fault.Bytes()))
	}
	return out.String(), nil
}

// Limits are those of a cluster.
type Limits struct {
	// ArrayTasks is the largest number of tasks in an array.
	ArrayTasks int
	// Submit is the largest number of tasks of a user in the queue; 0 if there is no limit, or none is known.
	Submit int
}

// ReadLimits asks Slurm for its limits: MaxArraySize, and MaxSubmitJobs of the user if there is accounting.
func ReadLimits(ctx context.Context) (l Limits, err error) {
	config, err := slurm(ctx, "scontrol", "show", "config")
	if err != nil {
		return l, err
	}
	size := -1
	for line := range strings.Lines(config) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "MaxArraySize" {
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return l, fmt.Errorf("scontrol show config: MaxArraySize is no number: %w", err)
			}
		}
	}
	if size < 2 {
		return l, fmt.Errorf("scontrol show config: MaxArraySize is %d, so Slurm accepts no job array: use another array runner (docs/cluster.md)", size)
	}
	l.ArrayTasks = size - 1 // the largest index; our arrays begin with 1
	who, err := user.Current()
	if err != nil {
		return l, err
	}
	// A cluster without accounting has no such limits.
	if out, err := slurm(ctx, "sacctmgr", "--noheader", "--parsable2", "show", "associations", "user="+who.Username, "format=MaxSubmitJobs"); err == nil {
		for _, word := range strings.Fields(out) {
			if n, err := strconv.Atoi(word); err == nil && (l.Submit == 0 || n < l.Submit) {
				l.Submit = n
			}
		}
	}
	return l, nil
}

// Task is a job or a task of an array in Slurm.
type Task struct {
	Array string // the id of the array, or of the job
	Index int    // in the array; -1 for a job
	State string // PENDING, RUNNING, TIMEOUT, ...
	Spent string // run time so far: 1-02:03:04
	Node  string
}

// ended lists the states of a task that has ended.
var ended = []string{"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"}

// Waits reports whether the task is pending or running.
func (t Task) Waits() bool { return !slices.Contains(ended, t.State) }

// Queue lists the tasks of this user that are pending, running or ended a short time ago.
func Queue(ctx context.Context) ([]Task, error) {
	out, err := slurm(ctx, "squeue", "--me", "--array", "--states=all", "--noheader", "--format=%F|%K|%T|%M|%N")
	if err != nil {
		return nil, err
	}
	return parseTasks("squeue", out)
}

// History lists the tasks of jobs in the accounting; none if the cluster has no accounting.
func History(ctx context.Context, ids []string) ([]Task, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := slurm(ctx, "sacct", "--allocations", "--array", "--noheader", "--parsable2", "--jobs="+strings.Join(ids, ","), "--format=JobID,State,Elapsed,NodeList")
	if err != nil {
		return nil, nil
	}
	var lines strings.Builder
	for line := range strings.Lines(out) {
		id, rest, _ := strings.Cut(line, "|")
		array, index, _ := strings.Cut(id, "_")
		lines.WriteString(array + "|" + index + "|" + rest)
	}
	return parseTasks("sacct", lines.String())
}

// parseTasks parses lines of array, index, state, time and nodes. It skips tasks that are listed as a range.
func parseTasks(program, text string) ([]Task, error) {
	var out []Task
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			return nil, fmt.Errorf("%s printed %q, expected 5 fields: this version of Slurm is not known", program, line)
		}
		index := -1
		if n, err := strconv.Atoi(f[1]); err == nil {
			index = n
		} else if strings.HasPrefix(f[1], "[") {
			continue
		}
		state, _, _ := strings.Cut(f[2], " ") // CANCELLED by 1000
		out = append(out, Task{f[0], index, strings.TrimSuffix(state, "+"), f[3], f[4]})
	}
	return out, nil
}

// sbatch submits a script and returns the id of its job.
func sbatch(ctx context.Context, args ...string) (string, error) {
	out, err := slurm(ctx, "sbatch", append([]string{"--parsable"}, args...)...)
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // ID or ID;CLUSTER
	if err == nil && id == "" {
		err = errors.New("sbatch printed no job id")
	}
	return id, err
}

// waiting lists the tasks of a submission that have not ended, without the job that this process runs in.
func (s Submission) waiting(queue []Task) []Task {
	var out []Task
	for _, t := range queue {
		ours := t.Array == s.Merge && s.Merge != os.Getenv("SLURM_JOB_ID") ||
			slices.ContainsFunc(s.Arrays, func(a Array) bool { return a.ID == t.Array })
		if ours && t.Waits() {
			out = append(out, t)
		}
	}
	return out
}

// CheckEnded refuses while tasks of the last submission are pending or running: their jobs would be submitted
// twice.
func (f Folder) CheckEnded(ctx context.Context) error {
	s, err := f.Submission()
	if err != nil || len(s.Arrays) == 0 {
		return err
	}
	queue, err := Queue(ctx)
	if err != nil {
		return fmt.Errorf("%s: cannot tell whether the last submission has ended: %w", f, err)
	}
	left := s.waiting(queue)
	if len(left) == 0 {
		return nil
	}
	var ids []string
	for _, t := range left {
		if !slices.Contains(ids, t.Array) {
			ids = append(ids, t.Array)
		}
	}
	return fmt.Errorf("%s: %d tasks of submission %d still wait or run. Wait for them (`ssdl status --slurm`), or end them with scancel %s", f, len(left), s.Submission, strings.Join(ids, " "))
}

// Submit submits the shards of a plan to Slurm, as arrays within the limits, and with merge the job that submits the
// final jobs. It records each array in the folder at once. If Slurm refuses one, it returns the error and the
// submission so far.
func (f Folder) Submit(ctx context.Context, p Plan, merge bool) (Submission, error) {
	s := Submission{Submission: p.Submission}
	limits, err := ReadLimits(ctx)
	if err != nil {
		return s, err
	}
	queue, err := Queue(ctx)
	if err != nil {
		return s, err
	}
	room := len(p.Shards)
	if limits.Submit > 0 {
		room = limits.Submit
		for _, t := range queue {
			if t.Waits() {
				room--
			}
		}
		if merge {
			room--
		}
		if room < 1 {
			return s, fmt.Errorf("the queue is full: at most %d tasks of yours may be in it (MaxSubmitJobs). Wait for some of them", limits.Submit)
		}
	}
	arrays := arraysOf(min(room, len(p.Shards)), limits.ArrayTasks)
	var ids []string
	for _, a := range arrays {
		if a.ID, err = sbatch(ctx, fmt.Sprintf("--array=1-%d", a.Tasks), f.job(), strconv.Itoa(a.Offset)); err != nil {
			return s, fmt.Errorf("shards from %d on are not submitted: %w", a.Offset+1, err)
		}
		s.Arrays = append(s.Arrays, a)
		ids = append(ids, a.ID)
		if err := f.writeSubmission(s); err != nil {
			return s, err
		}
	}
	if merge {
		if s.Merge, err = sbatch(ctx, "--dependency=afterany:"+strings.Join(ids, ":"), f.merge()); err != nil {
			return s, fmt.Errorf("the final jobs after the tuning are not submitted: %w", err)
		}
	}
	return s, f.writeSubmission(s)
}

// arraysOf divides shards into arrays of at most most tasks.
func arraysOf(shards, most int) []Array {
	var out []Array
	for first := 0; first < shards; first += most {
		out = append(out, Array{Offset: first, Tasks: min(most, shards-first)})
	}
	return out
}

// Shards counts the submitted shards.
func (s Submission) Shards() int {
	n := 0
	for _, a := range s.Arrays {
		n += a.Tasks
	}
	return n
}

// taskName is the name of a task of an array in Slurm.
func taskName(array string, index int) string { return fmt.Sprintf("%s_%d", array, index) }
