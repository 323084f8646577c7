package run

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Mixed says in which field the reported runs of a cell differ though they must not; it is empty
// if they may be averaged. Parameters are the same by construction: jobs are looked up by them.
// What can differ is the data and the version, where results were looked up by name; the code,
// where a method changed and its version did not; and what computed: the program's own kernels give
// the same bits on every processor of an architecture, another BLAS does not. A run whose code was
// not recorded counts as of any code.
func (p *Plan) Mixed(c *Cell) string {
	for _, field := range []struct {
		name string
		of   func(*Task) string
	}{
		{"data", func(t *Task) string { return t.Record.DatasetHash }},
		{"version", func(t *Task) string { return versions(t.Record.Identity) }},
		{"code of the method", func(t *Task) string { return t.Result.MethodCode }},
		{"code of the pretext", func(t *Task) string { return t.Result.PretextCode }},
		{"architecture", func(t *Task) string { return p.envs[t.Result.EnvID]["arch"] }},
		{"BLAS", func(t *Task) string { return kernels(p.envs[t.Result.EnvID]["blas"]) }},
	} {
		var first *Task
		for i := range c.Final {
			t := &c.Final[i]
			if t.Result == nil || field.of(t) == "" {
				continue
			}
			if first == nil {
				first = t
			}
			if a, b := field.of(first), field.of(t); a != b {
				return fmt.Sprintf("its runs differ in the %s: %s with seed %d, %s with seed %d",
					field.name, a, first.Job.Seed, b, t.Job.Seed)
			}
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
