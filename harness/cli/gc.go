package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"text/tabwriter"

	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

type gcCmd struct {
	resultsFlag
	Spec   []string `sep:"," placeholder:"SPEC" help:"Delete instead the runs of settings that these specs no longer have: ${specs}, or paths of YAML files."`
	DryRun bool     `xor:"do" help:"Only list what would be deleted."`
	Undo   bool     `xor:"do" help:"Bring back what the last gc deleted."`
	All    bool     `xor:"do" help:"Delete all runs, for good. Refused while a process runs a job."`
}

// Help is printed below the flags.
func (gcCmd) Help() string {
	return "Deletes superseded runs: those that a later run replaced (`ssdl run --rerun stale`), and failed attempts at jobs that have a result now. Current runs and failures of jobs without a result stay.\n\n" +
		"--spec deletes the runs, also current ones, of the methods of these specs under parameters that none of them has. The runs of other built-in specs stay, and those of the specs in the folder specs/ of the results. Name your own specs as well, or their runs are deleted too. --dry-run lists the runs.\n\n" +
		"Deleted runs are kept in runs.db.pruned until the next gc: --undo brings them back, once."
}

func (c *gcCmd) Run(e *env) (err error) {
	switch {
	case c.Undo && len(c.Spec) > 0:
		return fail(exitUsage, "--undo brings back everything that the last gc deleted: leave out --spec")
	case c.All && len(c.Spec) > 0:
		return fail(exitUsage, "--all deletes the runs of every spec: leave out --spec")
	case c.Undo:
		return c.undo(e)
	case c.All:
		return store.Remove(c.dbPath())
	}
	st, err := e.readStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer closeStore(st, &err)
	remove, list, none := st.Prune, st.Superseded, "deleted: none is superseded"
	if len(c.Spec) > 0 {
		keys, err := c.droppedJobs(e, st)
		if err != nil {
			return err
		}
		none = "deleted: a spec has every setting"
		remove = func(ctx context.Context) ([]store.SupersededRun, error) { return st.Forget(ctx, keys) }
		list = func(ctx context.Context) ([]store.SupersededRun, error) { return st.RunsOf(ctx, keys) }
	}
	verb := "deleted; `ssdl gc --undo` brings them back"
	if c.DryRun {
		remove, verb = list, "would be deleted"
	}
	superseded, err := remove(e.ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	for _, r := range superseded {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\tseed %d\t%s\t%s\n", r.UID, r.Name, r.Dataset, r.Eval, r.Seed, r.Status, r.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(superseded) == 0 {
		verb = none // with or without --dry-run
	}
	fmt.Fprintf(e.stdout, "%s %s\n", report.Count(len(superseded), "run", "runs"), verb)
	return nil
}

// droppedJobs lists the jobs of the methods of --spec under settings that no spec has any more.
func (c *gcCmd) droppedJobs(e *env, st *store.Store) ([]string, error) {
	mine, err := filepath.Glob(filepath.Join(c.Results, "specs", "*.yaml"))
	if err != nil {
		return nil, err
	}
	load := func(names []string) (list []*spec.Spec, err error) {
		for _, name := range names {
			s, err := spec.Load(name)
			if err != nil {
				return nil, &exitError{exitUsage, err}
			}
			list = append(list, s)
		}
		return list, nil
	}
	specs, err := load(c.Spec)
	if err != nil {
		return nil, err
	}
	others, err := load(append(spec.Names(), mine...))
	if err != nil {
		return nil, err
	}
	return results.Forgotten(e.ctx, st, specs, others)
}

func (c *gcCmd) undo(e *env) (err error) {
	if c.missing() {
		return fail(exitNoData, "%s not found: there is nothing to bring back. --results names its folder", c.dbPath())
	}
	st, err := e.openStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer closeStore(st, &err)
	n, err := st.Undo(e.ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitNoData, err}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s brought back\n", report.Count(n, "run", "runs"))
	return nil
}
