package run

import (
	"encoding/json"
	"fmt"
	"go/version"
	"strings"

	"ssdl/harness/spec"
)

// Mixed says in which field the runs behind a cell differ though they must not, and what to do; it
// is empty if they may be averaged. The runs that chose its parameters are among them: what they
// chose is in the cell. Parameters are the same by construction: jobs are looked up by them. What can
// differ is the data and the version, where results were looked up by name; the code, where a method
// changed and its version did not; and what computed. The program's own kernels give the same bits on
// every processor of an architecture, but another BLAS does not, nor do the floating-point
// instructions that another GOAMD64 or another Go gives the rest, nor another gonum: see program.
// What was not recorded of a run counts as any.
func (p *Plan) Mixed(c *Cell) string {
	const (
		oneSet     = "give the folder of the data that is meant with --data, and run the rest on it"
		again      = "run the cell again with --rerun stale"
		oneProgram = "run the cell again with one program on one kind of machine, into another results folder"
	)
	type field struct {
		name, remedy string
		of           func(*Task) string
	}
	fields := []field{
		{"data", oneSet, func(t *Task) string { return t.Record.DatasetHash }},
		{"version", again, func(t *Task) string { return versions(t.Record.Identity) }},
		{"code of the method", again, func(t *Task) string { return t.Result.MethodCode }},
		{"code of the pretext", again, func(t *Task) string { return t.Result.PretextCode }},
	}
	for _, x := range program {
		fields = append(fields, field{x.name, oneProgram, func(t *Task) string { return x.of(p.envs[t.Result.EnvID]) }})
	}
	tasks := append(flat([][]Task{c.Final}), flat(c.Tuning)...)
	for _, field := range fields {
		var first *Task
		for _, t := range tasks {
			if t.Result == nil || field.of(t) == "" {
				continue
			}
			if first == nil {
				first = t
			}
			if a, b := field.of(first), field.of(t); a != b {
				return fmt.Sprintf("its runs differ in the %s: %s with %s, %s with %s; %s",
					field.name, a, first.seed(), b, t.seed(), field.remedy)
			}
		}
	}
	return ""
}

// program lists what of an environment decides about the bits of a result, beside the code.
var program = []struct {
	name string
	of   func(env map[string]string) string
}{
	{"architecture", func(env map[string]string) string { return env["arch"] }},
	{"GOAMD64", func(env map[string]string) string { return env["GOAMD64"] }},
	{"BLAS", func(env map[string]string) string { return kernels(env["blas"]) }},
	{"version of Go", func(env map[string]string) string { return version.Lang(env["go"]) }},
	{"version of gonum", func(env map[string]string) string { return gonum(env["modules"]) }},
}

// another says in what the program that computes now is not the one that computed a result; empty
// if in nothing that decides about its bits.
func another(was, is map[string]string) string {
	for _, x := range program {
		if a, b := x.of(was), x.of(is); a != "" && b != "" && a != b {
			return fmt.Sprintf("computed with another %s: %s, now %s", x.name, a, b)
		}
	}
	return ""
}

// seed names a run among those behind a cell.
func (t *Task) seed() string {
	if t.Job.Eval == spec.EvalVal {
		return fmt.Sprintf("seed %d of its tuning", t.Job.Seed)
	}
	return fmt.Sprintf("seed %d", t.Job.Seed)
}

// gonum is the version of gonum in a list of modules as Environment writes it.
func gonum(modules string) string {
	for m := range strings.SplitSeq(modules, "; ") {
		if f := strings.Fields(m); len(f) > 1 && f[0] == "gonum.org/v1/gonum" {
			return f[1]
		}
	}
	return ""
}

// versions are those in the identity of a job.
func versions(identity []byte) string {
	type part struct {
		Version int `json:"version"`
	}
	var id struct {
		Method, Pretext part
		Metric          int `json:"metric_version"`
	}
	if json.Unmarshal(identity, &id) != nil {
		return "unreadable"
	}
	return fmt.Sprintf("method %d, pretext %d, metric %d", id.Method.Version, id.Pretext.Version, id.Metric)
}

// kernels is the family of a BLAS: all of the program's own give the same bits.
func kernels(blas string) string {
	if strings.HasPrefix(blas, "go-") {
		return "go"
	}
	return blas
}
