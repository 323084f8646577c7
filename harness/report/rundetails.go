package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ssdl/harness/results"
	"ssdl/harness/sanitize"
)

// OfRun is the document of all that is recorded of a run. It has no CSV.
func OfRun(d results.RunDetails) Document {
	grids := []Grid{runFacts(d)}
	if d.Confusion != nil {
		grids = append(grids, classGrid(d))
	}
	return Document{Grids: grids, Value: d}
}

func runFacts(d results.RunDetails) Grid {
	g := facts("")
	say := func(is bool, what, format string, args ...any) {
		if is {
			g.add(items(what, fmt.Sprintf(format, args...))...)
		}
	}
	say(true, "run", "%s", d.UID)
	say(true, "status", "%s", d.Status)
	first, _, _ := strings.Cut(d.Error, "\n")
	say(first != "", "error", "%s", first)
	switch {
	case d.Current:
		say(true, "current", "yes")
	case d.SupersededBy != "":
		say(true, "current", "no, superseded by %s", d.SupersededBy)
	default:
		say(true, "current", "no")
	}
	if o := d.Origin; o != nil {
		say(true, "imported", "%s from %s (SHA-256 %s, %s)", o.Imported.Format(time.RFC3339), o.Name, o.SHA256, signatureText(o.Signer))
	}
	for _, r := range d.Repetitions {
		outcome := "identical"
		if r.Differs != "" {
			outcome = "differs in " + r.Differs
		}
		say(true, "repeated", "%s with %s: %s", r.Started.Format(time.RFC3339), Count(r.Workers, "worker", "workers"), outcome)
	}
	say(d.Reason != "", "run again", "%s", d.Reason)
	for _, h := range Hashes(d) {
		say(true, h.Of, "%s", h.Value)
	}
	say(d.Commit() == "", "commit", "unknown: the program was neither built nor run in a git checkout of its sources")
	say(d.Migrated, "record", "hash computed when the file was converted from an older schema")
	say(true, "identity", "%s", d.Identity)
	drawn := ""
	if d.Split.Kind == "class" || d.Split.Seed != 0 && d.Split.Seed == d.Seed { // a split from a file has no seed of its own
		drawn = fmt.Sprintf(", seed %d", d.Split.Seed)
	}
	say(true, "data", "%s, %s split%s: %d training samples (%d labelled), %d test samples", d.Dataset, d.Split.Kind, drawn, d.Split.Train, d.Split.Labelled, d.Split.Test)
	say(true, "started", "%s", d.Started.Format(time.RFC3339))
	say(true, "took", "%.3f s, %.3f s of CPU time", d.Wall, d.CPU)
	say(d.Peak > 0, "peak memory", "%s, of the whole program during the run", MemoryText(d.Peak))
	for _, f := range Machine(d) {
		say(true, f.Name, "%s", f.Value)
	}
	what := "modules"
	for m := range strings.SplitSeq(d.Environment["modules"], "; ") {
		say(m != "", what, "%s", m)
		what = ""
	}
	for _, name := range slices.Sorted(maps.Keys(d.Metrics)) {
		say(true, name, "%v", d.Metrics[name])
	}
	say(d.Atoms > 0, "atoms", "%s", AtomsText(d.Dictionary))
	say(d.Degenerate, "remark", "%s", DegenerateText(1, 1))
	for _, t := range d.Traces {
		n := len(t.Values)
		say(true, "trace", "%s: %s, %.6g at %d to %.6g", t.Name, Count(n, "value", "values"), t.Values[0], t.Iterations[0], t.Values[n-1])
	}
	if p := d.Program; p != nil {
		say(true, "program", "%s; confined: %s", p.State, p.Confined)
		for _, printed := range []struct{ what, text string }{{"stdout", p.Stdout}, {"stderr", p.Stderr}} {
			what := printed.what
			for line := range strings.Lines(printed.text) {
				say(true, what, "%s", sanitize.Line(line))
				what = ""
			}
		}
	}
	return g
}

// Hash is a hash of a run, named by what it is of.
type Hash struct{ Of, Value string }

// Hashes lists the hashes of a run: of its data, its code, its program, its record and its predictions.
func Hashes(d results.RunDetails) []Hash {
	return slices.DeleteFunc([]Hash{
		{"data hash", d.DataHash},
		{"split hash", d.Split.Hash},
		{"method code", d.Code.Method},
		{"pretext code", d.Code.Pretext},
		{"protocol code", d.Code.Protocol},
		{"commit", d.Commit()},
		{"executable hash", d.Environment["executable"]},
		{"job hash", d.Key},
		{"record hash", d.RecordHash},
		{"predictions hash", d.Predictions},
	}, func(h Hash) bool { return h.Value == "" })
}

// Fact is a property of a run's machine or program.
type Fact struct{ Name, Value string }

// Machine lists the properties of the machine and the program of a run, except the modules and those that Hashes
// lists.
func Machine(d results.RunDetails) []Fact {
	var out []Fact
	for _, name := range slices.Sorted(maps.Keys(d.Environment)) {
		value := d.Environment[name]
		switch name {
		case "modules", "executable", "commit", "vcs.revision":
			continue
		case "memory":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				value = MemoryText(n)
			}
		}
		out = append(out, Fact{name, value})
	}
	return out
}

// MemoryText is a size of memory in GiB.
func MemoryText(n int64) string { return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30)) }

// classGrid lists, for each class, how many samples were right and what the others were mistaken for.
func classGrid(d results.RunDetails) Grid {
	g := Grid{Head: []string{"Class", "Right", "Of", "Mistaken for"}, Align: "lrrl", Groups: [][][]Item{nil}}
	for _, c := range d.ClassResults() {
		g.add(items(c.Class, fmt.Sprint(c.Right), fmt.Sprint(c.Of), MistakesText(c))...)
	}
	return g
}

// MistakesText names the classes that samples of a class were mistaken for, the most frequent first.
func MistakesText(c results.ClassResult) string {
	const shown = 4
	var out []string
	for _, m := range c.Mistaken[:min(shown, len(c.Mistaken))] {
		out = append(out, fmt.Sprintf("%s %d", m.Class, m.Samples))
	}
	if n := len(c.Mistaken) - shown; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}
