package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ssdl/harness/results"
	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

// OfExplanations is the document of what is behind cells. It has no CSV.
func OfExplanations(list []results.Explanation) Document {
	d := Document{Value: list}
	for _, e := range list {
		d.Grids = append(d.Grids, explanationGrids(e)...)
	}
	return d
}

func explanationGrids(e results.Explanation) []Grid {
	about := facts(fmt.Sprintf("%s (%s) on %s, %s", e.Title, e.Row, e.Dataset, e.Spec))
	say := func(what, text string) {
		if text != "" {
			about.add(items(what, text)...)
		}
	}
	cell := e.Cell
	state := string(cell.State)
	if cell.State == results.OK {
		shown := strings.TrimSpace(withDeviation(shownValue(e.Metric, cell)) + " " + e.Metric.Unit)
		state = fmt.Sprintf("%s %s, %d/%d seeds", e.Metric.Title, shown, cell.N, cell.RequestedSeeds)
	}
	say("result", state+signs(cell))
	say("remark", Remarks(cell.Remarks, cell.State))
	if cell.State == results.NoData || cell.State == results.Excluded {
		return []Grid{about}
	}
	say("protocol", ProtocolText(e.Protocol))
	say("data", e.DataHash)
	say("parameters", SelectionText(e))
	for _, part := range []struct {
		what string
		*results.Part
	}{{"pretext", e.Pretext}, {"method", e.Method}} {
		if part.Part != nil {
			say(part.what, part.Name+": "+params(part.what, part.Params, e.Notations()))
		}
	}
	say("program", strings.Join(e.Program, " "))
	say("atoms", DictionariesText(e.Runs))
	say("commit", countedText(e.Runs, func(r results.Run) string { return Short(r.Commit) }))
	say("processor", countedText(e.Runs, func(r results.Run) string { return r.Processor }))
	say(NextCommand(e))
	grids := []Grid{about}
	if len(e.Candidates) > 0 {
		grids = append(grids, candidateGrid(e))
	}
	if len(e.Runs) > 0 {
		grids = append(grids, runGrid(e))
	}
	return grids
}

// Short is the beginning of a hash, as shown where it need not be complete.
func Short(hash string) string { return hash[:min(12, len(hash))] }

// countedText lists the values of a property of runs, with the number of runs if there are several values.
func countedText(runs []results.Run, of func(results.Run) string) string {
	counts := map[string]int{}
	var values []string
	for _, r := range runs {
		v := of(r)
		if r.UID != "" && counts[v] == 0 {
			values = append(values, v)
		}
		counts[v]++
	}
	if len(values) == 1 {
		return values[0]
	}
	for i, v := range values {
		values[i] = fmt.Sprintf("%s (%s)", cmp.Or(v, "not recorded"), Count(counts[v], "run", "runs"))
	}
	return strings.Join(values, ", ")
}

// NextCommand is what a reader can do about a cell: try failed runs again, make missing ones or, if it is complete,
// repeat it in another store.
func NextCommand(e results.Explanation) (what, command string) {
	command = Command(e.Command...)
	failed := slices.ContainsFunc(e.Runs, func(r results.Run) bool { return r.Failure != nil })
	missing := slices.ContainsFunc(e.Runs, func(r results.Run) bool { return r.Value == nil })
	tuning := len(e.Runs) == 0
	switch {
	case failed, tuning && e.Cell.State == results.Failed:
		return "try again", command + " --retry failed"
	case missing, tuning:
		return "continue", command
	}
	if !slices.Contains(e.Command, "-s") { // the spec may have other seeds by then
		command += " -s " + spec.FormatSeeds(e.Protocol.Seeds)
	}
	return "repeat", command + " --results again"
}

// SelectionText says how the parameters of a cell were chosen, and among how many candidates.
func SelectionText(e results.Explanation) string {
	if n := len(e.Candidates); n > 0 {
		return fmt.Sprintf("%s; %d candidates, seeds %s.", howChosen(e.Cell.Selection), n, spec.FormatSeeds(e.TuneSeeds))
	}
	return howChosen(e.Cell.Selection) + "."
}

// params formats the parameters of a method or a pretext in the order of their names, in the notations of the
// candidates.
func params(what string, values catalog.Values, n results.Notations) string {
	var parts []string
	for _, p := range results.ShownParams(values) {
		parts = append(parts, p.Name+"="+n[ParamName(what, p.Name)].Format(p.Value))
	}
	return strings.Join(parts, " ")
}

// ParamName is the name of a parameter of a method or a pretext in a setting.
func ParamName(what, name string) string {
	if what == "pretext" {
		return "pretext." + name
	}
	return name
}

func candidateGrid(e results.Explanation) Grid {
	g := Grid{Head: []string{"Candidate", "Mean " + e.Metric.Name, ""}, Align: "lrl", Groups: [][][]Item{nil}}
	finished, failed, requested, notations := 0, 0, 0, e.Notations()
	for _, c := range e.Candidates {
		score, chosen := "", ""
		switch {
		case c.Failed > 0:
			score = fmt.Sprintf("%d of %d runs failed", c.Failed, c.Requested)
		case c.Score == nil:
			score = fmt.Sprintf("%d of %d runs", c.Finished, c.Requested)
		default:
			score = fmt.Sprintf("%.4f", *c.Score)
		}
		if c.Chosen {
			chosen = "chosen"
		}
		g.add(items(c.Setting.In(notations), score, chosen)...)
		finished, failed, requested = finished+c.Finished, failed+c.Failed, requested+c.Requested
	}
	if finished < requested {
		g.note(fmt.Sprintf("%d of %d tuning runs are finished, %d failed.", finished, requested, failed))
	}
	return g
}

func runGrid(e results.Explanation) Grid {
	g := Grid{Head: []string{"Seed", e.Metric.Name, "Seconds", "Run"}, Align: "rrrl", Groups: [][][]Item{nil}}
	for _, r := range e.Runs {
		seed := fmt.Sprint(r.Seed)
		switch {
		case r.Value != nil:
			g.add(items(seed, fmt.Sprintf("%.4f", *r.Value), fmt.Sprintf("%.1f", r.Wall), r.UID)...)
		case r.Failure != nil:
			g.add(items(seed, "", "", "failed: "+failure(*r.Failure))...)
		default:
			g.add(items(seed, "", "", strings.TrimSpace(string(r.State)+" "+r.Reason))...)
		}
	}
	return g
}

// Command joins words, quoted for a shell.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuote(w)
	}
	return strings.Join(quoted, " ")
}

func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./+,:=@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
