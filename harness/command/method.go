package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/job"
	"ssdl/harness/tempfile"
	"ssdl/methods"
)

// Method is an external program as a method: it learns and predicts in one call.
type Method struct {
	Runner  Runner
	Command job.Command
	Params  map[string]any
	Seed    uint64
	// Predict sets Record, and Scores, the soft labels of the test samples (classes x M); nil if the program
	// wrote none.
	Record Record
	Scores *mat.Dense
}

// Fit checks the problem. Predict runs the program.
func (m *Method) Fit(_ context.Context, p methods.Problem) (methods.Model, error) {
	if err := p.Check(job.ExecName, nil); err != nil {
		return nil, err
	}
	return model{m, p}, nil
}

type model struct {
	method  *Method
	problem methods.Problem
}

// Predict runs the program.
func (m model) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	dim, _ := m.problem.X.Dims()
	if err := methods.CheckTest(job.ExecName, X, dim); err != nil {
		return nil, err
	}
	is := m.method
	out, err := is.Runner.call(ctx, is.Command, newTask(wantsPredictions, m.problem, X, is.Params, is.Seed), &is.Record)
	if err != nil {
		return nil, err
	}
	is.Scores = out.scores
	for _, p := range out.trace {
		m.problem.Trace.Add(p.name, p.iteration, p.value)
	}
	return out.predictions, nil
}

// Pretext is an external program as a pretext: it makes soft labels of the training samples.
type Pretext struct {
	Runner  Runner
	Command job.Command
	Params  map[string]any
	Seed    uint64
	// PseudoLabels sets Record.
	Record Record
}

// StageKey names the stage with the output of the program. Jobs of one key share it.
func (p *Pretext) StageKey() (string, error) {
	key, err := json.Marshal(struct {
		Command job.Command
		Params  map[string]any
		Seed    uint64
	}{p.Command, p.Params, p.Seed})
	return "exec/" + string(key), err
}

// pretextOutput is the output of a pretext, with the record of the call.
type pretextOutput struct {
	output
	record Record
}

// PseudoLabels runs the program, or uses the output of a call by another job.
func (p *Pretext) PseudoLabels(ctx context.Context, problem methods.Problem) (methods.Pseudo, error) {
	if err := problem.Check(job.ExecName, nil); err != nil {
		return methods.Pseudo{}, err
	}
	key, err := p.StageKey()
	if err != nil {
		return methods.Pseudo{}, err
	}
	m, err := methods.Shared(ctx, problem, key, func() (pretextOutput, int64, error) {
		var m pretextOutput
		m.output, err = p.Runner.call(ctx, p.Command, newTask(wantsTargets, problem, nil, p.Params, p.Seed), &p.Record)
		m.record = p.Record
		m.record.CPU, m.record.Peak = 0, 0
		_, n := problem.X.Dims()
		return m, int64(8 * problem.Classes * n), err
	})
	if err != nil {
		return methods.Pseudo{}, err
	}
	if p.Record.State == "" {
		p.Record = m.record
	}
	for _, at := range m.trace {
		problem.Trace.Add(at.name, at.iteration, at.value)
	}
	return methods.Pseudo{F: m.targets, Score: unscored}, nil
}

// unscored refuses to score test samples: a row with a program as pretext has a method, which predicts.
func unscored(context.Context, *mat.Dense) (*mat.Dense, error) {
	return nil, errors.New("an external pretext scores only training samples. Give its row a method")
}

func newTask(wants string, p methods.Problem, test *mat.Dense, params map[string]any, seed uint64) task {
	return task{wants: wants, X: p.X, labels: p.Labels, classes: p.Classes, test: test, seed: seed, params: params}
}

// call runs a program on a task in a fresh folder, and reads its output.
func (r Runner) call(ctx context.Context, c job.Command, t task, record *Record) (out output, err error) {
	folder, err := tempfile.System()
	if err != nil {
		return out, err
	}
	defer folder.Remove()
	dir, err := filepath.EvalSymlinks(folder.Path)
	if err != nil {
		return out, err
	}
	defer func() { record.State = stateOf(err) }()
	written, given, err := t.write(dir, c)
	if err != nil {
		return out, err
	}
	p := process{args: c.Args[1:], dir: dir, given: given}
	if own, ok := fileOf(c, filepath.ToSlash(filepath.Clean(c.Args[0]))); ok {
		p.path = filepath.Join(dir, filepath.FromSlash(own.Path))
	} else if p.path, err = lookup(c.Args[0]); err != nil {
		return out, fault(Missing, "%v", err)
	}
	if err := r.start(ctx, p, record); err != nil {
		return out, err
	}
	if out, err = readOutput(dir, t, written); err != nil {
		return out, fault(Invalid, "%v", err)
	}
	return out, nil
}

// stateOf is the state of a call that ended with err.
func stateOf(err error) State {
	var f *Fault
	switch {
	case err == nil:
		return OK
	case errors.As(err, &f):
		return f.State
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Crashed
}

// Given is a method whose predictions are read from a file.
type Given struct {
	// File has a class for each test sample, in ascending order of the samples.
	File job.File
	// Test lists the test samples in ascending order, Scored the same samples in the order that Predict gets.
	Test, Scored []int
	Classes      int
}

// Fit does nothing.
func (g Given) Fit(context.Context, methods.Problem) (methods.Model, error) { return g, nil }

// Predict reads the predictions.
func (g Given) Predict(context.Context, *mat.Dense) ([]int, error) {
	if sum, err := HashFile(g.File.Path); err != nil {
		return nil, err
	} else if sum != g.File.SHA256 {
		return nil, fmt.Errorf("%s changed since the jobs were planned; start again", g.File.Path)
	}
	list, err := readGiven(g.File.Path, len(g.Test), g.Classes)
	if err != nil {
		return nil, err
	}
	of := make(map[int]int, len(list))
	for i, sample := range g.Test {
		of[sample] = list[i]
	}
	out := make([]int, len(g.Scored))
	for i, sample := range g.Scored {
		out[i] = of[sample]
	}
	return out, nil
}
