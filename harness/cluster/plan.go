// Package cluster runs the jobs of a plan as shards, each a process of its own on any machine: it cuts a plan
// into shards, manages their shared folder, and calls Slurm. Only the stores of the shards say which jobs are
// done, never Slurm.
package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"ssdl/harness/run"
)

// planFormat is the version of plan.json.
const planFormat = "ssdl shards 1"

// Plan is plan.json: the jobs of all shards.
type Plan struct {
	Format string `json:"format"`
	// Submission counts the plans of a folder from 1.
	Submission int `json:"submission"`
	// Program is the SHA-256 of the program that may run the shards.
	Program string `json:"program"`
	// Plan has the jobs in the order of the shards.
	Plan   run.PlanFile `json:"plan"`
	Shards []Shard      `json:"shards"`
}

// Shard is the part of a plan that one process runs. Shards are counted from 1.
type Shard struct {
	// Seconds is the estimated wall time, at least 0.
	Seconds float64 `json:"seconds"`
	// Jobs are the keys of its jobs.
	Jobs []string `json:"jobs"`
}

// NewPlan makes a plan of jobs and their shards.
func NewPlan(submission int, program string, file run.PlanFile, jobs []run.PlannedJob, shards []Shard) Plan {
	file.Jobs = jobs
	return Plan{Format: planFormat, Submission: submission, Program: program, Plan: file, Shards: shards}
}

// Write writes the plan as JSON.
func (p Plan) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(p)
}

// ReadPlan reads a plan that Write wrote. It refuses one whose jobs or shards were changed.
func ReadPlan(path string) (p Plan, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("the plan cannot be read: %w. `ssdl submit` writes it", err)
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("%s: the plan cannot be read: %w", path, err)
	}
	if p.Format != planFormat {
		return Plan{}, fmt.Errorf("%s: the plan has the format %q, expected %q: write it again with this program", path, p.Format, planFormat)
	}
	if err := p.check(); err != nil {
		return Plan{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// check checks that the shards have all jobs, each once and in order.
func (p Plan) check() error {
	if p.Submission < 1 {
		return fmt.Errorf("the plan is of submission %d, expected at least 1: the file was changed", p.Submission)
	}
	if err := p.Plan.Check(); err != nil {
		return err
	}
	rest := p.Plan.Jobs
	for k, s := range p.Shards {
		for _, key := range s.Jobs {
			if len(rest) == 0 || rest[0].Key != key {
				return fmt.Errorf("shard %d has job %s, which is not the next one of the plan: the file was changed", k+1, key)
			}
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d jobs of the plan are in no shard: the file was changed", len(rest))
	}
	return nil
}

// Shard lists the jobs of shard k of n.
func (p Plan) Shard(k, n int) ([]run.PlannedJob, error) {
	if n != len(p.Shards) {
		return nil, fmt.Errorf("--shard %d/%d: the plan has %d shards. If it was made again, cancel the tasks of the earlier plan", k, n, len(p.Shards))
	}
	if k < 1 || k > n {
		return nil, fmt.Errorf("--shard %d/%d: expected a shard from 1 to %d", k, n, n)
	}
	first := 0
	for _, s := range p.Shards[:k-1] {
		first += len(s.Jobs)
	}
	return p.Plan.Jobs[first : first+len(p.Shards[k-1].Jobs)], nil
}

// CheckProgram refuses a program that did not make the plan: its results may differ.
func (p Plan) CheckProgram(hash string) error {
	if hash == p.Program {
		return nil
	}
	return fmt.Errorf("this program (SHA-256 %.12s) is not the one that made the plan (%.12s): run that one here, or make the plan anew with `ssdl submit`", hash, p.Program)
}
