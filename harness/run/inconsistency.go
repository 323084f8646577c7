package run

import (
	"fmt"
	"go/version"
	"strings"

	"ssdl/harness/job"
)

// Kind is a property that the runs behind a cell must have in common.
type Kind string

// The kinds of inconsistency. Data, split, parameters and versions cannot differ: runs are
// found by them.
const (
	MethodCode   Kind = "method code"
	PretextCode  Kind = "pretext code"
	Architecture Kind = "architecture"
	GOAMD64      Kind = "GOAMD64"
	BLAS         Kind = "BLAS"
	GoVersion    Kind = "Go version"
	Gonum        Kind = "gonum"
	SourceState  Kind = "sources"
)

// Inconsistency is a property in which the runs behind a cell differ.
type Inconsistency struct {
	Kind Kind `json:"kind"`
	// Is and Want are the values of two of its runs, Want that of the first.
	Is   string `json:"is"`
	Want string `json:"want"`
	// Seed and Tuning, WantSeed and WantTuning name these runs.
	Seed       uint64 `json:"seed"`
	Tuning     bool   `json:"tuning,omitempty"`
	WantSeed   uint64 `json:"want_seed"`
	WantTuning bool   `json:"want_tuning,omitempty"`
}

// Inconsistencies lists the properties in which the runs behind a cell differ though they must
// not; without any they may be averaged. The runs that chose its parameters are among them.
// The program's own kernels give the same bits on every processor of an architecture. Another
// BLAS does not, nor does another GOAMD64, Go or gonum. What a run did not record is not held
// against it.
func (p *Plan) Inconsistencies(c *Cell) []Inconsistency {
	var out []Inconsistency
	tasks := c.results()
	add := func(kind Kind, of func(*Task) string) {
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
	add(MethodCode, func(t *Task) string { return t.Result.MethodCode })
	add(PretextCode, func(t *Task) string { return t.Result.PretextCode })
	for _, b := range build {
		add(b.kind, func(t *Task) string { return b.of(p.envs[t.Result.EnvID]) })
	}
	return out
}

// results are the tasks behind a cell that have one, those of its tuning included.
func (c *Cell) results() []*Task {
	var out []*Task
	for _, t := range append(flat([][]Task{c.Final}), flat(c.Tuning)...) {
		if t.Result != nil {
			out = append(out, t)
		}
	}
	return out
}

// build lists what of an environment decides about the bits of a result, beside the code.
var build = []struct {
	kind Kind
	of   func(env map[string]string) string
}{
	{Architecture, func(env map[string]string) string { return env["arch"] }},
	{GOAMD64, func(env map[string]string) string { return env["GOAMD64"] }},
	{BLAS, func(env map[string]string) string { return kernels(env["blas"]) }},
	{GoVersion, func(env map[string]string) string { return version.Lang(env["go"]) }},
	{Gonum, func(env map[string]string) string { return moduleVersion(env["modules"], "gonum.org/v1/gonum") }},
	{SourceState, func(env map[string]string) string {
		if s := SourcesOf(env); s != Unknown {
			return string(s)
		}
		return ""
	}},
}

// buildDifference says in what the build that computes now differs from the one that computed a
// result, as far as it decides about bits; empty if in nothing.
func buildDifference(was, is map[string]string) string {
	for _, b := range build {
		if then, now := b.of(was), b.of(is); then != "" && now != "" && then != now {
			return fmt.Sprintf("%s was %s, is %s", b.kind, then, now)
		}
	}
	return ""
}

// moduleVersion is the version of a module in a list as Environment writes it, with what stands in for it.
// A sum that one list has and another lacks is no difference.
func moduleVersion(modules, path string) string {
	for m := range strings.SplitSeq(modules, "; ") {
		f := strings.Fields(m)
		switch {
		case len(f) < 2 || f[0] != path:
		case len(f) > 2 && strings.HasPrefix(f[2], "h1:"):
			return f[1]
		default:
			return strings.Join(f[1:], " ")
		}
	}
	return ""
}

// kernels is the family of a BLAS: all of the program's own give the same bits.
func kernels(blas string) string {
	if strings.HasPrefix(blas, "go-") {
		return "go"
	}
	return blas
}
