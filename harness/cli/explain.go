package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

type explainCmd struct {
	Spec    string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	Row     string `arg:"" help:"Row of the table, e.g. ssdl."`
	Dataset string `arg:"" optional:"" help:"Data set (default: all of the spec)."`
}

func (c *explainCmd) Run(e *env) error {
	if c.Dataset != "" && len(e.common.Datasets) > 0 {
		return fail(exitUsage, "%s and -d name data sets: give one of them", c.Dataset)
	}
	e.common.Methods = []string{c.Row}
	if c.Dataset != "" {
		e.common.Datasets = []string{c.Dataset}
	}
	p, err := e.resolve(c.Spec)
	if err != nil {
		return err
	}
	for i, cell := range p.Cells {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		explain(e, p, cell, c.Spec)
	}
	return nil
}

// explain describes a cell of the spec that was asked for as name.
func explain(e *env, p *run.Plan, c *run.Cell, name string) {
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	defer w.Flush()
	again := fmt.Sprintf("ssdl run %s -m %s -d %s", word(name), word(c.Row.ID), word(c.Dataset))
	if e.common.DropZero {
		again += " --drop-zero"
	}
	fmt.Fprintf(w, "%s on %s\n", join(c.Row.ID, c.Setting.String()), c.Dataset)
	switch {
	case c.NoData():
		fmt.Fprintf(w, "  cannot be run: %v\n", c.Err)
		return
	case c.Excluded != "":
		fmt.Fprintf(w, "  left out: %s\n", c.Cell.Excluded)
		return
	}
	if len(c.Candidates) > 1 {
		on := "held-out labelled training samples"
		if c.Select == spec.SelectTest {
			on = "the TEST part (†: an oracle)"
		}
		fmt.Fprintf(w, "  chosen among %d settings by the mean %s on %s, seeds %s:\n", len(c.Candidates), c.Metric, on, spec.FormatSeeds(c.TuneSeeds))
		for i, cand := range c.Candidates {
			mark := ""
			if i == c.Chosen {
				mark = "  <- chosen"
			}
			fmt.Fprintf(w, "    %s\t%s%s\n", cand.Tuned, tuned(c, i), mark)
		}
	}
	switch {
	case c.Err != nil:
		fmt.Fprintf(w, "  %v; `%s --retry failed` tries again\n", c.Err, again)
		return
	case c.Chosen < 0:
		there, failed, all := tuningRuns(c.Tuning...)
		also := ""
		if failed > 0 {
			also = fmt.Sprintf(", %d failed", failed)
		}
		fmt.Fprintf(w, "  not chosen yet: %d of %d tuning runs are there%s; `%s` makes the others\n", there, all, also, again)
		return
	}
	switch selectionOf(c) {
	case spec.SelectPaper:
		fmt.Fprintln(w, "  values that the paper prints, not tuned")
	case spec.SelectFixed:
		fmt.Fprintln(w, "  values that the spec gives, not tuned and not all of them the paper's")
	}
	cand := c.Candidates[c.Chosen]
	if cand.PretextParams != nil {
		fmt.Fprintf(w, "  pretext %s: %s\n", c.Row.Pretext, settings(cand.PretextParams))
	}
	if cand.Params != nil {
		fmt.Fprintf(w, "  method %s: %s\n", c.Row.Method, settings(cand.Params))
	}
	for _, t := range c.Final {
		v, ok := t.Value()
		if !ok {
			fmt.Fprintf(w, "  seed %d\t%s %s\n", t.Job.Seed, t.State, t.Reason)
			continue
		}
		fmt.Fprintf(w, "  seed %d\t%s %.4f\trun %s\t%.1f s\n", t.Job.Seed, c.Metric, v, t.Result.UID, t.Result.Wall.Seconds())
	}
	if why := p.Mixed(c); why != "" {
		fmt.Fprintf(w, "  mixed, so no mean: %s\n", why)
	}
	fmt.Fprintf(w, "  repeat it: %s -s %s --results OTHER\n", again, spec.FormatSeeds(p.Spec.Seeds))
}

// tuned is the score of a candidate, or why it has none.
func tuned(c *run.Cell, candidate int) string {
	switch there, failed, all := tuningRuns(c.Tuning[candidate]); {
	case failed > 0:
		return fmt.Sprintf("%d of %d runs failed", failed, all)
	case there < all:
		return fmt.Sprintf("%d of %d runs", there, all)
	}
	return fmt.Sprintf("%.4f", c.Scores[candidate])
}

// tuningRuns counts the runs of candidates.
func tuningRuns(candidates ...[]run.Task) (there, failed, all int) {
	for _, tasks := range candidates {
		for _, t := range tasks {
			all++
			switch {
			case t.Result != nil:
				there++
			case t.State == run.Failed:
				failed++
			}
		}
	}
	return there, failed, all
}

// word writes s so that a shell reads it as one word.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./+,:=@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func settings(v catalog.Values) string {
	parts := make([]string, 0, len(v))
	for name, x := range v {
		parts = append(parts, name+"="+spec.FormatValue(x))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
