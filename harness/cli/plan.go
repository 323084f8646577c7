package cli

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"ssdl/harness/run"
)

type planCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	All  bool   `help:"List cached jobs as well."`
	againFlags
}

// planned is a job as plan prints it.
type planned struct {
	State   run.State `json:"state"`
	Reason  string    `json:"reason,omitempty"`
	Row     string    `json:"row"`
	Dataset string    `json:"dataset"`
	Seed    *uint64   `json:"seed,omitempty"` // nil where a line is about no seed: 0 is one
	Purpose string    `json:"purpose"`        // "report", or "tune" with the candidate
	Setting string    `json:"setting,omitempty"`
	Key     string    `json:"key,omitempty"`
}

func (c *planCmd) Run(e *env) error {
	p, err := e.plan(c.Spec)
	if err != nil {
		return err
	}
	var list []planned
	for _, cell := range p.Cells {
		list = append(list, jobsOf(p, cell)...)
	}
	if e.common.Format == "json" {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tROW\tDATA\tSEED\tFOR\tSETTING")
	for _, j := range list {
		if j.State == run.Cached && !c.All {
			continue
		}
		state := string(j.State)
		if j.Reason != "" {
			state += "(" + j.Reason + ")"
		}
		seed := ""
		if j.Seed != nil {
			seed = fmt.Sprint(*j.Seed)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", state, j.Row, j.Dataset, seed, j.Purpose, j.Setting)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "\n%s: %s\n", p.Spec.Name, counts(p))
	s, err := p.Sharing(e.common.library(), c.again())
	if err != nil {
		return err
	}
	if s.Runs > 0 {
		fmt.Fprintf(e.stdout, "%d runs to do now need %d stages, which %d computations give\n", s.Runs, s.Asked, s.Built)
	}
	return nil
}

func jobsOf(p *run.Plan, c *run.Cell) []planned {
	base := planned{Row: c.Row.ID, Dataset: c.Dataset, Setting: c.Setting.String(), Purpose: "report"}
	switch {
	case c.NoData():
		base.State, base.Reason = run.NoData, c.Err.Error()
		return []planned{base}
	case c.Excluded != "":
		base.State, base.Reason = run.Excluded, c.Cell.Excluded
		return []planned{base}
	}
	var out []planned
	add := func(tasks []run.Task, purpose, setting string) {
		for _, t := range tasks {
			j := base
			j.State, j.Reason, j.Seed, j.Key = t.State, t.Reason, &t.Job.Seed, t.Record.Key
			j.Purpose, j.Setting = purpose, setting
			out = append(out, j)
		}
	}
	for i, tasks := range c.Tuning {
		add(tasks, "tune", c.Candidates[i].Tuned.String())
	}
	switch {
	case c.Err != nil:
		base.State, base.Reason = run.Failed, c.Err.Error()
		return append(out, base)
	case c.Final != nil:
		add(c.Final, "report", join(c.Setting.String(), c.Candidates[c.Chosen].Tuned.String()))
		return out
	}
	for _, seed := range p.Spec.Seeds {
		j := base
		j.State, j.Reason, j.Seed = run.Pending, "waits for its tuning", &seed
		out = append(out, j)
	}
	return out
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// counts writes "12 new, 40 cached" in a fixed order.
func counts(p *run.Plan) string {
	n, s := p.Counts(), ""
	for _, state := range []run.State{run.New, run.Changed, run.Retry, run.Failed, run.Stale, run.Pending, run.Cached, run.Excluded, run.NoData} {
		if n[state] > 0 {
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("%d %s", n[state], state)
		}
	}
	if s == "" {
		return "no jobs"
	}
	return s
}
