package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ssdl/harness/command"
	"ssdl/harness/job"
	"ssdl/harness/spec"
)

// program is the external program of a row.
type program struct {
	job.Command
	// here says that it can be started.
	here bool
	err  error
}

// external completes the external parts of a job: the Command of a program, the hash of predictions. here
// reports whether all of them are on this machine.
func (in *inputs) external(ctx context.Context, row *spec.Row, j spec.Job) (_ spec.Job, here bool, err error) {
	if j.Predictions.File != "" {
		f := job.File{Path: j.Predictions.File}
		f.SHA256, err = command.HashFile(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		j.Method.Predictions = &f
		return j, f.SHA256 != "", err
	}
	if row.Exec == nil {
		return j, true, nil
	}
	p, ok := in.programs[row]
	if !ok {
		p = in.program(ctx, row)
		in.programs[row] = p
	}
	j.Program().Command = &p.Command
	return j, p.here, p.err
}

// program identifies the program of a row. If it is not on this machine, it takes the identity of the latest
// jobs in the store, so that their results are found.
func (in *inputs) program(ctx context.Context, row *spec.Row) program {
	p := program{here: true}
	if in.lib.RecordedOnly {
		p.err = fs.ErrNotExist
	} else {
		p.Command, p.err = in.lib.Programs.Identify(ctx, row.Exec, row.Files)
	}
	var missing *command.MissingError
	if p.err == nil || !errors.As(p.err, &missing) && !errors.Is(p.err, fs.ErrNotExist) {
		return p
	}
	recorded, err := in.store.Commands(ctx)
	if err != nil {
		return program{err: err}
	}
	for _, c := range recorded {
		if slices.Equal(c.Args, row.Exec) && slices.EqualFunc(c.Files, row.Files, func(f job.File, path string) bool { return f.Path == path }) {
			return program{Command: c}
		}
	}
	switch {
	case in.lib.RecordedOnly:
		return program{Command: job.Command{Args: row.Exec}}
	case missing != nil: // the run will say so
		p.err = nil
	default:
		p.err = fmt.Errorf("row %s: %w", row.ID, p.err)
	}
	return p
}
