package run

import (
	"fmt"

	"ssdl/harness/job"
	"ssdl/harness/spec"
)

// planFormat is the version of PlanFile.
const planFormat = "ssdl plan 1"

// PlanFile lists the jobs of a plan for other processes: which jobs, on which data and splits, with which
// code. It names data by hash and contains none.
type PlanFile struct {
	Format string `json:"format"`
	// Spec is the name of the spec, SpecHash the SHA-256 of its file.
	Spec     string `json:"spec"`
	SpecHash string `json:"spec_hash"`
	// Code maps each method and pretext of the jobs to the fingerprint of its code.
	Code map[string]string `json:"code"`
	Jobs []PlannedJob      `json:"jobs"`
}

// PlannedJob is a job with the names that another process needs to find its data and its split.
type PlannedJob struct {
	Key     string     `json:"key"`
	Dataset string     `json:"dataset"`
	Split   spec.Split `json:"split"`
	Job     job.Job    `json:"job"`
	// Reason is why the job is run again; empty for its first run.
	Reason string `json:"reason,omitempty"`
}

// File makes a PlanFile of tasks from Todo, in their order.
func (p *Plan) File(tasks []*Task) PlanFile {
	f := PlanFile{Format: planFormat, Spec: p.Spec.Name, SpecHash: p.Spec.Hash, Code: map[string]string{}, Jobs: []PlannedJob{}}
	for _, t := range tasks {
		f.Jobs = append(f.Jobs, PlannedJob{t.Key, t.Job.Dataset, t.Job.Split, t.Job.Job, t.rerunReason()})
		for name, print := range map[string]string{t.Job.Method.Name: t.code.Method, t.Job.Pretext.Name: t.code.Pretext} {
			if print != "" {
				f.Code[name] = print
			}
		}
	}
	return f
}

// Check refuses a plan of another format, and jobs with a wrong key.
func (f PlanFile) Check() error {
	if f.Format != planFormat {
		return fmt.Errorf("the plan has the format %q, expected %q: write it again with this program", f.Format, planFormat)
	}
	for _, j := range f.Jobs {
		if is := j.Job.Key(); is != j.Key {
			return fmt.Errorf("the plan has job %s on %s, seed %d with the key %s, expected %s: the file was changed", j.Job.Name(), j.Dataset, j.Job.Seed, j.Key, is)
		}
	}
	return nil
}
