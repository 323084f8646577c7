package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/version"
	"strings"

	"ssdl/harness/spec"
)

// Property is what the runs behind a cell must have in common.
type Property string

// The properties. The runs of a column must agree in PropertyData, and in PropertySplit under each seed.
const (
	PropertyData         Property = "data"
	PropertySplit        Property = "split"
	PropertyVersion      Property = "version"
	PropertyMethodCode   Property = "code of the method"
	PropertyPretextCode  Property = "code of the pretext"
	PropertyArchitecture Property = "architecture"
	PropertyGOAMD64      Property = "GOAMD64"
	PropertyBLAS         Property = "BLAS"
	PropertyGo           Property = "version of Go"
	PropertyGonum        Property = "version of gonum"
)

// Origin says what has the value that a run should have.
type Origin string

// The origins. On a tie as many cells of the column have the value as another, and Want is empty.
const (
	OtherRun  Origin = "other run"
	LocalData Origin = "local data"
	MostCells Origin = "most cells"
	Tie       Origin = "tie"
)

// Inconsistency is a property in which a run behind a cell differs from what it is averaged with.
type Inconsistency struct {
	Kind Property `json:"kind"`
	// Is is the value of the run at Seed. Want is what it should be, empty if unknown; WantFrom has it.
	Is       string `json:"is"`
	Want     string `json:"want,omitempty"`
	WantFrom Origin `json:"want_from"`
	// Seed is that of the run with the value Is, which was made for tuning if Tuning. WantSeed and
	// WantTuning are those of the other run where WantFrom is OtherRun.
	Seed       uint64 `json:"seed"`
	Tuning     bool   `json:"tuning,omitempty"`
	WantSeed   uint64 `json:"want_seed,omitempty"`
	WantTuning bool   `json:"want_tuning,omitempty"`
}

// Mixed lists the properties in which the runs behind a cell differ though they must not, or differ from
// the rest of their column; nil if they may be averaged. The runs that chose its
// parameters are among them: what they chose is in the cell. Parameters are the same by construction:
// jobs are looked up by them. What can differ is the data, the version and a split that all seeds
// share, where results were looked up by name; the code, where a method changed and its version did
// not; and what computed. The program's own kernels give the same bits on every processor of an
// architecture, but another BLAS does not, nor do the floating-point instructions that another GOAMD64
// or another Go gives the rest, nor another gonum: see program. What was not recorded of a run counts
// as any.
func (p *Plan) Mixed(c *Cell) []Inconsistency {
	type field struct {
		kind Property
		of   func(*Task) string
	}
	fields := []field{
		{PropertyData, func(t *Task) string { return t.Record.DatasetHash }},
		{PropertySplit, sharedSplit},
		{PropertyVersion, func(t *Task) string { return versions(t.Record.Identity) }},
		{PropertyMethodCode, func(t *Task) string { return t.Result.MethodCode }},
		{PropertyPretextCode, func(t *Task) string { return t.Result.PretextCode }},
	}
	for _, x := range program {
		fields = append(fields, field{x.kind, func(t *Task) string { return x.of(p.envs[t.Result.EnvID]) }})
	}
	var out []Inconsistency
	tasks := c.results()
	for _, field := range fields {
		if x, ok := firstDifference(tasks, field.of); ok {
			x.Kind = field.kind
			out = append(out, x)
		}
	}
	if x, ok := p.apart[c]; ok && len(out) == 0 {
		out = append(out, x)
	}
	return out
}

// firstDifference finds the first run whose value is not that of the runs before it.
func firstDifference(tasks []*Task, of func(*Task) string) (Inconsistency, bool) {
	var first *Task
	want := ""
	for _, t := range tasks {
		switch is := of(t); {
		case is == "" || is == want:
		case first == nil:
			first, want = t, is
		default:
			return Inconsistency{
				Is: is, Want: want, WantFrom: OtherRun,
				Seed: t.Job.Seed, Tuning: t.Job.Eval == spec.EvalVal, WantSeed: first.Job.Seed, WantTuning: first.Job.Eval == spec.EvalVal,
			}, true
		}
	}
	return Inconsistency{}, false
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
	kind Property
	of   func(env map[string]string) string
}{
	{PropertyArchitecture, func(env map[string]string) string { return env["arch"] }},
	{PropertyGOAMD64, func(env map[string]string) string { return env["GOAMD64"] }},
	{PropertyBLAS, func(env map[string]string) string { return kernels(env["blas"]) }},
	{PropertyGo, func(env map[string]string) string { return version.Lang(env["go"]) }},
	{PropertyGonum, func(env map[string]string) string { return gonum(env["modules"]) }},
}

// another says in what the program that computes now is not the one that computed a result; empty
// if in nothing that decides about its bits.
func another(was, is map[string]string) string {
	for _, x := range program {
		if a, b := x.of(was), x.of(is); a != "" && b != "" && a != b {
			return fmt.Sprintf("computed with another %s: %s, now %s", x.kind, a, b)
		}
	}
	return ""
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
