package executor

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/command"
	"ssdl/harness/data"
	"ssdl/harness/job"
	"ssdl/harness/protocol"
	"ssdl/harness/store"
	"ssdl/methods"
)

// programs is the external program that a job calls: its method, its pretext, or none.
type programs struct {
	method  *command.Method
	pretext *command.Pretext
}

func (p *programs) asMethod(in Input) methods.Method {
	part := in.Job.Method
	p.method = &command.Method{Runner: in.Programs, Command: *part.Command, Params: part.Params, Seed: in.Job.Seed}
	return p.method
}

func (p *programs) asPretext(in Input) methods.Pretext {
	p.pretext = in.pretext()
	return p.pretext
}

// pretext is the external program that makes the pseudo labels of a job.
func (in Input) pretext() *command.Pretext {
	part := in.Job.Pretext
	return &command.Pretext{Runner: in.Programs, Command: *part.Command, Params: part.Params, Seed: in.Job.Seed}
}

// pretextKey names the stage of the pseudo labels of a job, from the catalog or an external program.
func (in Input) pretextKey() (string, error) {
	if in.Job.Pretext.Command != nil {
		return in.pretext().StageKey()
	}
	return pseudoKey(in.Job.Job)
}

// record adds the record of the external program to a run, if it called one.
func (p *programs) record(run *store.Run) {
	var r command.Record
	switch {
	case p.method != nil:
		r = p.method.Record
	case p.pretext != nil:
		r = p.pretext.Record
	}
	if r.State == "" {
		return
	}
	run.Command = &store.Command{State: string(r.State), Confined: string(r.Confined), Stdout: r.Stdout, Stderr: r.Stderr}
	run.CPU += r.CPU
	run.Peak = max(run.Peak, r.Peak)
}

// addScores adds the scores of an external program to the outcome, in ascending order of the samples.
func (p *programs) addScores(in Input, out *protocol.Outcome) {
	if p.method == nil || p.method.Scores == nil {
		return
	}
	scored := in.scored()
	c, n := p.method.Scores.Dims()
	out.Scores = mat.NewDense(c, n, nil)
	for to, from := range ascending(scored) {
		out.Scores.SetCol(to, mat.Col(nil, from, p.method.Scores))
	}
}

// scored lists the samples that the job scores, in the order that a method gets them.
func (in Input) scored() []int {
	return in.data().View(in.Job.Seed, in.Job.Eval == job.EvalVal).Eval
}

// ascending lists the indices of a list by ascending value.
func ascending(list []int) []int {
	at := make([]int, len(list))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return list[a] - list[b] })
	return at
}

// given is the method that reads the predictions of a job from its file. The index file of the predictions must be
// that of the job's split.
func (in Input) given() (methods.Method, error) {
	path := in.Job.Predictions.Splits
	by, err := data.ReadSplit(path, in.Set)
	if err != nil {
		return nil, err
	}
	if by.Hash != in.Split.Hash {
		return nil, fmt.Errorf("%s is the split %.12s, expected %.12s. Make predictions for the index file that `ssdl data split %s --export DIR` writes for seed %d",
			path, by.Hash, in.Split.Hash, in.Set.Name, in.Job.Seed)
	}
	return command.Given{File: *in.Job.Method.Predictions, Test: in.Split.Test, Scored: in.scored(), Classes: len(in.Set.Classes)}, nil
}
