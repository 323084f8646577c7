package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/version"
	"strings"

	"ssdl/harness/spec"
)

// What to do about runs that must not be averaged, or stand beside each other.
const (
	oneSet     = "give the folder of the data that is meant with --data, and run the rest on it"
	oneSplit   = "run the spec again: what is of another split than it now gives is made anew"
	newCode    = "run the cell again with --rerun stale"
	oneProgram = "run the cell again with one program on one kind of machine, into another results folder"
)

// Mixed says in which field the runs behind a cell differ though they must not, or differ from the
// rest of their column, and what to do; it is empty if they may be averaged. The runs that chose its
// parameters are among them: what they chose is in the cell. Parameters are the same by construction:
// jobs are looked up by them. What can differ is the data, the version and a split that all seeds
// share, where results were looked up by name; the code, where a method changed and its version did
// not; and what computed. The program's own kernels give the same bits on every processor of an
// architecture, but another BLAS does not, nor do the floating-point instructions that another GOAMD64
// or another Go gives the rest, nor another gonum: see program. What was not recorded of a run counts
// as any.
func (p *Plan) Mixed(c *Cell) string {
	type field struct {
		name, remedy string
		of           func(*Task) string
	}
	fields := []field{
		{"data", oneSet, func(t *Task) string { return t.Record.DatasetHash }},
		{"split", oneSplit, sharedSplit},
		{"version", newCode, func(t *Task) string { return versions(t.Record.Identity) }},
		{"code of the method", newCode, func(t *Task) string { return t.Result.MethodCode }},
		{"code of the pretext", newCode, func(t *Task) string { return t.Result.PretextCode }},
	}
	for _, x := range program {
		fields = append(fields, field{x.name, oneProgram, func(t *Task) string { return x.of(p.envs[t.Result.EnvID]) }})
	}
	tasks := c.results()
	for _, field := range fields {
		var first *Task
		was := ""
		for _, t := range tasks {
			switch is := field.of(t); {
			case is == "" || is == was:
			case first == nil:
				first, was = t, is
			default:
				return fmt.Sprintf("its runs differ in the %s: %s with %s, %s with %s; %s",
					field.name, was, first.seed(), is, t.seed(), field.remedy)
			}
		}
	}
	return p.apart[c]
}

// sharedSplit is the hash of a task's split where all seeds have the same, else empty.
func sharedSplit(t *Task) string {
	if !oneForAll(t.Job.Split) {
		return ""
	}
	return t.Record.SplitHash
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

// splitOf is the hash of the split in the identity of a job, which is canonical JSON and begins with
// those of the data and the split: reading all of it takes longer.
func splitOf(identity []byte) string {
	_, rest, _ := bytes.Cut(identity, []byte(`"split":"`))
	hash, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(hash)
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
