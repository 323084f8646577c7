package run

import (
	"ssdl/harness/job"
	"ssdl/harness/provenance"
)

// Inconsistency is a property in which the runs of a cell differ.
type Inconsistency struct {
	Kind provenance.Kind `json:"kind"`
	// Is and Want are the values of two of its runs, Want that of the first.
	Is   string `json:"is"`
	Want string `json:"want"`
	// Seed and Tuning, WantSeed and WantTuning name these runs.
	Seed       uint64 `json:"seed"`
	Tuning     bool   `json:"tuning,omitempty"`
	WantSeed   uint64 `json:"want_seed"`
	WantTuning bool   `json:"want_tuning,omitempty"`
}

// Inconsistencies lists the properties of code and build in which the runs of a cell differ, tuning runs
// included. Runs may be averaged only if there are none. ssdl's kernels give the same bits on every
// processor of an architecture; another BLAS, GOAMD64, Go or gonum does not. A property that a run did not
// record is ignored.
func (p *Plan) Inconsistencies(c *Cell) []Inconsistency {
	var out []Inconsistency
	tasks := c.results()
	add := func(kind provenance.Kind, of func(*Task) string) {
		var first *Task
		want := ""
		for _, t := range tasks {
			switch is := of(t); {
			case is == "" || is == want:
			case first == nil:
				first, want = t, is
			default:
				out = append(out, Inconsistency{
					Kind: kind, Is: is, Want: want, Seed: t.Job.Seed, Tuning: t.Job.Eval == job.EvalVal,
					WantSeed: first.Job.Seed, WantTuning: first.Job.Eval == job.EvalVal,
				})
				return
			}
		}
	}
	add(provenance.MethodCode, func(t *Task) string { return t.Result.Code.Method })
	add(provenance.PretextCode, func(t *Task) string { return t.Result.Code.Pretext })
	add(provenance.ProtocolCode, func(t *Task) string { return t.Result.Code.Protocol })
	for kind, of := range provenance.Build {
		add(kind, func(t *Task) string { return of(p.envs[t.Result.EnvID]) })
	}
	return out
}

// results lists the tasks of a cell that have a result, tuning included.
func (c *Cell) results() []*Task {
	var out []*Task
	for _, t := range c.tasks() {
		if t.Result != nil {
			out = append(out, t)
		}
	}
	return out
}
